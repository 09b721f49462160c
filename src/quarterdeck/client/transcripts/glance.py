"""What a list shows of a session, from the first and the last 64 KiB of its transcript.

The official SDK looks into the same two windows, so both lists say the same. Nothing here decodes a line but the one
that holds the first prompt: a key is found by its bytes, which cannot occur inside a JSON string, where quotes are
escaped. Looking for what is not there costs most, and most sessions have neither title nor tag; so these are looked for
in the outline of the window, which has short lines and the beginnings of long ones only. (That is the one difference:
the official SDK takes a ``customTitle`` deep inside some tool's result for the session's title. It is not.)
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from sys import intern
from typing import Any

from .prompt import PromptFinder
from .types import SDKSessionInfo

WINDOW_BYTES = 64 * 1024
SHORT_BYTES = 400
"""A line that is not longer is looked into as a whole."""
BEGINNING_BYTES = 150
"""How much of a longer one is: records of titles, prompts and tags say what they are at once."""

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def windows(path: str, size: int) -> tuple[bytes, bytes] | None:
    """The first and the last bytes of a file that had ``size`` bytes; None if it is empty or cannot be read."""
    try:
        file = os.open(path, _OPEN_FLAGS)
    except OSError:
        return None
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
    finally:
        os.close(file)


class Window:
    """Values of keys in a piece of a transcript."""

    __slots__ = ("_outlined", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._outlined: bytes | None = None

    def mentions(self, mark: bytes) -> bool:
        """Is it in the outline?"""
        if self._outlined is None:
            self._outlined = _outline(self.data)
        return self._outlined.rfind(mark) >= 0  # takes half the time of ``in``

    def first(self, key: bytes) -> str | None:
        mark = b'"' + key + b'":'
        at = self.data.find(mark)
        while at >= 0:
            found = self._value(at + len(mark))
            if found is not None:
                return found
            at = self.data.find(mark, at + 1)  # that one has no text, or is cut off
        return None

    def last(self, key: bytes) -> str | None:
        mark = b'"' + key + b'":'
        at = self.data.rfind(mark)
        while at >= 0:
            found = self._value(at + len(mark))
            if found is not None:
                return found
            at = self.data.rfind(mark, 0, at)
        return None

    def _value(self, at: int) -> str | None:
        """The text that follows a colon, with or without a space: other programs than the CLI write one."""
        if self.data.startswith(b'"', at):
            return self._string(at + 1)
        return self._string(at + 2) if self.data.startswith(b' "', at) else None

    def _string(self, start: int) -> str | None:
        data, end = self.data, self.data.find(b'"', start)
        while end > start and data[end - 1] == 0x5C and _backslashes(data, start, end) % 2:
            end = data.find(b'"', end + 1)
        return None if end < 0 else _unescape(data[start:end].decode("utf-8", "replace"))

    def tag(self) -> str | None:
        """Of the last record that starts as a tag does: the word alone stands in many tool calls."""
        opening = b'{"type":"tag"'
        if not self.mentions(opening):
            return None
        at = self.data.rfind(b"\n" + opening) + 1
        if not at and not self.data.startswith(opening):
            return None
        return Window(_line_at(self.data, at)).last(b"tag") or None


def _outline(data: bytes) -> bytes:
    """Short lines, and the beginnings of long ones that are about the session: those of messages begin otherwise."""
    pieces: list[bytes] = []
    find, is_about = data.find, data.startswith
    kept = start = 0
    while (end := find(b"\n", start)) >= 0:
        if end - start > SHORT_BYTES:
            if kept < start:
                pieces.append(data[kept:start])
            if is_about(b'{"type"', start):
                pieces.append(data[start : start + BEGINNING_BYTES])
            kept = end + 1
        start = end + 1
    pieces.append(data[kept : start + BEGINNING_BYTES])
    return b"".join(pieces)


def _backslashes(data: bytes, start: int, end: int) -> int:
    count = 0
    while end - count > start and data[end - count - 1] == 0x5C:
        count += 1
    return count


def _line_at(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    return data[start:] if end < 0 else data[start:end]


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        value: Any = json.loads(f'"{text}"')
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def epoch_ms(timestamp: Any) -> int | None:
    """An ISO 8601 time in milliseconds since 1970; None if it is no such thing."""
    if not isinstance(timestamp, str):
        return None
    try:
        return int(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def _title(head: Window, tail: Window) -> str | None:
    """The one a person gave, else the one the model made up."""
    titled = [window for window in ((tail,) if head is tail else (tail, head)) if window.mentions(b'Title":')]
    given = (window.last(key) for key in (b"customTitle", b"aiTitle") for window in titled)
    return next(filter(None, given), None) if titled else None


def _last_words(tail: Window) -> str | None:
    """What the person asked last, or what the session was about: as far as the CLI has written it down."""
    for key in (b"lastPrompt", b"summary"):
        found = tail.last(key) if tail.mentions(b'"' + key + b'":') else None
        if found:
            return found
    return None


def title_of(head: bytes, tail: bytes) -> str | None:
    """The title, or the first prompt for want of one."""
    return _title(Window(head), Window(tail)) or PromptFinder().find(head)


def session_info(
    session_id: str, data: tuple[bytes, bytes], *, mtime: int, size: int | None, project: str | None
) -> SDKSessionInfo | None:
    """None for a sub-agent's transcript and for one that has nothing to show."""
    first_line = _line_at(data[0], 0)
    if b'"isSidechain":true' in first_line or b'"isSidechain": true' in first_line:
        return None
    head = Window(data[0])
    tail = head if data[1] is data[0] else Window(data[1])
    title, prompt = _title(head, tail), PromptFinder().find(head.data)
    summary = title or _last_words(tail) or prompt
    if not summary:
        return None
    branch, cwd = tail.last(b"gitBranch") or head.first(b"gitBranch"), head.first(b"cwd")
    return SDKSessionInfo(
        session_id=session_id,
        summary=summary,
        last_modified=mtime,
        file_size=size,
        custom_title=title,
        first_prompt=prompt,
        git_branch=intern(branch) if branch else None,  # ten thousand sessions have a handful of these
        cwd=intern(cwd) if cwd else project or None,
        tag=tail.tag(),
        created_at=epoch_ms(head.first(b"timestamp")),
    )
