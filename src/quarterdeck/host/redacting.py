"""Keeps secrets out of rows: what a control line says of environments, headers and keys is hidden before it is written.

Only the row is changed. The process got the line as it was, and whoever asked gets the answer as it came.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

from quarterdeck.wire import ControlRequest, ControlResponse, Direction, Message, UpdateEnvironmentVariables

HIDDEN = "[redacted by the host]"
NOTHING_TO_SAY = b'{"type":"keep_alive"}'
"""A line that Claude Code accepts without an answer (2.1.325)."""

_HIDDEN_BELOW = frozenset({"env", "headers", "variables", "args", "callbackUrl"})
"""Every text below these keys is hidden: the arguments of an MCP server may hold a key, too."""
_SECRET_KEY = re.compile(r"(token|secret|password|api_?key|authorization|credentials?)$", re.IGNORECASE)
_MAY_HIDE = re.compile(
    rb"env|headers|variables|args|callbackUrl|token|secret|password|key|authorization|credential|://", re.IGNORECASE
)
"""Most lines need no look inside."""


def row_body(message: Message, direction: Direction, raw: bytes) -> bytes:
    """The line ``raw`` as the log keeps it: unchanged, unless it contains something to hide."""
    if not _is_configuration(message, direction) or _MAY_HIDE.search(raw) is None:
        return raw
    line = json.loads(raw)
    hidden = _hidden(line)
    return raw if hidden == line else json.dumps(hidden, ensure_ascii=False, separators=(",", ":")).encode()


def line_again(row: bytes) -> bytes:
    """What a process gets instead of a line that it may have missed when its host died.

    The secret parts are gone, and without them the line would do harm; whoever asked for it is gone, too.
    """
    return NOTHING_TO_SAY if HIDDEN.encode() in row and row.startswith(_OURS) else row


_OURS = (b'{"type":"control_request"', b'{"type":"update_environment_variables"')


def _is_configuration(message: Message, direction: Direction) -> bool:
    """What we ask and what that is answered. What the CLI asks is about tool calls, which people must see in full."""
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
    """Without user, password and query, where keys are passed."""
    try:
        parts = urlsplit(url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    except ValueError:
        return HIDDEN
    return url if bare == parts else f"{bare.geturl()}?{HIDDEN}"
