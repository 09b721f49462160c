"""``StreamEvent``: the line that holds one stream event, and by far the most frequent one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Message
from ._official import official
from ._shapes import Number
from .events import Event, decode_event


@official("uuid session_id event", "parent_tool_use_id")
class StreamEvent(Message, kw_only=True, tag="stream_event"):
    """One event of the message being streamed."""

    uuid: str | None = None
    session_id: str | None = None
    event: dict[str, Any]
    """As the API wrote it; see ``typed_event``."""
    parent_tool_use_id: str | None = None
    """The tool call of the sub-agent that speaks; None for the main one."""
    api_message_id: str | None = None
    """The ``id`` of the message being streamed."""
    ttft_ms: Number | None = None
    """Time to the first token; only with ``message_start``."""
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None
    resume_reason: str | None = None
    thinking_display: str | None = None
    abandoned_blocks: dict[str, Any] | None = None
    """With ``message_stop``: blocks from ``from_block_index`` on will not be completed (2.1.325)."""
    owed_rows: list[Any] | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            uuid: str | None = None,
            session_id: str | None = None,
            event: dict[str, Any] = ...,
            parent_tool_use_id: str | None = None,
            **ours: Any,
        ) -> None: ...

    @property
    def typed_event(self) -> Event:
        """The event as a struct. Never raises: what cannot be typed is an ``Unknown…``."""
        return decode_event(self.event)
