"""What a request identifies itself with: a token, or a code that the page exchanges for one.

Of tokens only ``Authorization: Bearer`` counts and, for browsers' WebSockets, which cannot set it, the subprotocol
``bearer.TOKEN``. A cookie never does: browsers send cookies unasked, and to other ports of the machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from quarterdeck.host import Caller

SOCKET_PROTOCOL = "quarterdeck.v1"
SOCKET_BEARER = "bearer."
CODE_LASTS_S = 60.0


def bearer_of(headers: dict[bytes, bytes]) -> str | None:
    """The token of ``Authorization: Bearer``."""
    word, _, secret = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return secret.strip() or None if word.lower() == "bearer" else None


def socket_bearer(subprotocols: list[str]) -> str | None:
    """The token among the subprotocols that a browser's WebSocket offers."""
    return next((one[len(SOCKET_BEARER) :] for one in subprotocols if one.startswith(SOCKET_BEARER)), None)


class OneTimeCodes:
    """Codes for the page: shown once in a URL's fragment, good for one use within a minute. They end with the host."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._codes: dict[str, tuple[Caller, float]] = {}

    def issue(self, caller: Caller) -> str:
        """A new code; whoever redeems it acts as the caller."""
        self._forget()
        code = secrets.token_urlsafe(24)
        self._codes[code] = (caller, self._clock() + CODE_LASTS_S)
        return code

    def redeem(self, code: str) -> Caller | None:
        """Works once. Codes have 192 random bits, so a lookup reveals nothing about the others."""
        self._forget()
        found = self._codes.pop(code, None)
        return None if found is None else found[0]

    def _forget(self) -> None:
        now = self._clock()
        self._codes = {code: known for code, known in self._codes.items() if known[1] > now}
