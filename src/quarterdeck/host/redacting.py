"""Keeps secrets out of the log: redacts environments, headers and keys in control lines before they are written.

Only the row is redacted. The process gets the original line, and the caller the original answer.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

from quarterdeck.wire import ControlRequest, ControlResponse, Direction, Message, UpdateEnvironmentVariables

HIDDEN = "[redacted by the host]"
NOTHING_TO_SAY = b'{"type":"keep_alive"}'
"""A line that Claude Code accepts and doesn't answer (2.1.325)."""

_HIDDEN_BELOW = frozenset({"env", "headers", "variables", "args", "callbackUrl"})
"""Every string below these keys is redacted: an MCP server's arguments may contain a secret too."""
_SECRET_KEY = re.compile(r"(token|secret|password|api_?key|authorization|credentials?)$", re.IGNORECASE)
_MAY_HIDE = re.compile(
    rb"env|headers|variables|args|callbackUrl|token|secret|password|key|authorization|credential|://", re.IGNORECASE
)
"""A quick test: most lines contain nothing to redact."""


def row_body(message: Message, direction: Direction, raw: bytes) -> bytes:
    """The line ``raw`` as logged: unchanged, unless it contains something to redact."""
    if not _is_configuration(message, direction) or _MAY_HIDE.search(raw) is None:
        return raw
    line = json.loads(raw)
    hidden = _hidden(line)
    return raw if hidden == line else json.dumps(hidden, ensure_ascii=False, separators=(",", ":")).encode()


def line_again(row: bytes) -> bytes:
    """The line to resend to a process that may have missed it when its host died.

    A redacted line is replaced: without its secrets it would do harm, and its caller is gone anyway.
    """
    return NOTHING_TO_SAY if HIDDEN.encode() in row and row.startswith(_OURS) else row


_OURS = (b'{"type":"control_request"', b'{"type":"update_environment_variables"')


def _is_configuration(message: Message, direction: Direction) -> bool:
    """Whether it is our request or its answer. The CLI's requests are tool calls, which people must see in full."""
    if direction == "out":
        return isinstance(message, ControlResponse)
    if isinstance(message, ControlRequest):
        return bool(message.request.get("subtype") != "mcp_message")
    return isinstance(message, UpdateEnvironmentVariables)


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _hidden_at(key, one) for key, one in value.items()}
    return [_hidden(one) for one in value] if isinstance(value, list) else value


def _hidden_at(key: str, value: Any) -> Any:
    if key in _HIDDEN_BELOW:
        return _without_text(value)
    if isinstance(value, str):
        if _SECRET_KEY.search(key) is not None:
            return HIDDEN
        return _bare_address(value) if key == "url" else value
    return _hidden(value)


def _without_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_text(one) for one in value]
    return HIDDEN if isinstance(value, str) else value


def _bare_address(url: str) -> str:
    """Remove user, password and query, which may contain keys."""
    try:
        parts = urlsplit(url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    except ValueError:
        return HIDDEN
    return url if bare == parts else f"{bare.geturl()}?{HIDDEN}"
