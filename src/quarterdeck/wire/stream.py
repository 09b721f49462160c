"""``StreamEvent``: the line that holds one stream event, and by far the most frequent one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import msgspec

from ._base import DOES_NOT_FIT, Message
from ._official import Added, official
from ._shapes import Number

if TYPE_CHECKING:
    from .events import Event

_T = TypeVar("_T")


class _Seldom(Added, Generic[_T]):
    """A field that few stream events have. It is looked up in the line when asked for: as a field of the struct, it
    would cost every delta the time and the memory of an empty place."""

    def __init__(self, shape: Any) -> None:
        self._shape = shape

    def __set_name__(self, owner: type, name: str) -> None:
        super().__init__(name)

    if TYPE_CHECKING:

        @overload
        def __get__(self, record: None, owner: type) -> _Seldom[_T]: ...
        @overload
        def __get__(self, record: StreamEvent, owner: type) -> _T | None: ...

    def __get__(self, record: Any, owner: type) -> Any:
        if record is None:
            return self
        if record.more_ is not None and self.name in record.more_:
            return record.more_[self.name]
        try:
            return msgspec.convert(record.data.get(self.name), self._shape)
        except DOES_NOT_FIT:
            return None


@cache
def _event_decoder() -> Callable[[Any], Event]:
    """Imported when it is needed: many classes, and most programs read ``event``."""
    from .events import decode_event

    return decode_event


@official("uuid session_id event", "parent_tool_use_id")
class StreamEvent(Message, kw_only=True, tag="stream_event"):
    """One event of the message being streamed."""

    # In the order of the wire, in which they are found at once
    event: dict[str, Any]
    """As the API wrote it; see ``typed_event``."""
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    """The tool call of the sub-agent that it comes from; None for the main agent."""
    uuid: str | None = None
    api_message_id: str | None = None
    """The ``id`` of the message being streamed."""

    ttft_ms = _Seldom[Number](Number | None)
    """Time to the first token; only with ``message_start``."""
    user_message_uuid = _Seldom[str](str | None)
    user_message_uuids = _Seldom[list[str]](list[str] | None)
    resume_reason = _Seldom[str](str | None)
    thinking_display = _Seldom[str](str | None)
    abandoned_blocks = _Seldom[dict[str, Any]](dict[str, Any] | None)
    """With ``message_stop``: blocks from ``from_block_index`` on will not be completed (2.1.325)."""
    owed_rows = _Seldom[list[Any]](list[Any] | None)

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
        return _event_decoder()(self.event)

    @classmethod
    def _built(cls, given: dict[str, Any]) -> Message | None:
        seldom = {name: given[name] for name in given if isinstance(getattr(cls, name, None), _Seldom)}
        if not seldom:
            return None
        message: Message = cls.plainly_built(**{name: given[name] for name in given if name not in seldom})
        for name, value in seldom.items():
            setattr(message, name, value)
        return message

    def to_dict(self) -> dict[str, Any]:
        fields = super().to_dict()
        for name, value in (self.more_ or {}).items():
            if value is not None and isinstance(getattr(type(self), name, None), _Seldom):
                fields[name] = value
        return fields
