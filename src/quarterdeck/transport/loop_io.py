"""Pipes read and written by the event loop itself: the fast path.

One readiness callback, one ``os.read`` of 64 KiB, one call into the receiver. A second read in the same callback would
save little and let a flooding session starve its neighbours.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextvars import Context

from .base import LOW_MARK, READ_SIZE, WRITE_LIMIT
from .errors import TransportClosed, WriteOverflow
from .gather import Watcher

SHARED_READ_SIZE = 32 * 1024
"""Read size while other sessions are open: a flood is read in smaller pieces, with the others in between."""
MUCH = 4 * 1024
"""After a read larger than this, others go first: no session at a model's pace sends that much at once."""
ALONE = 2
"""Readers of a program with one session: its stdout and its stderr."""

LAST_READS = 16
"""Reads to empty a pipe that another process keeps open: 1 MiB, the most an unprivileged Linux pipe holds."""


class LoopReader:
    """Delivers a pipe's bytes and then its end, each with one callback in the given context."""

    __slots__ = ("_descriptor", "_on_end", "_paused", "_watcher", "ended", "on_data")

    _open = 0
    """Number of readers in this process."""

    def __init__(
        self,
        watcher: Watcher,
        context: Context,
        descriptor: int,
        *,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        os.set_blocking(descriptor, False)
        self._watcher = watcher
        self._descriptor = descriptor
        self.on_data = on_data
        """May be changed."""
        self._on_end = on_end
        self._paused = False
        self.ended = False
        LoopReader._open += 1
        watcher.add(descriptor, self._ready, context)

    def _ready(self) -> bool:
        """Whether it was much."""
        size = READ_SIZE if LoopReader._open <= ALONE else SHARED_READ_SIZE
        try:
            data = os.read(self._descriptor, size)
        except BlockingIOError:
            return False
        if data:
            self.on_data(data)
        else:
            self.close()
            self._on_end()
        return len(data) > MUCH

    def pause(self) -> None:
        if not self._paused and not self.ended:
            self._paused = True
            self._watcher.pause(self._descriptor)

    def resume(self) -> None:
        if self._paused and not self.ended:
            self._paused = False
            self._watcher.resume(self._descriptor)

    def take_rest(self) -> None:
        """Deliver what is in the pipe now, although it hasn't ended."""
        for _ in range(LAST_READS):
            if self.ended or self._paused:
                return
            try:
                data = os.read(self._descriptor, READ_SIZE)
            except BlockingIOError:
                return
            if not data:
                return
            self.on_data(data)

    def close(self) -> None:
        if self.ended:
            return
        self.ended = True
        LoopReader._open -= 1
        self._watcher.remove(self._descriptor)
        self.disown()

    def disown(self) -> None:
        """Close only the descriptor: after a fork, the parent shares the loop's selector."""
        self.ended = True
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class Writer:
    """Base of both writers: counts unsent bytes and wakes those waiting for them to drain."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, closed_error: Callable[[], TransportClosed], limit_bytes: int
    ) -> None:
        self._loop = loop
        self._closed_error = closed_error
        self._limit_bytes = limit_bytes
        self._waiting: list[asyncio.Future[None]] = []
        self._finishing = False
        self.unsent_bytes = 0
        self.closed = False

    def _check(self) -> None:
        if self._finishing or self.closed:
            raise self._closed_error()
        if self.unsent_bytes > self._limit_bytes:
            raise WriteOverflow(
                f"Claude Code has not read {self.unsent_bytes} bytes of input; the limit is {self._limit_bytes}. "
                "Await drain() after writing. If it never returns, the process is stuck: close the session."
            )

    async def drain(self) -> None:
        while self.unsent_bytes > LOW_MARK and not self.closed:
            waiter = self._loop.create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            finally:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
        if self.closed and not self._finishing:
            raise self._closed_error()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)


class LoopWriter(Writer):
    """Writes as much as the pipe accepts now, and the rest when it is writable again."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        descriptor: int,
        *,
        closed_error: Callable[[], TransportClosed],
        limit_bytes: int = WRITE_LIMIT,
    ) -> None:
        super().__init__(loop, closed_error, limit_bytes)
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._unsent: list[memoryview] = []

    def write(self, data: bytes) -> None:
        self._check()
        count = 0
        if not self._unsent:
            try:
                count = os.write(self._descriptor, data)
            except BlockingIOError:
                pass
            except OSError as error:  # EPIPE: nobody reads any more
                self.close()
                raise self._closed_error() from error
            if count == len(data):
                return
            self._loop.add_writer(self._descriptor, self._ready)
        self._unsent.append(memoryview(data)[count:])
        self.unsent_bytes += len(data) - count

    def _ready(self) -> None:
        view = self._unsent[0] if len(self._unsent) == 1 else memoryview(b"".join(self._unsent))
        try:
            count = os.write(self._descriptor, view)
        except BlockingIOError:
            return
        except OSError:  # raised for the next writer and everyone who drains
            self.close()
            return
        self.unsent_bytes -= count
        self._unsent = [view[count:]] if count < len(view) else []
        if self.unsent_bytes <= LOW_MARK:
            self._wake()
        if not self._unsent:
            self._loop.remove_writer(self._descriptor)
            if self._finishing:
                self.close()

    def finish(self) -> None:
        """Accept no more; send end-of-file after the rest."""
        self._finishing = True
        if not self._unsent:
            self.close()

    def close(self) -> None:
        """Close immediately; unsent bytes are lost."""
        if self.closed:
            return
        self.closed = True
        if not self._loop.is_closed():
            self._loop.remove_writer(self._descriptor)
            self._wake()
        self._unsent.clear()
        self.unsent_bytes = 0
        self.disown()

    def disown(self) -> None:
        """Close only the descriptor (see ``LoopReader.disown``)."""
        self.closed = True
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
