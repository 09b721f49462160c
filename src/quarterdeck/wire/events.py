"""Stream events: the model's message while it is being streamed.

A ``stream_event`` line (``StreamEvent`` in ``stream.py``) holds one event; a ``content_block_delta`` holds one
``Delta``::

    message.event["delta"]["text"]          # the dict, as with the official SDK
    message.typed_event.delta.text          # typed

An event or a delta whose ``type`` is not known here becomes ``UnknownEvent`` or ``UnknownDelta``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._base import DOES_NOT_FIT, WireObject
from ._shapes import UNKNOWN_TAG, Tagged, Unknown, converter
from .api import ApiError, ApiMessage, Container, ContextManagement, StopDetails
from .blocks import ContentBlock, to_block
from .usage import Usage


class TextDelta(Tagged, tag="text_delta"):
    text: str


class ThinkingDelta(Tagged, tag="thinking_delta"):
    thinking: str
    estimated_tokens: int | None = None


class SignatureDelta(Tagged, tag="signature_delta"):
    signature: str


class InputJsonDelta(Tagged, tag="input_json_delta"):
    """A piece of a tool's input: only the pieces of one block joined together are JSON."""

    partial_json: str


class CitationsDelta(Tagged, tag="citations_delta"):
    citation: dict[str, Any]


class CompactionDelta(Tagged, tag="compaction_delta"):
    content: str | None = None
    encrypted_content: str | None = None


class UnknownDelta(Unknown, tag=UNKNOWN_TAG):
    """A delta this version cannot type."""


Delta = TextDelta | ThinkingDelta | SignatureDelta | InputJsonDelta | CitationsDelta | CompactionDelta | UnknownDelta


class MessageStart(Tagged, tag="message_start"):
    message: ApiMessage


class ContentBlockStart(Tagged, tag="content_block_start"):
    index: int
    content_block: ContentBlock


class ContentBlockDelta(Tagged, tag="content_block_delta"):
    index: int
    delta: Delta


class ContentBlockStop(Tagged, tag="content_block_stop"):
    index: int


class MessageChange(WireObject):
    """What ``message_delta`` changes in the message as a whole. It has no ``type`` on the wire."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: StopDetails | None = None
    container: Container | None = None


class MessageDelta(Tagged, tag="message_delta"):
    """Near the end of the message: why it stopped, and its final usage."""

    delta: MessageChange
    usage: Usage | None = None
    context_management: ContextManagement | None = None
    input_transformations: list[dict[str, Any]] | None = None


class MessageStop(Tagged, tag="message_stop"):
    pass


class Ping(Tagged, tag="ping"):
    pass


class ErrorEvent(Tagged, tag="error"):
    error: ApiError


class UnknownEvent(Unknown, tag=UNKNOWN_TAG):
    """An event this version cannot type."""


Event = (
    MessageStart
    | ContentBlockStart
    | ContentBlockDelta
    | ContentBlockStop
    | MessageDelta
    | MessageStop
    | Ping
    | ErrorEvent
    | UnknownEvent
)


_event, _delta = converter("event", Event), converter("delta", Delta)


def decode_event(data: Any) -> Event:
    """The event that a parsed ``event`` value is; never raises. What cannot be typed becomes ``Unknown…``."""
    if not isinstance(data, dict):
        return UnknownEvent({}, "the line has no event object")
    try:
        return _event(data)  # type: ignore[no-any-return]
    except DOES_NOT_FIT as error:
        reason = str(error)
    try:
        return _event(_with_unknown_parts(data))  # type: ignore[no-any-return]
    except DOES_NOT_FIT:
        return UnknownEvent(data, reason)


def _with_unknown_parts(data: dict[str, Any]) -> dict[str, Any]:
    """The event with its delta or blocks wrapped where they are the part that does not fit."""
    softened = dict(data)
    match data:
        case {"type": "content_block_delta", "delta": dict() as delta}:
            softened["delta"] = _known_or_wrapped(delta, _delta)
        case {"type": "content_block_start", "content_block": dict() as block}:
            softened["content_block"] = _known_or_wrapped(block, to_block)
        case {"type": "message_start", "message": {"content": list() as blocks, **rest}}:
            wrapped = [_known_or_wrapped(block, to_block) for block in blocks]
            softened["message"] = {**rest, "content": wrapped}
    return softened


def _known_or_wrapped(part: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        convert(part)
    except DOES_NOT_FIT as error:
        return {"type": UNKNOWN_TAG, "data": part, "reason": str(error)}
    return part
