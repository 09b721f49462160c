"""Output of one process: from the pipe into the spool, from the spool to the host.

Nothing is offered that is not in the spool. Without a host, or with a slow one, the spool grows up to its limit; then
the pipe is not read, and the process feels it. The same when the disk is full.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from .loop import READ, Loop, OnFault, Timer
from .spool import Spool

READ_SIZE = 64 * 1024
"""One read: what a Linux pipe holds."""
WINDOW_BYTES = 1024 * 1024
"""Sent at most beyond what the host has taken."""
RETRY_S = 0.25
"""Between attempts to write to a full disk."""
LAST_READS = 16
"""For the rest in a pipe that someone keeps open: 1 MiB, the most an unprivileged Linux pipe holds."""


class Lane(Protocol):
    """The way to the host."""

    def has_room(self) -> bool:
        """Whether it takes output now."""

    def send_output(self, channel: int, offset: int, data: bytes) -> None:
        """Send these bytes."""

    def queue(self, output: ProcessOutput) -> None:
        """Call ``offer()`` of this one when there is room."""


class ProcessOutput:
    """Reads a process's stdout and knows what of it the host has."""

    def __init__(
        self,
        loop: Loop,
        descriptor: int,
        spool: Spool,
        *,
        channel: int,
        limit_bytes: int,
        on_change: Callable[[], None],
        on_fault: OnFault,
    ) -> None:
        """``on_change``: it has ended, stalled or continues, or the host has everything."""
        os.set_blocking(descriptor, False)
        self.spool = spool
        self.channel = channel
        self._loop = loop
        self._limit_bytes: int | None = limit_bytes
        self._on_change = on_change
        self.on_fault = on_fault
        self._watch = loop.watch(descriptor, lambda _: self._read(), on_fault)
        self._watch.want(READ)
        self._unspooled: memoryview | None = None
        """Read, and not written to the spool: the disk is full."""
        self._retry: Timer | None = None
        self._lane: Lane | None = None
        self._window_end = 0
        self.sent = 0
        """The host was sent everything before this offset, since it attached."""
        self.stalled: str | None = None
        """Why nothing can be written to the spool."""
        self.ended = False
        """The pipe has ended, and all that came is in the spool."""

    # From the pipe to the spool

    @property
    def held(self) -> bool:
        """Whether the pipe is not being read though it has not ended."""
        return not self.ended and not self._watch.events

    def _read(self) -> bool:
        """Whether there was anything."""
        try:
            data = os.read(self._watch.descriptor, READ_SIZE)
        except BlockingIOError:
            return False
        if data:
            self._store(data)
            return True
        self._end()
        return False

    def _store(self, data: bytes) -> None:
        start = self.spool.end
        count = self._append(data)
        if count:
            self._offer_new(start, data if count == len(data) else data[:count])
        if count < len(data):
            self._unspooled = memoryview(data)[count:]
            self._retry = self._loop.call_later(RETRY_S, self._store_rest, self.on_fault)
        self._hold_or_read()

    def _append(self, data: bytes | memoryview) -> int:
        try:
            count = self.spool.append(data)
        except OSError as error:
            self._note_stall(error.strerror or str(error))
            return 0
        return count

    def _store_rest(self) -> None:
        rest = self._unspooled
        while rest is not None and len(rest):
            count = self._append(rest)
            if not count:
                self._unspooled = rest
                self._retry = self._loop.call_later(RETRY_S, self._store_rest, self.on_fault)
                return
            rest = rest[count:]
        self._unspooled = None
        self._note_stall(None)
        self._want_to_send()
        self._hold_or_read()

    def _note_stall(self, reason: str | None) -> None:
        if reason != self.stalled:
            self.stalled = reason
            self._on_change()

    def _hold_or_read(self) -> None:
        backlog = self.spool.end - self.spool.acknowledged
        full = self._limit_bytes is not None and backlog >= self._limit_bytes
        self._watch.want(0 if full or self._unspooled is not None else READ)

    def lift_limit(self) -> None:
        """The process is dead: what remains in its pipe is small and must come out."""
        self._limit_bytes = None
        if not self.ended:
            self._hold_or_read()

    def cut(self) -> None:
        """Someone else keeps the pipe open: read what is there and treat that as the end."""
        for _ in range(LAST_READS):
            if self.ended or self._unspooled is not None or not self._read():
                break
        if not self.ended and self._unspooled is None:
            self._end()

    def _end(self) -> None:
        self._watch.close()
        self.ended = True
        self._on_change()

    def abort(self) -> None:
        """After a fault of ours: this is the end, whatever is left."""
        if self._retry is not None:
            self._retry.cancel()
        self._unspooled = None
        self._watch.close()
        self.ended = True

    # From the spool to the host

    def attach(self, lane: Lane, offset: int) -> None:
        """Send from this offset on."""
        self._lane = lane
        self.sent = offset
        self._window_end = offset + WINDOW_BYTES
        self._want_to_send()

    def detach(self) -> None:
        self._lane = None

    @property
    def told_all(self) -> bool:
        """Whether there is a host that was sent everything there will ever be."""
        return self.ended and self._lane is not None and self.sent == self.spool.end

    def take(self, offset: int) -> None:
        """The host has read everything before this offset, so its window moves."""
        self._window_end = max(self._window_end, min(offset, self.sent) + WINDOW_BYTES)
        self._want_to_send()

    def acknowledge(self, offset: int) -> None:
        """The host has committed what is before this offset, and so has taken it."""
        self.spool.acknowledge(offset)
        self.take(offset)
        if not self.ended:
            self._hold_or_read()

    def _offer_new(self, start: int, data: bytes) -> None:
        """New output need not be read again if the host is up to date and there is room."""
        lane = self._lane
        if lane is None:
            return
        if self.sent == start and start + len(data) <= self._window_end and lane.has_room():
            lane.send_output(self.channel, start, data)
            self.sent += len(data)
        else:
            self._want_to_send()

    def _want_to_send(self) -> None:
        if self._lane is not None and self.sent < min(self.spool.end, self._window_end):
            self._lane.queue(self)

    def offer(self) -> bool:
        """Send a piece; whether another one is waiting."""
        lane, size = self._lane, min(READ_SIZE, self.spool.end - self.sent, self._window_end - self.sent)
        if lane is None or size <= 0:
            return False
        data = self.spool.read(self.sent, size)
        lane.send_output(self.channel, self.sent, data)
        self.sent += len(data)
        if self.told_all:
            self._on_change()
        return self.sent < min(self.spool.end, self._window_end)
