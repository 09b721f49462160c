"""The error that ends a command: what happened, and what to do next."""

from __future__ import annotations

from .exits import FAILED


class Trouble(Exception):  # noqa: N818  # never seen as an exception by a user, only as its two sentences
    """Ends a command with two lines on stderr. ``next_step`` is what the person should do now."""

    def __init__(self, what: str, next_step: str, *, code: int = FAILED) -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step
        self.code = code

    def lines(self, command: str) -> str:
        return f"{command}: {self.what}\n  {self.next_step}"
