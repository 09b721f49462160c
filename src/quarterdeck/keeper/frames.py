"""The protocol between a host and its keeper: frames, without I/O.

A frame is a four-byte length (big-endian, of what follows), a one-byte kind, and a body. Control frames are JSON,
because they are rare and other versions must understand them. A session's bytes are sent raw, after a fixed-size
header.

Every version keeps this framing, ``HELLO`` and ``WELCOME``, ``REQUEST`` and ``REPLY``, and the requests in
``CORE_REQUESTS``. So a host of another version can list, drain and stop what an old keeper runs.
"""

from __future__ import annotations

import json
import struct
from typing import Any

PROTOCOL = 1
"""Changes with anything outside the stable core."""
CORE_REQUESTS = frozenset({"list", "read", "end", "drop", "retire", "stop"})
"""Requests available to a host of another protocol version."""

FRAME_LIMIT_BYTES = 32 * 1024 * 1024
"""Longer frames are refused. Only a command comes near it: Linux takes 6 MiB of arguments and environment, and JSON may
need three bytes for one of theirs."""
GREETING_LIMIT_BYTES = 4096
"""Limit for a peer that hasn't identified itself."""
PART_BYTES = 256 * 1024
"""Lines and files are sent in parts of this size, so that no session blocks the socket for long."""

HELLO = 1
WELCOME = 2
REQUEST = 3
REPLY = 4
EVENT = 5
OUTPUT = 16
WRITTEN = 17
STDERR = 18
INPUT = 19
TAKEN = 20
ACKNOWLEDGE = 21
CLOSE_INPUT = 22

_LENGTH = struct.Struct(">I")
_JSON_FRAME = struct.Struct(">IB")
_CALL_FRAME = struct.Struct(">IBII")
_CALL = struct.Struct(">II")
_OUTPUT_FRAME = struct.Struct(">IBIQ")
_NUMBER_FRAME = struct.Struct(">IBIQ")
_STDERR_FRAME = struct.Struct(">IBI")
_INPUT_FRAME = struct.Struct(">IBIQB")
NUMBERED = struct.Struct(">IQ")
"""Channel and number: the head of ``OUTPUT``, and all of ``WRITTEN``, ``TAKEN``, ``ACKNOWLEDGE``, ``CLOSE_INPUT``."""
STDERR_HEAD = struct.Struct(">I")
INPUT_HEAD = struct.Struct(">IQB")


class FrameError(Exception):
    """The peer violated the protocol; nothing it sends from here on can be parsed."""


class FrameReader:
    """Splits a byte stream into frames."""

    __slots__ = ("_missing", "_rest", "limit_bytes")

    def __init__(self, limit_bytes: int = GREETING_LIMIT_BYTES) -> None:
        self.limit_bytes = limit_bytes
        """May be raised once the peer is known."""
        self._rest = bytearray()
        self._missing = 0
        """Bytes missing from the next frame; until then, input is only buffered."""

    def feed(self, data: bytes) -> list[tuple[int, memoryview]]:
        """Return the frames that are now complete, as kind and body. Raises ``FrameError``."""
        if self._rest:
            self._rest += data
            self._missing -= len(data)
            if self._missing > 0:
                return []
            data = bytes(self._rest)
            self._rest.clear()
        view, at, end = memoryview(data), 0, len(data)
        self._missing = 0
        frames = []
        while end - at >= 4:
            (length,) = _LENGTH.unpack_from(data, at)
            if not 1 <= length <= self.limit_bytes:
                raise FrameError(f"a frame of {length} bytes; the limit is {self.limit_bytes}")
            if end - at < 4 + length:
                self._missing = 4 + length - (end - at)
                break
            frames.append((data[at + 4], view[at + 5 : at + 4 + length]))
            at += 4 + length
        self._rest += view[at:]
        return frames


def json_frame(kind: int, value: dict[str, Any]) -> bytes:
    body = _dump(value)
    return _JSON_FRAME.pack(1 + len(body), kind) + body


def parse_json(body: memoryview | bytes) -> dict[str, Any]:
    """Parse the JSON object in a frame. Raises ``FrameError``."""
    try:
        value = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise FrameError("not a JSON object")
    return value


def call_frame(kind: int, number: int, value: dict[str, Any], blob: bytes | memoryview = b"") -> bytes:
    """Build a request or reply: JSON, and raw bytes."""
    body = _dump(value)
    return b"".join((_CALL_FRAME.pack(9 + len(body) + len(blob), kind, number, len(body)), body, blob))


def parse_call(body: memoryview) -> tuple[int, dict[str, Any], memoryview]:
    """Parse a request or reply into number, object and bytes. Raises ``FrameError``."""
    if len(body) < _CALL.size:
        raise FrameError("a call without a head")
    number, length = _CALL.unpack_from(body)
    if length > len(body) - _CALL.size:
        raise FrameError("a call that is shorter than it says")
    end = _CALL.size + length
    return number, parse_json(body[_CALL.size : end]), body[end:]


def output_head(channel: int, offset: int, size: int) -> bytes:
    """Build the header of ``size`` bytes of output."""
    return _OUTPUT_FRAME.pack(13 + size, OUTPUT, channel, offset)


def stderr_frame(channel: int, data: bytes) -> bytes:
    return _STDERR_FRAME.pack(5 + len(data), STDERR, channel) + data


def number_frame(kind: int, channel: int, number: int) -> bytes:
    return _NUMBER_FRAME.pack(13, kind, channel, number)


def input_frames(channel: int, number: int, line: bytes) -> list[bytes]:
    """Split a numbered input into parts. The keeper acts on it when it has the last one."""
    view = memoryview(line)
    starts = range(0, max(len(line), 1), PART_BYTES)
    frames = []
    for start in starts:
        part = view[start : start + PART_BYTES]
        head = _INPUT_FRAME.pack(14 + len(part), INPUT, channel, number, start == starts[-1])
        frames.append(head + part)
    return frames


def parse_head(head: struct.Struct, body: memoryview, *, exact: bool = False) -> tuple[Any, ...]:
    """Parse the fixed part of a body. Raises ``FrameError`` if the length is wrong."""
    if len(body) < head.size or (exact and len(body) != head.size):
        raise FrameError(f"a body of {len(body)} bytes where {head.size} are needed")
    return head.unpack_from(body)


def _dump(value: dict[str, Any]) -> bytes:
    # Names of files and variables may contain non-UTF-8 bytes (surrogates); escaped as ASCII they survive.
    return json.dumps(value, separators=(",", ":")).encode()
