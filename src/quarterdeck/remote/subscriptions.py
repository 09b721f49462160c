"""Streams that survive reconnects: each is resubscribed after its cursor.

A slow reader doesn't grow this program's memory: above a limit the stream is dropped, and resumes at the same place
when the reader has caught up.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import msgspec

from quarterdeck.host.errors import HostError

from .errors import error_of

WAITING = 5_000
WAITING_BYTES = 16 * 1024 * 1024
"""Limit on what may wait for a reader."""


class Head(msgspec.Struct):
    """The fields that every message from the host has."""

    op: str
    ref: int | None = None
    seq: int | None = None
    epoch: str | None = None
    pos: int | None = None


class Behind(msgspec.Struct, frozen=True, kw_only=True):
    """A stream whose reader is so slow that the rest waits at the host."""

    stream: str
    """The operation, e.g. ``watch_session``."""
    session_id: str | None
    waiting: int
    """How much the reader hasn't read yet. 0: it has caught up, and the stream continues."""


Told: TypeAlias = tuple[str, msgspec.Raw]
"""A received message: its kind and content."""


class Subscription:
    """One stream, from its first message until its reader leaves."""

    def __init__(self, asked: dict[str, Any]) -> None:
        """``asked`` is the message that starts it."""
        self._asked = asked
        self.ref = 0
        self._waiting: deque[Told | HostError | None] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self.is_behind = False
        """It was dropped until the reader has read what waits."""

    # What differs by stream

    def cursor(self) -> dict[str, Any]:
        """Where to continue."""
        return {}

    def noted(self, head: Head) -> bool:
        """Move the cursor; False for duplicates."""
        return True

    # For the link

    def message(self) -> bytes:
        self.is_behind = False
        return msgspec.json.encode({**self._asked, **self.cursor(), "ref": self.ref})

    def take(self, head: Head, part: msgspec.Raw) -> None:
        if head.op == "end":
            self._put(None)
        elif head.op == "error":
            self._put(error_of(part) or HostError("unavailable", "The host ended the stream."))
        elif self.noted(head):
            self._size += len(memoryview(part))
            self._put((head.op, part.copy()))
            self.is_behind = len(self._waiting) >= WAITING or self._size >= WAITING_BYTES

    def fail(self, error: HostError) -> None:
        self._put(error)

    def _put(self, one: Told | HostError | None) -> None:
        self._waiting.append(one)
        self._filled.set()

    # For the reader

    @property
    def drained(self) -> bool:
        return not self._waiting

    def behind(self) -> Behind:
        return Behind(stream=self._asked["op"], session_id=self._asked.get("session_id"), waiting=len(self._waiting))

    async def next(self) -> Told | None:
        """The next item; None at the end. Raises ``HostError``."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        one = self._waiting.popleft()
        if isinstance(one, HostError):
            raise one
        if one is not None:
            self._size -= len(memoryview(one[1]))
        return one

    def __aiter__(self) -> AsyncIterator[Told]:
        return self._all()

    async def _all(self) -> AsyncIterator[Told]:
        while (one := await self.next()) is not None:
            yield one


class SessionSubscription(Subscription):
    """Frames of one session. The cursor is ``EPOCH-SEQ``."""

    _epoch: str | None = None
    _seq: int | None = None
    _greeted = False

    @property
    def session(self) -> str:
        return str(self._asked.get("session_id", ""))

    @property
    def seq(self) -> int:
        """The last row received."""
        return self._seq or 0

    def cursor(self) -> dict[str, Any]:
        return {} if self._seq is None else {"after": f"{self._epoch}-{self._seq}"}

    def noted(self, head: Head) -> bool:
        if head.op == "hello":
            if self._epoch is None or self._seq is None:
                self._epoch = head.epoch
            again, self._greeted = self._greeted, True
            return again and bool(self._asked.get("previews", True))
        if head.op == "gap":
            self._epoch, self._seq = head.epoch, head.seq
        elif head.op == "frame" and head.seq is not None:
            if self._seq is not None and head.seq <= self._seq:
                return False
            self._seq = head.seq
        return True


class HostSubscription(Subscription):
    """Changes of all sessions and approvals. The cursor is their position."""

    _pos: int | None = None

    def cursor(self) -> dict[str, Any]:
        return {} if self._pos is None else {"after": self._pos}

    def noted(self, head: Head) -> bool:
        again = self._pos is not None and head.op == "hello"
        if head.pos is not None:
            if head.op not in ("hello", "gap") and self._pos is not None and head.pos <= self._pos:
                return False
            if not again:
                self._pos = head.pos
        return not again
