"""Messages → the host's requests, by ``shapes``. Anything this version does not know is refused, not ignored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from functools import cache
from typing import Any

import msgspec
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from quarterdeck.gateways.common.calling import check_texts, invalid
from quarterdeck.host.errors import HostError
from quarterdeck.host.requests import Request

from .messages import ENUMS, MESSAGES
from .methods import Method
from .shapes import CLEAR, Field, Kind, fields_of

DESCRIBED_IN = "proto/quarterdeck/v1"
Read = Callable[[Any, str], Any]


def parsed(name: str, data: bytes) -> Any:
    """The message of this name. Raises ``HostError`` for invalid bytes, such as text that is not UTF-8."""
    message = MESSAGES[name]()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise HostError("invalid", f"Not a valid {name}: {error}.", field="body") from error
    return message


def request_of(method: Method, message: Any, **more: Any) -> Request:
    """What a message asks for. ``more`` is put in where the message leaves it out. Raises ``HostError``."""
    takes = method.operation.takes
    try:
        request: Request = msgspec.convert({**more, **values_of(takes, message, "")}, takes)
    except (msgspec.ValidationError, TypeError) as error:
        raise invalid(error, DESCRIBED_IN) from error
    check_texts(request)
    return request


def values_of(struct: type[msgspec.Struct], message: Any, place: str) -> dict[str, Any]:
    """The fields that are set, as JSON would have them. Raises ``HostError`` with the field that is wrong."""
    if len(unknown := UnknownFieldSet(message)):
        raise HostError(
            "invalid",
            f"This version does not know field {unknown[0].field_number} of {message.DESCRIPTOR.name}.",
            hint="Update the host, or omit the field.",
            field=place or "body",
        )
    readers = _readers(struct)
    values = {}
    for descriptor, value in message.ListFields():
        if (reader := readers.get(descriptor.name)) is not None:
            encoded, read = reader
            values[encoded] = read(value, f"{place}.{descriptor.name}" if place else descriptor.name)
        elif descriptor.name == CLEAR:
            values |= _cleared(struct, value)
    return values


def _cleared(struct: type[msgspec.Struct], names: Any) -> dict[str, Any]:
    clearable = {field.name: field for field in fields_of(struct) if field.clearable}
    for name in names:
        if name not in clearable:
            raise HostError("invalid", f"{name!r} cannot be cleared.", field=CLEAR)
    return {clearable[name].encoded: [] if clearable[name].many else None for name in names}


@cache
def _readers(struct: type[msgspec.Struct]) -> dict[str, tuple[str, Read]]:
    return {field.name: (field.encoded, _value_reader(field)) for field in fields_of(struct)}


def _value_reader(field: Field) -> Read:
    one = _single(field)
    if field.many == "list":
        return lambda values, place: [one(value, f"{place}[{index}]") for index, value in enumerate(values)]
    if field.many == "map":
        return lambda values, place: {name: one(value, f"{place}.{name}") for name, value in values.items()}
    return one


def _single(field: Field) -> Read:
    match field.kind:
        case Kind.MOMENT:
            return _moment
        case Kind.JSON:
            return _json
        case Kind.CONTENT:
            return _content
        case Kind.WORD:
            return _word(field)
        case Kind.STRUCT:
            return lambda value, place: values_of(field.of, value, place)
    return lambda value, place: value


def _word(field: Field) -> Read:
    words = field.words
    named = {ENUMS[words.name].Value(words.constant(word)): word for word in words.words}

    def read(number: int, place: str) -> str:
        if number not in named:
            raise HostError("invalid", f"{number} is not a value of {words.name}.", field=place)
        return named[number]

    return read


def _moment(value: Any, place: str) -> Any:
    try:
        return value.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise HostError("invalid", f"Not a valid time: {error}.", field=place) from error


def _json(text: str, place: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HostError("invalid", f"{place} is not valid JSON: {error}.", field=place) from error


def _content(value: Any, place: str) -> Any:
    chosen = value.WhichOneof("content")
    if chosen is None:
        raise HostError("invalid", "Text or blocks are required.", field=place)
    return value.text if chosen == "text" else _json(value.blocks_json, f"{place}.blocks_json")
