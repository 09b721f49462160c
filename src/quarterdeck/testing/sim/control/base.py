"""How a handler refuses."""

from __future__ import annotations

UNSUPPORTED = "unsupported_request"


class ControlError(Exception):
    """The answer is an error envelope with this text."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code
