"""Lines ⇄ messages.

``decode`` takes one line, ``Decoder`` a stream of chunks cut anywhere; neither raises, whatever the bytes. Nothing is
lost that cannot be typed: an unknown type or a message without a required field becomes ``UnknownMessage``, an
unknown block, event or request becomes its ``Unknown…``, an optional field of an unexpected shape is left out of the
typed view (and stays in ``data``), and a line that is not a JSON object becomes ``BadLine``.

The fast path decodes a whole chunk with one ``msgspec`` call. A chunk with anything unusual in it (a blank line, an
unknown tag, bad UTF-8) is decoded line by line instead.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections import deque
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from itertools import repeat
from typing import Any, Literal, TypeVar, Union

import msgspec
from msgspec.structs import force_setattr

from quarterdeck._defaults import LIMIT_BYTES

from ._base import Message, WireObject, system_messages, without_ending
from ._degrade import typed_or_reason
from ._hints import resolve
from ._json import dumps, loads
from .control import ControlCancelRequest, ControlRequest, ControlResponse, _AnyControlRequest
from .messages import MESSAGE_TYPES
from .system import SystemMessage
from .system_types import SYSTEM_TYPES

DEFAULT_LIMIT_BYTES = LIMIT_BYTES

Direction = Literal["in", "out"]
"""``in`` to the CLI (its stdin), ``out`` of it."""

NOT_UTF8 = "not valid UTF-8"
"""The ``reason`` of a ``BadLine`` that is not text."""

HEAD_BYTES = 256
"""How much of a bad line ``BadLine.head`` shows."""

FEW = 4
"""Chunks with fewer lines don't justify building the full decoder."""

UTF8_PIECE_BYTES = 8 * 1024
"""How many bytes are checked for valid UTF-8 at once."""

_CLASSES: tuple[type[Message], ...] = (*MESSAGE_TYPES, ControlRequest, ControlResponse, ControlCancelRequest)
TYPES: dict[str, type[Message]] = {str(cls.__struct_config__.tag): cls for cls in _CLASSES}
"""Wire ``type`` → class, both directions."""


class UnknownMessage(Message):
    """A JSON object that this version cannot type; ``data`` has all of it."""

    type: str | None = None
    reason: str = ""


class BadLine(Message):
    """A line that is not a JSON object or exceeds the limit. The stream continues after it."""

    head: bytes
    reason: str
    size: int
    line: bytes | None = None

    @property
    def raw(self) -> bytes:
        """The whole line, or only its head if it exceeded the limit."""
        return self.head if self.line is None else self.line

    data = property(lambda self: {})

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, BadLine) and self.raw == other.raw
        return same and (self.reason, self.size) == (other.reason, other.size)  # type: ignore[attr-defined]

    __hash__ = None


_LENIENT: dict[str, type[Message]] = TYPES | {"control_request": _AnyControlRequest}
_for_all: msgspec.json.Decoder[Any] | None = None


def prepare() -> msgspec.json.Decoder[Any]:
    """The decoder for all messages. Making it takes milliseconds, because it has to inspect every class: call this when
    there is time. Until then, each class is inspected on first use.
    """
    global _for_all
    if _for_all is None:
        classes = tuple(TYPES.values())
        resolve(*classes)
        _for_all = msgspec.json.Decoder(Union[classes])  # noqa: UP007  # built at run time
    return _for_all


class _Kind(msgspec.Struct, gc=False):
    type: Any = None


def _decoder_for(line: bytes) -> msgspec.json.Decoder[Any]:
    """While there is no decoder for all messages: the one of this line's class."""
    kind = msgspec.json.decode(line, type=_Kind).type
    cls = TYPES.get(kind) if isinstance(kind, str) else None
    return prepare() if cls is None else _decoder_of(cls)


@cache
def _decoder_of(cls: type[Message]) -> msgspec.json.Decoder[Any]:
    resolve(cls)
    return msgspec.json.Decoder(cls)


M = TypeVar("M", bound=Message)
_CANNOT_TYPE = (msgspec.MsgspecError, UnicodeError, RecursionError)


def decode(line: bytes) -> Message:
    """The message on one line (with or without its line ending). Never raises on any bytes."""
    line = line.rstrip(b"\r\n")
    return _decode_line(line) or _bad(line, "blank")


def decode_only(chunk: bytes, kind: type[M]) -> M | None:
    """The message of a chunk that is exactly one valid line of this class; otherwise None.

    For an expected line: unlike ``decode``, it does not inspect the classes of all other lines on first use.
    """
    if chunk.find(b"\n") != len(chunk) - 1 or not _is_utf8(chunk):
        return None
    try:
        message: Any = msgspec.json.decode(chunk, type=_LENIENT[str(kind.__struct_config__.tag)])
    except _CANNOT_TYPE:
        return None
    force_setattr(message, "line_", chunk)
    return message  # type: ignore[no-any-return]


def encode(message: Message | WireObject | Mapping[str, Any]) -> bytes:
    """The message as one line of valid UTF-8, newline included. A received message is written byte for byte."""
    if isinstance(message, BadLine):
        raise TypeError("a BadLine is not a message: forward its raw bytes yourself if needed")
    if isinstance(message, Message):
        return message.raw + b"\n"
    return dumps(message.to_dict() if isinstance(message, WireObject) else message) + b"\n"


class Decoder:
    """Decodes a stream of bytes, in chunks cut anywhere. One per stream; never raises, whatever the bytes."""

    __slots__ = ("_limit", "_overlong", "_pending", "_pending_size")

    def __init__(self, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._overlong: BadLineHead | None = None

    def feed(self, data: bytes) -> list[Message]:
        """Return the messages that this chunk completes."""
        # At a model's pace nearly every chunk is one line.
        if not self._pending and self._overlong is None and data.find(b"\n") == len(data) - 1:
            return self._one_line(data)
        end = data.rfind(b"\n") + 1
        if not end:
            self._keep(data)
            return []
        if self._overlong is not None:
            return self._skip_overlong(self._overlong, data)
        start, messages = 0, list[Message]()
        if self._pending:
            start = data.find(b"\n") + 1
            messages = self._one_line(b"".join((*self._pending, data[:start])))
            self._pending.clear()
            self._pending_size = 0
        if end < len(data):
            self._keep(data[end:])
        if start < end:
            messages += self._decode_block(data, start, end)
        return messages

    def finish(self) -> list[Message]:
        """The stream has ended: return the last line if it had no newline."""
        if not self._pending and self._overlong is None:
            return []
        return self.feed(b"\n")

    def _keep(self, part: bytes) -> None:
        """Keep the start of a line; past the limit, keep only its head and count the rest."""
        if self._overlong is not None:
            self._overlong.size += len(part)
            return
        self._pending.append(part)
        self._pending_size += len(part)
        if self._pending_size > self._limit:
            self._overlong = BadLineHead(b"".join(self._pending)[:HEAD_BYTES], self._pending_size)
            self._pending.clear()
            self._pending_size = 0

    def _skip_overlong(self, overlong: BadLineHead, data: bytes) -> list[Message]:
        """The end of the overlong line, and what follows it."""
        self._overlong = None
        rest, _, after = data.partition(b"\n")
        overlong.size += len(rest)
        return [overlong.bad_line(self._limit), *(self.feed(after) if after else ())]

    def _decode_block(self, data: bytes, start: int, end: int) -> list[Message]:
        """The messages of the lines that are ``data[start:end]``."""
        few = _for_all is None and data.count(b"\n", start, end) <= FEW
        if few or end - start > self._limit:
            return self._line_by_line(_lines_of(data, start, end))
        system: list[Message] = []
        outer = system_messages.set(system)
        try:
            messages: list[Message] = (_for_all or prepare()).decode_lines(memoryview(data)[start:end])
        except _CANNOT_TYPE:
            messages = []
        finally:
            system_messages.reset(outer)
        lines = _lines_of(data, start, end)  # not before: they would push what the decoder needs out of the cache
        if len(messages) != len(lines) or not _is_text(data, lines):
            return self._line_by_line(lines)
        deque(map(force_setattr, messages, repeat("line_"), lines), 0)
        if system:
            _type_system_messages(messages, lines)
        return messages

    def _line_by_line(self, lines: list[bytes]) -> list[Message]:
        messages: list[Message] = []
        for line in lines:
            messages += self._one_line(line)
        return messages

    def _one_line(self, line: bytes) -> list[Message]:
        """Its message; nothing for a blank line."""
        if len(line) > self._limit and len(line := without_ending(line)) > self._limit:
            return [BadLineHead(line[:HEAD_BYTES], len(line)).bad_line(self._limit)]
        message = _decode_line(line)
        return [message] if message is not None else []


class BadLineHead:
    """An overlong line that has not ended yet: what was kept, and its size so far."""

    __slots__ = ("head", "size")

    def __init__(self, head: bytes, size: int) -> None:
        self.head = head
        self.size = size

    def bad_line(self, limit_bytes: int) -> BadLine:
        reason = f"the line is longer than the limit of {limit_bytes} bytes (option limit_bytes)"
        return BadLine(head=self.head, reason=reason, size=self.size)


def _lines_of(data: bytes, start: int, end: int) -> list[bytes]:
    reader = BytesIO(data)
    reader.seek(start)
    return reader.readlines(end - start)  # far faster than ``split``, which goes byte by byte before Python 3.13


def _is_text(data: bytes, lines: list[bytes]) -> bool:
    """Whether the lines, which are part of ``data``, are valid UTF-8.

    The typed decoder skips values it has no field for without checking their bytes, so they are checked here.
    """
    return data.isascii() or _is_utf8(b"".join([line for line in lines if not line.isascii()]))


def _is_utf8(block: bytes | memoryview) -> bool:
    """Checked in pieces: one emoji makes the whole decoded text four times as large as its bytes, and allocating and
    freeing that much memory each time costs more than everything else.
    """
    view, start, size = memoryview(block), 0, len(block)
    try:
        while start < size:
            end = start + UTF8_PIECE_BYTES
            start += utf_8_decode(view[start:end], "strict", end >= size)[1]
    except UnicodeDecodeError:
        return False
    return True


def _decode_line(line: bytes) -> Message | None:
    """The message of a line, with or without its ending; None when it is blank."""
    if not (line.isascii() or _is_utf8(line)):
        return _bad(line, NOT_UTF8)
    try:
        message: Message = (_for_all or _decoder_for(line)).decode(line)
    except _CANNOT_TYPE:
        return None if not line or line.isspace() else _decode_odd_line(line)
    force_setattr(message, "line_", line)
    return _by_subtype(message, line) if type(message) is SystemMessage else message


def _type_system_messages(messages: list[Message], lines: list[bytes]) -> None:
    """The second step for the few ``system`` messages of a chunk."""
    for index, message in enumerate(messages):
        if type(message) is SystemMessage:
            messages[index] = _by_subtype(message, lines[index])


def _by_subtype(message: SystemMessage, line: bytes) -> Message:
    """The second step for ``system`` messages, whose shape depends on ``subtype``."""
    cls = SYSTEM_TYPES.get(message.subtype)
    if cls is None:
        return message
    try:
        typed: Message = _decoder_of(cls).decode(line)
    except _CANNOT_TYPE:
        return _from_data(loads(line), cls, line)
    force_setattr(typed, "line_", line)
    return typed


def _decode_odd_line(line: bytes) -> Message:
    """A line that the typed decoder refused: find out whether the text, the JSON or only the shape is unusual."""
    try:
        data = loads(line)
    except RecursionError:
        return _bad(line, "nested too deeply")
    except ValueError as error:
        return _bad(line, f"not JSON: {error}")
    if not isinstance(data, dict):
        return _bad(line, f"a JSON {_json_kind(data)}, not an object")
    kind = data.get("type")
    cls = _LENIENT.get(kind) if isinstance(kind, str) else None
    if cls is SystemMessage and isinstance(data.get("subtype"), str):
        cls = SYSTEM_TYPES.get(data["subtype"], cls)
    return _from_data(data, cls, line)


def _from_data(data: dict[str, Any], cls: type[Message] | None, line: bytes) -> Message:
    kind = data.get("type")
    if cls is None:
        reason = f"unknown type {kind!r}" if "type" in data else "no type"
        message: Message = UnknownMessage(type=kind if isinstance(kind, str) else None, reason=reason)
    else:
        typed = typed_or_reason(data, cls)
        message = UnknownMessage(type=str(kind), reason=typed) if isinstance(typed, str) else typed
    force_setattr(message, "line_", line)
    return message


def _bad(line: bytes, reason: str) -> BadLine:
    line = without_ending(line)
    return BadLine(head=line[:HEAD_BYTES], reason=reason, size=len(line), line=line)


def _json_kind(value: Any) -> str:
    kinds = {list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return kinds.get(type(value), "null")
