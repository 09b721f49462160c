"""What a list shows of a session, from the first and the last 64 KiB of its transcript.

The official SDK looks into the same two windows, so both lists say the same. Nothing here decodes a line but the one
that holds the first prompt: a key is found by its bytes, which cannot occur inside a JSON string, where quotes are
escaped. Looking for something that is not there costs most, so one look answers for as many keys as possible.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import Any

import msgspec

from .prompt import PromptFinder
from .types import SDKSessionInfo

WINDOW_BYTES = 64 * 1024

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

    __slots__ = ("_has_titles", "_spaced", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._spaced: bool | None = None
        self._has_titles: bool | None = None

    @property
    def spaced(self) -> bool:
        """Is there JSON with a space after the colon? Such is written by other programs than the CLI."""
        if self._spaced is None:
            self._spaced = b'": "' in self.data
        return self._spaced

    def first(self, key: bytes) -> str | None:
        found = self._forward(b'"' + key + b'":"')
        if found is None and self.spaced:
            found = self._forward(b'"' + key + b'": "')
        return found

    def last(self, key: bytes) -> str | None:
        """The last value; the last with a space, if there is one (as the official SDK has it)."""
        found = self._backward(b'"' + key + b'": "') if self.spaced else None
        return self._backward(b'"' + key + b'":"') if found is None else found

    def last_title(self, key: bytes) -> str | None:
        """``last`` for ``customTitle`` and ``aiTitle``: most sessions have neither."""
        if self._has_titles is None:
            self._has_titles = b'Title":' in self.data
        return self.last(key) if self._has_titles else None

    def _forward(self, opening: bytes) -> str | None:
        at = self.data.find(opening)
        return None if at < 0 else self._string(at + len(opening))

    def _backward(self, opening: bytes) -> str | None:
        at = self.data.rfind(opening)
        while at >= 0:
            found = self._string(at + len(opening))
            if found is not None:
                return found
            at = self.data.rfind(opening, 0, at)  # the last one is cut off by the end of the window
        return None

    def _string(self, start: int) -> str | None:
        data, end = self.data, self.data.find(b'"', start)
        while end > start and data[end - 1] == 0x5C and _backslashes(data, start, end) % 2:
            end = data.find(b'"', end + 1)
        return None if end < 0 else _unescape(data[start:end].decode("utf-8", "replace"))

    def tag(self) -> str | None:
        """Of the last record that starts as a tag does: the word alone stands in many tool calls."""
        opening = b'{"type":"tag"'
        at = self.data.rfind(b"\n" + opening) + 1
        if not at and not self.data.startswith(opening):
            return None
        return Window(_line_at(self.data, at)).last(b"tag") or None


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


class Facts(msgspec.Struct, gc=False):
    """What was found, before it is known whether there is anything to show."""

    title: str | None
    first_prompt: str | None
    summary: str | None


def _facts(head: Window, tail: Window) -> Facts:
    title = (
        tail.last_title(b"customTitle")
        or (head is not tail and head.last_title(b"customTitle"))
        or tail.last_title(b"aiTitle")
        or (head is not tail and head.last_title(b"aiTitle"))
        or None
    )
    prompt = PromptFinder(spaced=head.spaced).find(head.data)
    return Facts(title, prompt, title or tail.last(b"lastPrompt") or tail.last(b"summary") or prompt)


def title_of(head: bytes, tail: bytes) -> str | None:
    """The title, or the first prompt for want of one."""
    found = _facts(Window(head), Window(tail))
    return found.title or found.first_prompt


def session_info(
    session_id: str, data: tuple[bytes, bytes], *, mtime: int, size: int | None, project: str | None
) -> SDKSessionInfo | None:
    """None for a sub-agent's transcript and for one that has nothing to show."""
    first_line = _line_at(data[0], 0)
    if b'"isSidechain":true' in first_line or b'"isSidechain": true' in first_line:
        return None
    head = Window(data[0])
    tail = head if data[1] is data[0] else Window(data[1])
    facts = _facts(head, tail)
    if not facts.summary:
        return None
    return SDKSessionInfo(
        session_id=session_id,
        summary=facts.summary,
        last_modified=mtime,
        file_size=size,
        custom_title=facts.title,
        first_prompt=facts.first_prompt,
        git_branch=tail.last(b"gitBranch") or head.first(b"gitBranch") or None,
        cwd=head.first(b"cwd") or project or None,
        tag=tail.tag(),
        created_at=epoch_ms(head.first(b"timestamp")),
    )
