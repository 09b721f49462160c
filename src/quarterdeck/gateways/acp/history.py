"""A stored conversation, replayed through the timeline like everything else."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from quarterdeck.client.transcripts import SessionNotFound, iter_session_messages
from quarterdeck.timeline import Timeline
from quarterdeck.timeline.events import Event
from quarterdeck.wire import decode, encode


def replay(
    timeline: Timeline, session_id: str, cwd: str | None, *, until: Container[str | None] = ()
) -> Iterator[list[Event]]:
    """The events of a stored session, message by message, up to the first whose UUID is in ``until``."""
    for message in iter_session_messages(session_id, cwd):
        if message.uuid in until:
            return
        line: dict[str, Any] = {
            "type": message.type,
            "message": message.message,
            "parent_tool_use_id": None,
            "session_id": session_id,
            "uuid": message.uuid,
        }
        said_by_person = message.type == "user" and not _is_result(message.message)
        yield timeline.take("in" if said_by_person else "out", decode(encode(line)), at=0.0)


def first_uuid(session_id: str, cwd: str | None) -> str | None:
    """Of the first message of a stored session; None if there is none."""
    try:
        return next((message.uuid for message in iter_session_messages(session_id, cwd)), None)
    except SessionNotFound:
        return None


def _is_result(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(
        isinstance(one, dict) and one.get("type") == "tool_result" for one in content
    )
