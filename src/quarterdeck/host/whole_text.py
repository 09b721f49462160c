"""Replaces lone surrogates in text.

JavaScript may cut a string between two surrogates and write the rest as ``"\\ud800"``. That is valid JSON, but can't be
encoded, so a log, list or answer that contains it couldn't be written. The rows of the log keep Claude Code's lines
unchanged; everything derived from them has a replacement character instead.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from quarterdeck.wire import Message, decode

_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..(\\u[dD][c-fC-F]..)?|u[dD]...|.)", re.DOTALL)
_MAYBE = re.compile(rb"\\u[dD]")
"""A third of the time that two ``in`` take: text of programs is full of backslashes."""
_REPLACED = rb"\ufffd"
_HALVES = frozenset(b"89abcdefABCDEF")
_encoder = msgspec.json.Encoder()


def whole_text(line: bytes) -> bytes:
    """Replace lone surrogates in a JSON text."""
    if _MAYBE.search(line) is None:
        return line
    return _ESCAPE.sub(_whole, line)


def _whole(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    is_half = escape[1:3] in (b"ud", b"uD") and escape[3] in _HALVES and found[1] is None
    return _REPLACED if is_half else escape


def whole_message(message: Message) -> Message:
    """Return the message, with lone surrogates replaced."""
    line = message.raw
    whole = whole_text(line)
    return message if whole is line else decode(whole)


def encode_whole(value: Any) -> bytes:
    """Encode any value as JSON, with lone surrogates replaced."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return whole_text(json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":")).encode("ascii"))
