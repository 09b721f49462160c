"""``Line``: what goes to one client, in order. Whoever has something writes it at once, unless another one is at it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from quarterdeck.host import HostError

from .settings import Settings

Write = Callable[[list[bytes]], Awaitable[None]]
"""Sends what came together."""


class Line:
    """No task of its own: an event costs one wake-up on its way, that of whoever watches.

    What another one sends during a write waits, and the one who writes takes it along. There is a limit to that; beyond
    it the sender waits until there is room. Nobody watches during a write: the host keeps what happens meanwhile, and
    a watcher that is late gets it together, or reads the log.
    """

    def __init__(self, settings: Settings, write: Write) -> None:
        self._write = write
        self._limit_bytes = settings.outbox_bytes
        self._stalled_s = settings.stalled_s
        self._parts: list[bytes] = []
        self._size = 0
        self._busy = self._finished = False
        self._since: float | None = None
        """When the write that is under way began."""
        self._emptied: list[asyncio.Future[None]] = []
        """Those who wait for room, or for the end of what is written."""
        loop = asyncio.get_running_loop()
        self._now = loop.time
        self.over: asyncio.Future[None] = loop.create_future()
        """Raises why nothing more can be written."""
        self._timer = loop.call_later(self._stalled_s / 4, self._look)

    async def send(self, parts: Iterable[bytes]) -> None:
        """Each part is made when there is room for it. Returns when they are written, or another one will do it."""
        for part in parts:
            self._parts.append(part)
            self._size += len(part)
            if self._size >= self._limit_bytes:
                await self._pass_on()
        await self._pass_on()

    async def _pass_on(self) -> None:
        """Writes everything there is; where another one does that, waits until there is room."""
        if self._finished:
            await asyncio.get_running_loop().create_future()  # whoever comes too late is cancelled
        while self._busy and self._size >= self._limit_bytes:
            await self._next_emptied()
        if not self._busy:
            await self._write_all()

    async def _write_all(self) -> None:
        self._busy = True
        try:
            while self._parts:
                parts, self._parts, self._size = self._parts, [], 0
                self._since = self._now()
                await self._write(parts)
                if self._emptied:
                    self._wake()
        except Exception as error:
            self._end(error)
            raise
        finally:
            self._busy, self._since = False, None
            if self._emptied:
                self._wake()

    async def finish(self) -> None:
        """Take nothing more, and wait until all there is has been written."""
        self._finished = True
        while self._busy:
            await self._next_emptied()

    async def _next_emptied(self) -> None:
        emptied = asyncio.get_running_loop().create_future()
        self._emptied.append(emptied)
        await emptied

    def _wake(self) -> None:
        waiting, self._emptied = self._emptied, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def close(self) -> None:
        self._timer.cancel()
        if not self.over.cancel() and not self.over.cancelled():
            self.over.exception()  # whoever ran it may have been cancelled before

    def _end(self, error: Exception) -> None:
        if not self.over.done():
            self.over.set_exception(error)

    def _look(self) -> None:
        if self._since is not None and self._now() - self._since >= self._stalled_s:
            self._end(HostError("unavailable", "The client read nothing for too long.", hint="Reconnect."))
            return
        self._timer = asyncio.get_running_loop().call_later(self._stalled_s / 4, self._look)
