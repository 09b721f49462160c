"""``StreamEvent``: the line that holds one stream event, and by far the most frequent one.

Many consumers skip these lines, so a stream begins with ``LazyStreamEvent``, where nothing inside is decoded until it
is asked for. The first read of ``event`` also tells the decoder of the stream that its consumer does read events
(``Demand.events``); from then on the event is decoded in the same pass as the line, which is faster when it is wanted.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from ._base import DOES_NOT_FIT, HIDDEN, Demand, Lines, Message, OpenObject, plain
from ._json import dumps, loads
from ._shapes import Number
from .events import Event, UnknownEvent, decode_event

_CANNOT_TYPE = (msgspec.MsgspecError, UnicodeError)


class StreamEvent(Message, frozen=True, kw_only=True, tag="stream_event"):
    """One event of the message being said. Build one with ``StreamEvent.of``."""

    event_: Event = msgspec.field(name="event")

    @classmethod
    def _line_of(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        named = {**dict(zip(("uuid", "session_id", "event", "parent_tool_use_id"), args, strict=False)), **kwargs}
        if "event" not in named:
            return None
        return {
            "type": "stream_event",
            "parent_tool_use_id": None,
            **{key: plain(value) for key, value in named.items()},
        }

    @classmethod
    def of(cls, event: Event | dict[str, Any], *, session_id: str, uuid: str, **others: Any) -> StreamEvent:
        """A line with this event; ``others`` are further keys of the line, by their names on the wire."""
        others.setdefault("parent_tool_use_id", None)
        inner = event.to_dict() if isinstance(event, OpenObject) else event
        line = {"type": "stream_event", "event": inner, "session_id": session_id, **others, "uuid": uuid}
        return LazyStreamEvent(lines_=Lines(dumps(line), Demand()))

    @property
    def event(self) -> Event:
        """What happened, typed, and readable like the dict it is on the wire."""
        event: Event | None = self.event_
        if event is None:
            event = self._first_read()
        if event.origin_ is None and self.lines_ is not None:
            force_setattr(event, "origin_", (self.lines_, self.index_, "event"))
        return event

    def _first_read(self) -> Event:
        if self.lines_ is None:
            return UnknownEvent({}, "built without an event")
        self.lines_.demand.events = True
        line = self.raw
        try:
            event = _event_holder().decode(line).event
        except _CANNOT_TYPE:
            event = decode_event(loads(line).get("event"))
        force_setattr(self, "event_", event)
        return event

    @property
    def uuid(self) -> str | None:
        return self._envelope().uuid

    @property
    def session_id(self) -> str | None:
        return self._envelope().session_id

    @property
    def parent_tool_use_id(self) -> str | None:
        """The tool call of the sub-agent that speaks; None for the main one."""
        return self._envelope().parent_tool_use_id

    @property
    def api_message_id(self) -> str | None:
        """The ``id`` of the message being said."""
        return self._envelope().api_message_id

    @property
    def ttft_ms(self) -> Number | None:
        """Time to the first token; only beside ``message_start``."""
        return self._envelope().ttft_ms

    @property
    def user_message_uuid(self) -> str | None:
        return self._envelope().user_message_uuid

    @property
    def user_message_uuids(self) -> list[str] | None:
        return self._envelope().user_message_uuids

    @property
    def resume_reason(self) -> str | None:
        return self._envelope().resume_reason

    @property
    def thinking_display(self) -> str | None:
        return self._envelope().thinking_display

    @property
    def abandoned_blocks(self) -> dict[str, Any] | None:
        """Beside ``message_stop``: blocks from ``from_block_index`` on will not be completed (2.1.325)."""
        return self._envelope().abandoned_blocks

    @property
    def owed_rows(self) -> list[Any] | None:
        return self._envelope().owed_rows

    def _envelope(self) -> _Envelope:
        """The line without its event. Decoded at each call: it is small, and most lines are never asked."""
        line = self.raw
        try:
            return _envelope_decoder().decode(line)
        except _CANNOT_TYPE:
            return _fitting_part(loads(line))

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() if self.lines_ is None else self.data

    def __repr__(self) -> str:
        return f"{type(self).__name__}(event={self.event!r}, uuid={self.uuid!r}, session_id={self.session_id!r})"


class LazyStreamEvent(StreamEvent, frozen=True, kw_only=True, tag="stream_event"):
    """A ``StreamEvent`` whose event is decoded when it is first read."""

    event_: Any = msgspec.field(default=None, name=HIDDEN + "event")


LazyStreamEvent.__name__ = StreamEvent.__name__  # programs print it; which of the two it is, is our affair
StreamEvent.built_as_ = LazyStreamEvent


class _EventHolder(msgspec.Struct, gc=False):
    event: Event


class _Envelope(msgspec.Struct, gc=False):
    uuid: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    api_message_id: str | None = None
    ttft_ms: Number | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None
    resume_reason: str | None = None
    thinking_display: str | None = None
    abandoned_blocks: dict[str, Any] | None = None
    owed_rows: list[Any] | None = None


@cache
def _event_holder() -> msgspec.json.Decoder[_EventHolder]:
    """Made on first use: it has to look into every event and block, and many programs never read one."""
    return msgspec.json.Decoder(_EventHolder)


@cache
def _envelope_decoder() -> msgspec.json.Decoder[_Envelope]:
    return msgspec.json.Decoder(_Envelope)


def _fitting_part(data: dict[str, Any]) -> _Envelope:
    """The envelope without the fields that have an unexpected shape."""
    fitting: dict[str, Any] = {}
    for field in msgspec.structs.fields(_Envelope):
        try:
            fitting[field.name] = msgspec.convert(data.get(field.name), field.type)
        except DOES_NOT_FIT:
            continue
    return _Envelope(**fitting)
