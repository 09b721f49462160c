"""``HostError``: one error with a fixed list of codes, which every API maps to its own form."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from quarterdeck._errors import QuarterdeckError

Code: TypeAlias = Literal[
    "unauthenticated",
    "forbidden",
    "not_found",
    "invalid",
    "too_large",
    "rate_limited",
    "conflict",
    "already_decided",
    "withdrawn",
    "not_running",
    "busy",
    "cli_missing",
    "cli_failed",
    "folder_not_allowed",
    "option_not_allowed",
    "budget_reached",
    "limited",
    "storage",
    "shutting_down",
    "unavailable",
]
CODES: frozenset[str] = frozenset(get_args(Code))


class HostError(QuarterdeckError):
    """The host refused a request. ``hint`` says what to do; ``details`` has extra fields for programs."""

    def __init__(self, code: Code, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(f"{message} {hint}".strip())
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details
