"""Frames and previews as bytes of a response, so that what many watch is written once.

A repeated field on the wire is one piece after the other: the events of several frames are their bytes in a row.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.host.folding import Preview
from quarterdeck.host.resources import Frame

from .encoding import event_message, type_of
from .messages import MESSAGES

_EVENTS = b"\x12"  # field 2 of WatchSessionResponse, with a length
_CURSOR = b"\x1a"  # field 3


def varint(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    made = bytearray()
    while number >= 0x80:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def written(item: Frame | Preview, *, with_json: bool = False) -> bytes:
    """The events of a frame or a preview, as part of a ``WatchSessionResponse``."""
    return b"".join(_event_parts(item, with_json=with_json))


def within(item: Frame | Preview, limit_bytes: int, *, with_json: bool = False) -> bytes:
    """The same, with the largest events only named, as many as needed to fit the limit."""
    parts = _event_parts(item, with_json=with_json)
    largest_first = sorted(range(len(parts)), key=lambda index: -len(parts[index]))
    for index in largest_first:
        if sum(map(len, parts)) <= limit_bytes:
            break
        parts[index] = _oversized(item, index, len(parts[index]))
    return b"".join(parts)


def cursor(epoch: str, seq: int) -> bytes:
    text = f"{epoch}-{seq}".encode()
    return _CURSOR + varint(len(text)) + text


def _event_parts(item: Frame | Preview, *, with_json: bool) -> list[bytes]:
    is_preview = type(item) is Preview
    seq = item.after_seq if isinstance(item, Preview) else item.seq
    messages = (
        event_message(event, item.session, seq, preview=is_preview, with_json=with_json) for event in item.events
    )
    return [_part(message) for message in messages]


def _part(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return _EVENTS + varint(len(data)) + data


def _oversized(item: Frame | Preview, index: int, size: int) -> bytes:
    event = item.events[index]
    seq = item.after_seq if isinstance(item, Preview) else item.seq
    named = MESSAGES["OversizedEvent"](type=type_of(event), size_bytes=size)
    return _part(MESSAGES["Event"](session_id=item.session, seq=seq, at=event.at, oversized=named))
