"""The host's structs → messages, by ``shapes``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp

from quarterdeck.host.resources import Frame
from quarterdeck.timeline.events import EventBase
from quarterdeck.wire._json import dumps

from .messages import ENUMS, MESSAGES
from .methods import Method
from .shapes import Field, Kind, fields_of, message_name, snake

Write = Callable[[Any], Any]


def message_of(struct: Any) -> Any:
    """The message for a struct that has a message of the same name."""
    if type(struct) is Frame:
        events = [event_message(event, struct.session, struct.seq) for event in struct.events]
        return MESSAGES["Frame"](session=struct.session, seq=struct.seq, at=struct.at, events=events)
    kind: type[msgspec.Struct] = type(struct)
    return writer_of(kind, message_name(kind))(struct)


def response_of(method: Method, result: Any) -> bytes:
    """What an operation returned, as the response's bytes."""
    if not method.wrapped:
        written: bytes = writer_of(method.returns, method.response)(result).SerializeToString()
        return written
    response = MESSAGES[method.response](**{method.wrapped: message_of(result)})
    return bytes(response.SerializeToString())


def event_message(event: EventBase, session: str, seq: int, *, preview: bool = False, with_json: bool = False) -> Any:
    """An ``Event``. One whose values do not fit its message comes as ``UnknownEvent``, with its JSON."""
    json = json_text(event) if with_json else ""
    try:
        body = {_field_of(type(event)): message_of(event)}
    except (ValueError, TypeError, OverflowError):
        body = {"unknown": MESSAGES["UnknownEvent"](type=type_of(event), json=json_text(event))}
    return MESSAGES["Event"](session_id=session, seq=seq, at=event.at, preview=preview, json=json, **body)


def type_of(event: EventBase) -> str:
    return str(event.__struct_config__.tag)


@cache
def _field_of(event: type[EventBase]) -> str:
    """Of the oneof in ``Event``."""
    return snake(message_name(event))


def event_number(event: type[EventBase]) -> int:
    """Of its member in ``Event``."""
    number: int = MESSAGES["Event"].DESCRIPTOR.fields_by_name[_field_of(event)].number
    return number


@cache
def writer_of(struct: type[msgspec.Struct], name: str) -> Write:
    """Builds messages of this name from such structs."""
    message = MESSAGES[name]
    plan = [(field.attribute, field.name, _value_writer(field), _is_open(field)) for field in fields_of(struct)]

    def write(value: Any) -> Any:
        given = {}
        for attribute, field, convert, skip_empty in plan:
            held = getattr(value, attribute)
            if held is None or (skip_empty and not held):
                continue
            given[field] = held if convert is None else convert(held)
        try:
            return message(**given)
        except UnicodeEncodeError:
            return message(**{field: _valid(held) for field, held in given.items()})

    return write


def _valid(value: Any) -> Any:
    """Claude Code may say half a character (a lone surrogate); a message cannot."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_valid(one) for one in value]
    return {_valid(name): _valid(one) for name, one in value.items()} if isinstance(value, dict) else value


def _is_open(field: Field) -> bool:
    """Empty is the same as absent: an empty JSON object, an empty list."""
    return bool(field.many) or field.kind is Kind.JSON


def _value_writer(field: Field) -> Write | None:
    one = _single(field)
    if one is None:
        return None
    if field.many == "list":
        return lambda values: [one(value) for value in values]
    if field.many == "map":
        return lambda values: {name: one(value) for name, value in values.items()}
    return one


def _single(field: Field) -> Write | None:
    """How one value is written; None: as it is."""
    match field.kind:
        case Kind.MONEY:
            return str
        case Kind.MOMENT:
            return timestamp
        case Kind.JSON:
            return json_text
        case Kind.CONTENT:
            return _content
        case Kind.WORD:
            return _word(field)
        case Kind.STRUCT:
            return lambda value: message_of(value if isinstance(value, msgspec.Struct) else _typed(field, value))
    return None


def _typed(field: Field, value: Any) -> Any:
    """What an operation returns as plain data although it has a type."""
    return msgspec.convert(value, field.of)


def _word(field: Field) -> Write:
    words = field.words
    numbers = {word: ENUMS[words.name].Value(words.constant(word)) for word in words.words}
    return lambda word: numbers.get(word, 0)


def _content(value: Any) -> Any:
    cls = MESSAGES["Content"]
    return cls(text=value) if isinstance(value, str) else cls(blocks_json=json_text(value))


def json_text(value: Any) -> str:
    try:
        return _encoder.encode(value).decode()
    except UnicodeEncodeError:
        return dumps(msgspec.to_builtins(value)).decode()


def timestamp(value: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(value.astimezone(UTC).replace(tzinfo=None))
    return made


_encoder = msgspec.json.Encoder()
