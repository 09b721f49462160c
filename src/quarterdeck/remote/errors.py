"""Errors of a remote host: those it returns, and ``HostUnreachable``."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.host.errors import HostError

_TOLD = frozenset({"op", "ref", "type", "title", "status", "detail", "code", "hint"})
"""Fields of a problem document that ``HostError`` has itself or doesn't need."""


class HostUnreachable(HostError):  # noqa: N818  # as the other errors are named
    """The host cannot be reached, and all retries have failed."""

    def __init__(self, where: str, why: str, *, hint: str = "", **details: Any) -> None:
        super().__init__("unavailable", f"The host at {where} cannot be reached: {why}.", hint=hint, **details)


def error_of(problem: bytes | bytearray | msgspec.Raw) -> HostError | None:
    """Decode the host's error; None if this isn't a problem document."""
    try:
        told: Any = msgspec.json.decode(problem)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("code"), str):
        return None
    error = HostError(told["code"], str(told.get("detail", told["code"])), hint=str(told.get("hint", "")))
    error.details = {name: value for name, value in told.items() if name not in _TOLD}
    return error
