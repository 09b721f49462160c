"""Exit codes that all commands share, and the error that ends a command."""

from __future__ import annotations

import sys

OK = 0
FAILED = 1
"""The command failed."""
USAGE_ERROR = 2
"""The arguments were wrong; nothing was done."""
INTERRUPTED = 130
"""Ctrl-C: 128 + SIGINT, as in shells."""
BROKEN_PIPE = 141
"""The reader of the output is gone, as with ``head``: 128 + SIGPIPE."""

COMMON: dict[int, str] = {
    OK: "success",
    FAILED: "failure; see stderr",
    USAGE_ERROR: "invalid arguments",
    INTERRUPTED: "interrupted with Ctrl-C",
    BROKEN_PIPE: "output pipe closed",
}


class ReportedError(Exception):
    """Ends a command with two lines on stderr: what went wrong, and what to do next."""

    def __init__(self, what: str, next_step: str, *, code: int = FAILED) -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step
        self.code = code

    def print(self, command: str) -> int:
        """Print it as an error of ``quarterdeck COMMAND``; the exit code."""
        from .text import sanitize

        print(sanitize(f"quarterdeck {command}: {self.what}\n  {self.next_step}"), file=sys.stderr)
        return self.code
