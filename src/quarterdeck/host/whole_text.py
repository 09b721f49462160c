"""Text that every program can read.

JavaScript cuts strings between the two halves of a character and writes what is left as ``"\\ud800"``. That is JSON,
but no encoding has such a half, so a log, a list or an answer with one in it could not be written. The rows of the log
keep Claude Code's lines as they are; everything derived from them has a replacement character in its place.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from quarterdeck.wire import Message, decode

_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..(\\u[dD][c-fC-F]..)?|u[dD]...|.)", re.DOTALL)
_REPLACED = rb"\ufffd"
_HALVES = frozenset(b"89abcdefABCDEF")
_encoder = msgspec.json.Encoder()


def whole_text(line: bytes) -> bytes:
    """A JSON text without halves of characters."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPE.sub(_whole, line)


def _whole(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    is_half = escape[1:3] in (b"ud", b"uD") and escape[3] in _HALVES and found[1] is None
    return _REPLACED if is_half else escape


def whole_message(message: Message) -> Message:
    """What the log is derived from: the message itself, unless there is half a character in it."""
    line = message.raw
    whole = whole_text(line)
    return message if whole is line else decode(whole)


def encode_whole(value: Any) -> bytes:
    """Any value of ours as JSON, whatever Claude Code or a program has put into it."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return whole_text(json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":")).encode("ascii"))
