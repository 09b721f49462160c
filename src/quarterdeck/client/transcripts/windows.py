"""Facts about a session, from the first and the last 64 KiB of its transcript.

The official SDK looks into the same two windows, so both lists say the same. Nothing here decodes a line but the one
that holds the first prompt: a key is found by its bytes, which cannot occur inside a JSON string, where quotes are
escaped. Looking for what is not there costs most, and most sessions have neither title nor tag; so these are looked for
in the outline of the window, which has short lines and the beginnings of long ones only. (That is the one difference:
the official SDK takes a ``customTitle`` deep inside some tool's result for the session's title. It is not.)
"""

from __future__ import annotations

import os
from io import BytesIO
from sys import intern

from .prompt import PromptFinder, raw_decode
from .summary import epoch_ms

WINDOW_BYTES = 64 * 1024
SHORT_BYTES = 400
"""A line that is not longer is looked into as a whole."""
BEGINNING_BYTES = 150
"""How much of a longer one is: records of titles, prompts and tags say what they are at once."""

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_BACKSLASH = 0x5C


def open_file(path: str) -> int:
    """A descriptor for reading. Raises ``OSError``."""
    return os.open(path, _OPEN_FLAGS)


def windows(file: int, size: int) -> tuple[bytes, bytes] | None:
    """The first and the last bytes of an open file that had ``size`` bytes; None if it is empty or cannot be read."""
    try:
        head = os.read(file, WINDOW_BYTES)
        if not head:
            return None
        if size <= WINDOW_BYTES:
            return head, head
        os.lseek(file, size - WINDOW_BYTES, os.SEEK_SET)
        return head, os.read(file, WINDOW_BYTES)
    except OSError:
        return None


def windows_of(data: bytes) -> tuple[bytes, bytes]:
    """The windows of a transcript that is in memory."""
    head = data[:WINDOW_BYTES]
    return head, head if len(data) <= WINDOW_BYTES else data[-WINDOW_BYTES:]


def _outline(data: bytes) -> bytes:
    """Short lines, and the beginnings of long ones that are about the session: those of messages begin otherwise."""
    return b"".join(
        [
            line if len(line) <= SHORT_BYTES else line[:BEGINNING_BYTES]
            for line in BytesIO(data)  # cuts lines twice as fast as ``split``
            if len(line) <= SHORT_BYTES or b'{"t' < line < b'{"u'  # {"type": …, at a third of what ``startswith`` takes
        ]
    )


def _mark(key: str) -> bytes:
    return f'"{key}":'.encode()


_ANY_TITLE = b'Title":'
_CUSTOM_TITLE, _AI_TITLE, _TAG = _mark("customTitle"), _mark("aiTitle"), _mark("tag")
_LAST_PROMPT, _SUMMARY = _mark("lastPrompt"), _mark("summary")
_BRANCH, _CWD, _TIMESTAMP = _mark("gitBranch"), _mark("cwd"), _mark("timestamp")
_TAG_OPENING = b'{"type":"tag"'
_ENTRYPOINT, _KIND, _PARENT = _mark("entrypoint"), _mark("sessionKind"), _mark("parentUuid")
_PROGRAMS = ("sdk-cli", "sdk-ts", "sdk-py")
_DAEMONS = ("daemon", "daemon-worker")


def _first(data: bytes, mark: bytes) -> str | None:
    """The first text under a key."""
    at = data.find(mark)
    while at >= 0:
        found = _value(data, at + len(mark))
        if found is not None:
            return found
        at = data.find(mark, at + 1)  # that one has no text, or is cut off
    return None


def _last(data: bytes, mark: bytes) -> str | None:
    at = data.rfind(mark)
    while at >= 0:
        found = _value(data, at + len(mark))
        if found is not None:
            return found
        at = data.rfind(mark, 0, at)
    return None


def _value(data: bytes, at: int) -> str | None:
    """The text after a colon, with or without a space: programs other than the CLI write one."""
    start = at + 1
    if data[at:start] == b" ":
        start += 1
    if data[start - 1 : start] != b'"':
        return None
    end = data.find(b'"', start)
    while end > start and data[end - 1] == _BACKSLASH and _backslashes(data, start, end) % 2:
        end = data.find(b'"', end + 1)
    return None if end < 0 else _unescape(data[start:end].decode("utf-8", "replace"))


def _backslashes(data: bytes, start: int, end: int) -> int:
    count = 0
    while end - count > start and data[end - count - 1] == _BACKSLASH:
        count += 1
    return count


def _unescape(text: str) -> str:
    """As it is if it has escapes that JSON does not know."""
    if "\\" not in text:
        return text
    try:
        return str(raw_decode(f'"{text}"')[0])
    except ValueError:
        return text


def _line_at(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    return data[start:] if end < 0 else data[start:end]


class WindowFacts:
    """The facts that the two windows show."""

    __slots__ = ("_outline", "head", "tail")

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head
        self.tail = tail
        self._outline = _outline(tail)

    def is_sidechain(self) -> bool:
        line = _line_at(self.head, 0)
        return b'"isSidechain"' in line and (b'"isSidechain":true' in line or b'"isSidechain": true' in line)

    def is_programmatic(self) -> bool:
        """Was it started by a program or a daemon, not by a person? By what its records say of their entry point."""
        if (_first(self.head, _ENTRYPOINT) or _last(self.tail, _ENTRYPOINT)) in _PROGRAMS:
            return True
        at = self.head.find(_PARENT)  # the kind is that of the first message, if there is one
        line = self.head if at < 0 else _line_at(self.head, self.head.rfind(b"\n", 0, at) + 1)
        return _first(line, _KIND) in _DAEMONS

    def title(self) -> str | None:
        given = self._last(_CUSTOM_TITLE)
        if given:
            return given
        titled = [self.tail] if self._outline.rfind(_ANY_TITLE) >= 0 else []
        if self.head is not self.tail and _outline(self.head).rfind(_ANY_TITLE) >= 0:
            titled.append(self.head)
        found = (_last(data, mark) for mark in (_CUSTOM_TITLE, _AI_TITLE) for data in titled)
        return next(filter(None, found), None) if titled else None

    def _last(self, mark: bytes) -> str | None:
        """In the last window, if its outline has the mark."""
        # ``rfind`` takes half the time of ``in``.
        return _last(self.tail, mark) if self._outline.rfind(mark) >= 0 else None

    def tag(self) -> str | None:
        """Of the last record that starts like a tag: the word itself occurs in many tool calls."""
        if self._outline.rfind(_TAG_OPENING) < 0:
            return None
        at = self.tail.rfind(b"\n" + _TAG_OPENING) + 1
        if not at and not self.tail.startswith(_TAG_OPENING):
            return None
        return _last(_line_at(self.tail, at), _TAG) or None

    def topic(self) -> str | None:
        return self._last(_LAST_PROMPT) or self._last(_SUMMARY)

    def prompt(self) -> str | None:
        return PromptFinder().find(self.head)

    def branch(self) -> str | None:
        found = _last(self.tail, _BRANCH) or _first(self.head, _BRANCH)
        return intern(found) if found else None  # ten thousand sessions have a handful of these

    def cwd(self) -> str | None:
        found = _first(self.head, _CWD)
        return intern(found) if found else None

    def created_at(self) -> int | None:
        return epoch_ms(_first(self.head, _TIMESTAMP))
