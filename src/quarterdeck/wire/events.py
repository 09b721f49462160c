"""Stream events: the message of the model while it is being said.

A ``stream_event`` line (``StreamEvent`` in ``stream.py``) holds one ``Event``; a ``content_block_delta`` holds one
``Delta``. All read like the dicts they are on the wire, unknown keys included::

    message.event["delta"]["text"]          # as with the official SDK
    message.event.delta.text                # typed

An event or a delta whose ``type`` is not known here becomes ``UnknownEvent`` or ``UnknownDelta``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec.structs import force_setattr

from ._base import DOES_NOT_FIT, OpenObject
from ._shapes import UNKNOWN_TAG, Tagged, Unknown, located
from .api import ApiMessage, Container, ContextManagement, StopDetails
from .blocks import ContentBlock
from .usage import Usage


class _Piece(Tagged, frozen=True):
    """What all deltas are. One per line, so it takes over its event's origin rather than have one made."""

    within_: ClassVar[tuple[str, ...]] = ("delta",)


class TextDelta(_Piece, frozen=True, tag="text_delta"):
    text: str

    def __getitem__(self, key: str) -> Any:
        if key == "text":
            return self.text
        return "text_delta" if key == "type" else Tagged.__getitem__(self, key)


class ThinkingDelta(_Piece, frozen=True, tag="thinking_delta"):
    thinking: str
    estimated_tokens: int | None = None


class SignatureDelta(_Piece, frozen=True, tag="signature_delta"):
    signature: str


class InputJsonDelta(_Piece, frozen=True, tag="input_json_delta"):
    """A piece of a tool's input: only the pieces of one block joined together are JSON."""

    partial_json: str


class CitationsDelta(_Piece, frozen=True, tag="citations_delta"):
    citation: dict[str, Any]


class CompactionDelta(_Piece, frozen=True, tag="compaction_delta"):
    content: str | None = None
    encrypted_content: str | None = None


class UnknownDelta(Unknown, frozen=True, tag=UNKNOWN_TAG):
    """A delta this version cannot type."""


Delta = TextDelta | ThinkingDelta | SignatureDelta | InputJsonDelta | CitationsDelta | CompactionDelta | UnknownDelta


@located("message")
class MessageStart(Tagged, frozen=True, tag="message_start"):
    message: ApiMessage


@located("content_block")
class ContentBlockStart(Tagged, frozen=True, tag="content_block_start"):
    index: int
    content_block: ContentBlock


class ContentBlockDelta(Tagged, frozen=True, tag="content_block_delta"):
    index: int
    delta: Delta

    def __getitem__(self, key: str) -> Any:
        if key == "delta":
            return _delta_of(self)
        return "content_block_delta" if key == "type" else Tagged.__getitem__(self, key)


_slot_of_delta = vars(ContentBlockDelta)["delta"].__get__


def _delta_of(event: ContentBlockDelta) -> Delta:
    """As ``located``, but this is the most frequent read of all."""
    delta: Delta = _slot_of_delta(event)
    if delta.origin_ is None and type(origin := event.origin_) is tuple:
        force_setattr(delta, "origin_", origin)
    return delta


ContentBlockDelta.delta = property(_delta_of)  # type: ignore[assignment]


class ContentBlockStop(Tagged, frozen=True, tag="content_block_stop"):
    index: int


@located("stop_details", "container")
class MessageChange(OpenObject, frozen=True):
    """What ``message_delta`` changes in the message as a whole. It has no ``type`` on the wire."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: StopDetails | None = None
    container: Container | None = None


@located("delta", "usage", "context_management")
class MessageDelta(Tagged, frozen=True, tag="message_delta"):
    """The end of the message is near: why it stopped, and its final usage."""

    delta: MessageChange
    usage: Usage | None = None
    context_management: ContextManagement | None = None
    input_transformations: list[dict[str, Any]] | None = None


class MessageStop(Tagged, frozen=True, tag="message_stop"):
    pass


class Ping(Tagged, frozen=True, tag="ping"):
    pass


class ApiError(OpenObject, frozen=True):
    """An error as the API says it: ``type`` is e.g. ``overloaded_error``."""

    type: str | None = None
    message: str | None = None


@located("error")
class ErrorEvent(Tagged, frozen=True, tag="error"):
    error: ApiError


class UnknownEvent(Unknown, frozen=True, tag=UNKNOWN_TAG):
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


def decode_event(data: Any) -> Event:
    """The event that a parsed ``event`` value is; never raises. What cannot be typed becomes ``Unknown…``."""
    if not isinstance(data, dict):
        return UnknownEvent({}, "the line has no event object")
    try:
        return msgspec.convert(data, Event)  # type: ignore[no-any-return]
    except DOES_NOT_FIT as error:
        reason = str(error)
    try:
        return msgspec.convert(_with_unknown_parts(data), Event)  # type: ignore[no-any-return]
    except DOES_NOT_FIT:
        return UnknownEvent(data, reason)


def _with_unknown_parts(data: dict[str, Any]) -> dict[str, Any]:
    """The event with its delta or blocks wrapped where they are the part that does not fit."""
    softened = dict(data)
    match data:
        case {"type": "content_block_delta", "delta": dict() as delta}:
            softened["delta"] = _known_or_wrapped(delta, Delta)
        case {"type": "content_block_start", "content_block": dict() as block}:
            softened["content_block"] = _known_or_wrapped(block, ContentBlock)
        case {"type": "message_start", "message": {"content": list() as blocks, **rest}}:
            wrapped = [_known_or_wrapped(block, ContentBlock) for block in blocks]
            softened["message"] = {**rest, "content": wrapped}
    return softened


def _known_or_wrapped(part: Any, union: Any) -> Any:
    try:
        msgspec.convert(part, union)
    except DOES_NOT_FIT as error:
        return {"type": UNKNOWN_TAG, "data": part, "reason": str(error)}
    return part
