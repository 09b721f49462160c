"""Finds the token of a request.

Only ``Authorization: Bearer`` counts and, for browsers' WebSockets, which cannot set it, the subprotocol
``bearer.TOKEN``. A cookie never does: browsers send cookies unasked, and to other ports of the machine.
"""

from __future__ import annotations

SOCKET_PROTOCOL = "quarterdeck.v1"
SOCKET_BEARER = "bearer."


def bearer_of(headers: dict[bytes, bytes]) -> str | None:
    """The token of ``Authorization: Bearer``."""
    word, _, secret = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return secret.strip() or None if word.lower() == "bearer" else None


def socket_bearer(subprotocols: list[str]) -> str | None:
    """The token among the subprotocols that a browser's WebSocket offers."""
    return next((one[len(SOCKET_BEARER) :] for one in subprotocols if one.startswith(SOCKET_BEARER)), None)
