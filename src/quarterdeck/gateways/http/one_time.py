"""Codes for the page: shown once in a URL's fragment, good for one use within a minute."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from quarterdeck.host import Caller

LASTS_S = 60.0


class OneTimeCodes:
    """In memory only: codes do not survive the host."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._codes: dict[str, tuple[Caller, float]] = {}

    def issue(self, caller: Caller) -> str:
        """A new code; whoever redeems it acts as the caller."""
        self._forget()
        code = secrets.token_urlsafe(24)
        self._codes[code] = (caller, self._clock() + LASTS_S)
        return code

    def redeem(self, code: str) -> Caller | None:
        """Works once. Codes have 192 random bits, so a lookup reveals nothing about the others."""
        self._forget()
        found = self._codes.pop(code, None)
        return None if found is None else found[0]

    def _forget(self) -> None:
        now = self._clock()
        self._codes = {code: known for code, known in self._codes.items() if known[1] > now}
