"""Moves the output of one process from its pipe to the spool, and from the spool to the host.

The host gets only what is in the spool. Without a host, or with a slow one, the spool grows up to its limit. Then, or
if the disk is full, we stop reading the pipe, and the process blocks.
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
"""Limit on bytes sent beyond what the host has read."""
RETRY_S = 0.25
"""Between attempts to write to a full disk."""
LAST_READS = 16
"""Reads to empty a pipe that another process keeps open: 1 MiB, the most an unprivileged Linux pipe holds."""


class Lane(Protocol):
    """Sends output to the host."""

    def has_room(self) -> bool:
        """Whether it accepts output now."""

    def send_output(self, channel: int, offset: int, data: bytes) -> None:
        """Send these bytes."""

    def queue(self, output: ProcessOutput) -> None:
        """Call this output's ``offer()`` when there is room."""


class ProcessOutput:
    """Reads a process's stdout and tracks how much the host has."""

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
        """``on_change``: the output ended, stalled or resumed, or the host has everything."""
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
        """Bytes read but not yet in the spool, because the disk is full."""
        self._retry: Timer | None = None
        self._lane: Lane | None = None
        self._window_end = 0
        self.sent = 0
        """Since it attached, the host was sent everything before this offset."""
        self.stalled: str | None = None
        """Why the spool can't be written."""
        self.ended = False
        """The pipe has ended and all its output is in the spool."""

    # From the pipe to the spool

    @property
    def held(self) -> bool:
        """Whether we have stopped reading the pipe before its end."""
        return not self.ended and not self._watch.events

    def _read(self) -> bool:
        """Read once; returns whether there was anything."""
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
        """Ignore the limit for a dead process: little is left in its pipe, and must be saved."""
        self._limit_bytes = None
        if not self.ended:
            self._hold_or_read()

    def cut(self) -> None:
        """Another process keeps the pipe open: read what is there and treat it as the end."""
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
        """End the output after a fault in the keeper, whatever is left."""
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
        """Whether the attached host was sent all output, and no more will come."""
        return self.ended and self._lane is not None and self.sent == self.spool.end

    def take(self, offset: int) -> None:
        """Move the window: the host has read everything before this offset."""
        self._window_end = max(self._window_end, min(offset, self.sent) + WINDOW_BYTES)
        self._want_to_send()

    def acknowledge(self, offset: int) -> None:
        """Trim the spool: the host has read and committed everything before this offset."""
        self.spool.acknowledge(offset)
        self.take(offset)
        if not self.ended:
            self._hold_or_read()

    def _offer_new(self, start: int, data: bytes) -> None:
        """Send new output directly, without rereading the spool, if the host is up to date and there is room."""
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
        """Send a piece; returns whether more is waiting."""
        lane, size = self._lane, min(READ_SIZE, self.spool.end - self.sent, self._window_end - self.sent)
        if lane is None or size <= 0:
            return False
        data = self.spool.read(self.sent, size)
        lane.send_output(self.channel, self.sent, data)
        self.sent += len(data)
        if self.told_all:
            self._on_change()
        return self.sent < min(self.spool.end, self._window_end)
