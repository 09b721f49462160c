"""``Line``: what goes to one client, in order. A write begins at once, and nobody waits for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from quarterdeck.host import HostError

from .settings import Settings

Form = Callable[[list[bytes]], list[bytes]]
"""What came together, as messages."""
Write = Callable[[bytes], Coroutine[Any, Any, None]]
"""Sends a message."""


LOOKS = 4
"""Within the time after which a client is given up."""


class Line:
    """No task of its own: an event costs one wake-up on its way, that of whoever watches.

    The sender's own call begins a write and runs it up to its first wait; when that is over, the write continues. So
    whoever watches listens again during a write. What is sent meanwhile goes together when it is over. There is a limit
    to that; beyond it the sender waits until there is room: the host keeps what happens meanwhile, and a watcher that
    is late gets it together, or reads the log.
    """

    def __init__(self, settings: Settings, form: Form, write: Write, *, first: bytes = b"") -> None:
        """``first`` is a message, to be written by the first ``flush``."""
        self._form = form
        self._write = write
        self._limit_bytes = settings.outbox_bytes
        self._stalled_s = settings.stalled_s
        self._parts: list[bytes] = []
        self._size = 0
        self._messages = [first] if first else []
        """Those to be written next, the last one first."""
        self._finished = False
        self._writing: Coroutine[Any, Any, None] | None = None
        """The write that is under way …"""
        self._writing_bytes = 0
        self._waits_for: asyncio.Future[Any] | None = None
        """… and continues when this is done."""
        self._looked_at: Coroutine[Any, Any, None] | None = None
        """The write that was under way at the last look …"""
        self._looks = 0
        """… and at so many before it."""
        self._waiting: list[asyncio.Future[None]] = []
        """Those who wait for room, or for the end of what is written."""
        self._loop = loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = loop.create_future()
        """Raises why nothing more can be written."""
        self._timer = loop.call_later(self._stalled_s / LOOKS, self._look)

    @property
    def waiting_bytes(self) -> int:
        """What the client has not taken, with the write that is under way."""
        return self._size + sum(map(len, self._messages)) + (0 if self._writing is None else self._writing_bytes)

    async def send(self, part: bytes) -> None:
        """Returns when its write has begun, or the end of another one will begin it."""
        if self.put(part):
            await self.room()
        self.flush()

    def put(self, part: bytes) -> bool:
        """To be written by ``flush``. Whether to wait for ``room`` before making the next one."""
        self._parts.append(part)
        self._size += len(part)
        return self._size >= self._limit_bytes or self._finished

    async def room(self) -> None:
        """Whoever comes too late is not let go on, and is cancelled."""
        self.flush()
        while self._size >= self._limit_bytes or self._finished:
            await self._change()

    def flush(self) -> None:
        """Writes what there is, unless a write is under way, whose end will do it."""
        if self._writing is None and not self._finished:
            self._go_on()

    def _go_on(self, _: Any = None) -> None:
        """Runs what is to be written until it waits for something, as a task would, but at once."""
        writing = self._writing
        try:
            while writing is not None or (writing := self._next()) is not None:
                try:
                    self._waits_for = waits_for = writing.send(None)
                except StopIteration:
                    self._writing = writing = None
                    continue
                if waits_for is None:
                    self._loop.call_soon(self._go_on)
                else:
                    waits_for._asyncio_future_blocking = False
                    waits_for.add_done_callback(self._go_on)
                return
        except asyncio.CancelledError:
            self._fail(ConnectionAbortedError("The write was cancelled."))
        except Exception as error:  # noqa: BLE001  # whatever it is, ``over`` raises it
            self._fail(error)
        if self._waiting:
            self._wake()

    def _next(self) -> Coroutine[Any, Any, None] | None:
        """The next write."""
        messages = self._messages
        while not messages:
            parts = self._parts
            if not parts:
                return None
            self._parts, self._size = [], 0
            self._messages = messages = self._form(parts)
            if len(messages) > 1:
                messages.reverse()
            if self._waiting:
                self._wake()
        message = messages.pop()
        self._writing_bytes = len(message)
        self._writing = writing = self._write(message)
        return writing

    async def finish(self) -> None:
        """Take nothing more, and wait until all there is has been written."""
        self._finished = True
        while self._writing is not None:
            await self._change()

    async def _change(self) -> None:
        change = self._loop.create_future()
        self._waiting.append(change)
        await change

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def close(self) -> None:
        """Nothing more is written, and what is under way is left."""
        self._timer.cancel()
        self._finished = True
        writing, self._writing = self._writing, None
        self._parts, self._messages = [], []
        if writing is not None:
            if self._waits_for is not None:
                self._waits_for.cancel()
            writing.close()
        if not self.over.cancel() and not self.over.cancelled():
            self.over.exception()  # whoever ran it may have been cancelled before

    def _fail(self, error: Exception) -> None:
        self._writing = None
        self._end(error)

    def _end(self, error: Exception) -> None:
        self._finished = True
        if not self.over.done():
            self.over.set_exception(error)

    def _look(self) -> None:
        """Whether it is still the same write: to note when each one began would cost all of them."""
        writing = self._writing
        self._looks = self._looks + 1 if writing is not None and writing is self._looked_at else 0
        self._looked_at = writing
        if self._looks >= LOOKS:
            self._end(HostError("unavailable", "The client read nothing for too long.", hint="Reconnect."))
            return
        self._timer = self._loop.call_later(self._stalled_s / LOOKS, self._look)
