"""Lines that Claude Code didn't write: the transport writes or reads them in its place."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.host.events import Gap


class _Request(msgspec.Struct):
    tool_use_id: str | None = None


class _Asked(msgspec.Struct):
    request: _Request


def tool_call(written: bytes) -> str | None:
    """The tool call that a request concerns, if any."""
    try:
        return msgspec.json.decode(written, type=_Asked).request.tool_use_id
    except msgspec.MsgspecError:
        return None


class _Sent(msgspec.Struct):
    type: str = ""
    uuid: str | None = None


def prompt_of_others(line: str, own: Collection[str]) -> bytes | None:
    """Another client's prompt, in the form that Claude Code uses to report prompts from elsewhere."""
    try:
        head = msgspec.json.decode(line, type=_Sent)
        if head.type != "user" or head.uuid in own:
            return None
        told: dict[str, Any] = msgspec.json.decode(line)
    except msgspec.MsgspecError:
        return None
    return msgspec.json.encode({"origin": {"kind": "human"}, "session_id": "", **told})


def failed_result(prompt_id: str | None, why: str) -> bytes:
    """The result of a turn that never started, with the reason."""
    result = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "errors": [why],
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "total_cost_usd": 0,
        "usage": {},
        "modelUsage": {},
        "permission_denials": [],
        "session_id": "",
        "uuid": new_id(),
        "user_message_uuids": [prompt_id],
    }
    return msgspec.json.encode(result) + b"\n"


def lifecycle(prompt_id: str, state: str) -> bytes:
    """The lifecycle message that Claude Code would send for a prompt queued at the host."""
    told = {"type": "command_lifecycle", "command_uuid": prompt_id, "state": state, "uuid": new_id(), "session_id": ""}
    return msgspec.json.encode(told) + b"\n"


def gap(event: Gap) -> bytes:
    """Marks a missing part of the log: the reason, and where it continues."""
    told = {**msgspec.to_builtins(event), "type": "system", "subtype": "gap", "session_id": "", "uuid": new_id()}
    return msgspec.json.encode(told) + b"\n"
