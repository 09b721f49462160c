"""Pipes read and written by threads, where the event loop cannot watch them (the Proactor loop of Windows).

A blocked ``os.read`` can't be interrupted portably, so each thread owns its descriptor and closes it itself. No other
thread can close it, and let its number be reused, during a read. A thread ends with its pipe, when the last process
that holds the other end exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable

from .base import LOW_MARK, READ_SIZE, WRITE_LIMIT
from .errors import TransportClosed
from .loop_io import Writer

READ_AHEAD = 4
"""Chunks read ahead of delivery: enough to keep thread and loop busy, with little memory."""


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *arguments: object) -> None:
    """Run in the loop's thread; does nothing if the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback, *arguments)


class ThreadReader:
    """Like ``LoopReader``, with a thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        descriptor: int,
        *,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self.on_data = on_data
        self._on_end = on_end
        self._paused = False
        self._arrived: deque[bytes] = deque()
        self._credits = threading.Semaphore(READ_AHEAD)
        self.ended = False
        threading.Thread(target=self._run, name="quarterdeck-read", daemon=True).start()

    def _run(self) -> None:
        data = b"-"
        while data:
            self._credits.acquire()
            if self.ended:
                break
            try:
                data = os.read(self._descriptor, READ_SIZE)
            except OSError:  # Windows: the other end is gone
                data = b""
            _post(self._loop, self._take, data)
        self._close_descriptor()  # and no more: posted chunks are still to be delivered

    def _take(self, data: bytes) -> None:
        self._arrived.append(data)
        self._deliver()

    def _deliver(self) -> None:
        while self._arrived and not self._paused and not self.ended:
            data = self._arrived.popleft()
            if data:
                self._credits.release()
                self.on_data(data)
            else:
                self.ended = True
                self._on_end()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._deliver)  # never from inside the receiver's own call

    def take_rest(self) -> None:
        """Does nothing: what was read has been delivered, and reading the rest could block."""
        self._deliver()

    def close(self) -> None:
        self.ended = True
        self._arrived.clear()
        self._credits.release()

    def disown(self) -> None:
        self.ended = True
        self._close_descriptor()

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class ThreadWriter(Writer):
    """Like ``LoopWriter``, with a thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        descriptor: int,
        *,
        closed_error: Callable[[], TransportClosed],
        limit_bytes: int = WRITE_LIMIT,
    ) -> None:
        super().__init__(loop, closed_error, limit_bytes)
        self._descriptor = descriptor
        self._unsent: deque[bytes] = deque()
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="quarterdeck-write", daemon=True).start()

    def write(self, data: bytes) -> None:
        self._check()
        if data:
            with self._changed:
                self._unsent.append(data)
                self.unsent_bytes += len(data)
                self._changed.notify()

    def _run(self) -> None:
        while (data := self._next()) is not None:
            view = memoryview(data)
            while view and not self.closed:
                try:
                    count = os.write(self._descriptor, view[:READ_SIZE])
                except OSError:
                    self.close()
                    break
                view = view[count:]
                with self._changed:
                    self.unsent_bytes = max(0, self.unsent_bytes - count)
                if self.unsent_bytes <= LOW_MARK:
                    _post(self._loop, self._wake)
        self.disown()
        _post(self._loop, self._wake)

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._unsent or self._finishing or self.closed)
            return self._unsent.popleft() if self._unsent and not self.closed else None

    def finish(self) -> None:
        with self._changed:
            self._finishing = True
            self._changed.notify()

    def close(self) -> None:
        """Accept no more and drop unsent bytes. A write in progress ends when the process does."""
        with self._changed:
            self.closed = True
            self._unsent.clear()
            self.unsent_bytes = 0
            self._changed.notify()
        _post(self._loop, self._wake)

    def disown(self) -> None:
        self.closed = True
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
