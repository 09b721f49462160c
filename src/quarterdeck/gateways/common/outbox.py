"""What waits for one client, bounded: who fills it waits, and reads the log later. A slow client slows only itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

Write = Callable[[list[bytes]], Awaitable[None]]
"""Sends a batch as one message."""


class Outbox:
    """Parts in order; ``deliver`` takes all there are and sends them as one."""

    __slots__ = (
        *("messages", "parts", "stalled", "_closed", "_delivering", "_filled", "_heartbeat", "_heartbeat_s"),
        *(
            "_limit_bytes",
            "_parts",
            "_room",
            "_sending_bytes",
            "_sending_since",
            "_sent_at",
            "_size",
            "_stalled_s",
            "_timer",
        ),
    )

    def __init__(self, *, limit_bytes: int, heartbeat_s: float, stalled_s: float, heartbeat: bytes = b"") -> None:
        """Without a ``heartbeat`` nothing is sent while idle."""
        self._limit_bytes = limit_bytes
        self._heartbeat_s = heartbeat_s
        self._heartbeat = heartbeat
        self._stalled_s = stalled_s
        self._parts: list[bytes] = []
        self._size = 0
        self._filled: asyncio.Future[None] | None = None
        """What ``deliver`` waits for."""
        self._room: list[asyncio.Future[None]] = []
        """Those who wait until there is room."""
        self._closed = False
        self._sent_at = 0.0
        self._sending_since: float | None = None
        self._sending_bytes = 0
        self._delivering: asyncio.Task[Any] | None = None
        self.stalled = False
        """It took nothing for so long that it was given up."""
        self.messages = 0
        self.parts = 0

    @property
    def full(self) -> bool:
        return self._size >= self._limit_bytes

    @property
    def waiting_bytes(self) -> int:
        """What the client has not taken, with what is being sent."""
        return self._size + self._sending_bytes

    def put(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._filled is not None:
            self._wake()

    async def room(self) -> None:
        """Wait for room. Call this before putting something, or when it is ``full``."""
        while self.full and not self._closed:
            waiting = asyncio.get_running_loop().create_future()
            self._room.append(waiting)
            await waiting

    def close(self, *last: bytes) -> None:
        """Send what is queued and this, then end."""
        for part in last:
            self.put(part)
        self._closed = True
        self._wake()
        self._make_room()

    def _wake(self) -> None:
        filled, self._filled = self._filled, None
        if filled is not None and not filled.done():
            filled.set_result(None)

    def _make_room(self) -> None:
        if self._room:
            waiting, self._room = self._room, []
            for one in waiting:
                if not one.done():
                    one.set_result(None)

    async def deliver(self, write: Write) -> None:
        """Sends until it is closed and empty, or the client takes nothing for too long."""
        loop = asyncio.get_running_loop()
        self._delivering = asyncio.current_task()
        self._sent_at = loop.time()
        self._timer = loop.call_later(self._heartbeat_s, self._beat)
        try:
            while True:
                if not self._parts:
                    if self._closed:
                        return
                    self._filled = loop.create_future()
                    await self._filled
                    continue
                parts, self._parts = self._parts, []
                self._sending_bytes, self._size = self._size, 0
                self.messages += 1
                self.parts += len(parts)
                self._sending_since = loop.time()
                await write(parts)
                self._sending_since, self._sent_at, self._sending_bytes = None, loop.time(), 0
                self._make_room()
        except asyncio.CancelledError:
            if not self.stalled:
                raise
        finally:
            self._timer.cancel()

    def _beat(self) -> None:
        """One timer for both: send a heartbeat when idle, give up on clients that read nothing."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._sending_since is not None:
            if now - self._sending_since >= self._stalled_s and self._delivering is not None:
                self.stalled = True
                self._delivering.cancel()
                return
        elif self._heartbeat and not self._parts and now - self._sent_at >= self._heartbeat_s * 0.9:
            self.put(self._heartbeat)
        self._timer = loop.call_later(self._heartbeat_s, self._beat)
