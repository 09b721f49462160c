"""What is refused, as RFC 9457 ``application/problem+json``. The codes are the host's; this adds a status to each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from quarterdeck.host.errors import Code, HostError

MEDIA_TYPE = "application/problem+json"

STATUS: Mapping[str, int] = MappingProxyType(
    {
        "unauthenticated": 401,
        "forbidden": 403,
        "not_found": 404,
        "invalid": 400,
        "too_large": 413,
        "rate_limited": 429,
        "conflict": 409,
        "already_decided": 409,
        "withdrawn": 410,
        "not_running": 409,
        "busy": 409,
        "cli_missing": 424,
        "cli_failed": 424,
        "folder_not_allowed": 403,
        "option_not_allowed": 403,
        "budget_reached": 409,
        "limited": 429,
        "storage": 507,
        "shutting_down": 503,
        "unavailable": 503,
    }
)
"""Code → status. Claude Code's own failures are 424: the host works, what it depends on does not."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "unauthenticated": "A valid token is required",
        "forbidden": "The token does not allow this",
        "not_found": "Not found",
        "invalid": "The request is invalid",
        "too_large": "The request is too large",
        "rate_limited": "Too many requests",
        "conflict": "Conflicts with the current state",
        "already_decided": "Already decided",
        "withdrawn": "Claude Code withdrew the request",
        "not_running": "The session has no process",
        "busy": "A limit of the host is reached",
        "cli_missing": "Claude Code is not installed",
        "cli_failed": "Claude Code failed or refused",
        "folder_not_allowed": "The folder is not allowed",
        "option_not_allowed": "The option is not allowed",
        "budget_reached": "The budget is used up",
        "limited": "The account's rate limit is reached",
        "storage": "The log cannot be written",
        "shutting_down": "The host is shutting down",
        "unavailable": "The host cannot do this now",
    }
)


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error. Further fields help a program: ``field``, ``decided_by``, ``retry_after_s`` and others."""

    type: str
    title: str
    status: int
    detail: str
    code: Code
    hint: str = ""
    field: str | None = None
    retry_after_s: float | None = None
    decided_by: str | None = None


class HttpError(Exception):  # it is an answer
    """An answer of HTTP itself, with the status that HTTP has for it."""

    def __init__(
        self, status: int, code: Code, message: str, *, headers: Mapping[str, str] | None = None, **details: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        self.error = HostError(code, message, **details)


def problem_of(error: HostError, status: int | None = None) -> dict[str, Any]:
    """The body. Fields for programs are next to the usual ones."""
    shown: dict[str, Any] = {
        "type": f"urn:quarterdeck:error:{error.code}",
        "title": TITLES[error.code],
        "status": STATUS[error.code] if status is None else status,
        "detail": error.message,
        "code": error.code,
    }
    if error.hint:
        shown["hint"] = error.hint
    return {**msgspec.to_builtins(error.details, str_keys=True), **shown}
