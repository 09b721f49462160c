"""Two transports connected to each other, in one event loop and without a process.

What one end writes, the other receives: one chunk per loop iteration, as from a pipe, and nothing while it is paused.
Each end *is* the other's process, which exits when its end closes.
"""

from __future__ import annotations

import asyncio
import signal
from collections import deque

from .base import DEFAULT_GRACE, LOW_MARK, READ_SIZE, WRITE_LIMIT, ExitStatus, Grace, Receiver
from .errors import TransportClosed, WriteOverflow


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Return two ends; start each with its own receiver."""
    left, right = MemoryTransport(), MemoryTransport()
    left._peer, right._peer = right, left
    return left, right


class MemoryTransport:
    """One end of a ``memory_pair()``."""

    _peer: MemoryTransport

    def __init__(self) -> None:
        self._receiver: Receiver | None = None
        self._arrived: deque[bytes] = deque()
        self._arrived_bytes = 0
        self._paused = False
        self._scheduled = False
        self._input_closed = False
        self._status: ExitStatus | None = None
        self._stderr = ""
        self._eof_told = False
        self._room = asyncio.Event()
        self._done = asyncio.Event()

    pid = None

    @property
    def stderr_tail(self) -> str:
        return self._stderr

    def write_stderr(self, text: str) -> None:
        """Write to stderr, as the process that the other end sees."""
        self._peer._stderr = (self._peer._stderr + text)[-READ_SIZE:]

    def exit(self, status: ExitStatus) -> None:
        """Exit, as the process that the other end sees."""
        self.close_input()
        self._peer._end(status)

    async def start(self, receiver: Receiver) -> None:
        if self._receiver is not None:
            raise TransportClosed("This transport was already started; create a new pair.")
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._schedule()

    def write(self, data: bytes) -> None:
        if self._input_closed or self._status is not None:
            raise TransportClosed("The other end is closed and accepts no more input. Create a new pair.")
        if self._peer._arrived_bytes > WRITE_LIMIT:
            raise WriteOverflow(
                f"The other end has not read {self._peer._arrived_bytes} bytes. Await drain() after writing."
            )
        for start in range(0, len(data), READ_SIZE):
            self._peer._arrived.append(data[start : start + READ_SIZE])
        self._peer._arrived_bytes += len(data)
        self._peer._schedule()

    async def drain(self) -> None:
        while self._peer._arrived_bytes > LOW_MARK and self._status is None:
            self._room.clear()
            await self._room.wait()
        if self._status is not None and not self._input_closed:
            raise TransportClosed("The other end is closed and accepts no more input. Create a new pair.")

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._schedule()

    def close_input(self) -> None:
        self._input_closed = True
        self._peer._schedule()

    async def wait(self) -> ExitStatus:
        await self._done.wait()
        return self._status or ExitStatus()

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        """Send end-of-file, give the other end time to close, then end both."""
        self.close_input()
        self._peer._end(ExitStatus(code=0))
        if self._paused:  # nobody will read it any more
            self._arrived.clear()
            self._arrived_bytes = 0
            self.resume_reading()
        try:
            async with asyncio.timeout(grace.eof_s + grace.term_s):
                await self._done.wait()
        except TimeoutError:
            self.abandon()
        except BaseException:
            self.abandon()
            raise
        return self._status or ExitStatus()

    def abandon(self) -> None:
        """End both immediately: unread bytes are lost, as after SIGKILL."""
        for end in (self, self._peer):
            end._input_closed = True
            end._arrived.clear()
            end._arrived_bytes = 0
            end._paused = False
            end._end(ExitStatus(signal=signal.SIGKILL))

    def _end(self, status: ExitStatus) -> None:
        """The other end has closed, with this status."""
        if self._status is None:
            self._status = status
        if self._receiver is None:  # never started: nobody to notify
            self._done.set()
        self._room.set()
        self._peer._room.set()
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and not self._paused and self._receiver is not None:
            self._scheduled = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        receiver = self._receiver
        if self._paused or receiver is None or self._done.is_set():
            return
        if self._arrived:
            data = self._arrived.popleft()
            self._arrived_bytes -= len(data)
            if self._arrived_bytes <= LOW_MARK:
                self._peer._room.set()
            receiver.bytes_received(data)
            self._schedule()
            return
        if (self._peer._input_closed or self._status is not None) and not self._eof_told:
            self._eof_told = True
            receiver.eof_received()
        if self._status is not None:
            receiver.exited(self._status)
            self._done.set()
