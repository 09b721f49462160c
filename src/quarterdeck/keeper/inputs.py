"""The input of one process: numbered by the host, written to the pipe once and in order.

The keeper acts on a line only when it has all its parts, so a host that dies while sending one has sent nothing. After
that the keeper will write it, and a duplicate is ignored.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable

from .frames import FrameError
from .loop import WRITE, Loop, OnFault

QUEUE_LIMIT_BYTES = 512 * 1024 * 1024
"""Protects against a host that ignores its window; others queue one line, or a megabyte."""
AT_ONCE = 64
"""Lines in one system call."""


class InputQueue:
    """Queues input for the process and tracks how much was written."""

    def __init__(
        self,
        loop: Loop,
        descriptor: int,
        *,
        on_written: Callable[[], None],
        on_broken: Callable[[], None],
        on_fault: OnFault,
    ) -> None:
        """``on_broken``: the process closed its input, so the queued lines will never be read."""
        os.set_blocking(descriptor, False)
        self._watch = loop.watch(descriptor, lambda _: self._write(), on_fault)
        self._on_written = on_written
        self._on_broken = on_broken
        self._queue: deque[tuple[int, memoryview]] = deque()
        self._queued_bytes = 0
        self._parts: list[bytes] = []
        self._parts_bytes = 0
        self._finishing = False
        self.accepted = 0
        """The highest number received completely."""
        self.written = 0
        """The highest number written to the pipe completely."""

    @property
    def open(self) -> bool:
        """Whether it accepts more input."""
        return not self._finishing and not self._watch.closed

    def take(self, number: int, part: memoryview, *, last: bool) -> None:
        """Add part of a numbered line. Raises ``FrameError`` if a number was skipped or too much is queued."""
        if number <= self.accepted or not self.open:
            return  # a duplicate; or too late, and then it stays unwritten
        self._check_next(number)
        self._parts.append(bytes(part))
        self._parts_bytes += len(part)
        if self._queued_bytes + self._parts_bytes > QUEUE_LIMIT_BYTES:
            raise FrameError(f"more than {QUEUE_LIMIT_BYTES} bytes of unread input")
        if last:
            self._accept(number, b"".join(self._parts))

    def close_at(self, number: int) -> None:
        """Send end-of-file as this numbered input, the host's last."""
        if number <= self.accepted or not self.open:
            return
        self._check_next(number)
        self._finishing = True
        self._accept(number, b"")

    def finish(self) -> None:
        """Send end-of-file after the queued input, to end the process."""
        self._finishing = True
        self._write()

    def forget_parts(self) -> None:
        """Discard incomplete lines of a host that is gone."""
        self._parts.clear()
        self._parts_bytes = 0

    def close(self) -> None:
        """Close immediately; queued input is never written."""
        self._watch.close()
        self._queue.clear()
        self._queued_bytes = 0
        self.forget_parts()

    def _check_next(self, number: int) -> None:
        if number != self.accepted + 1:
            raise FrameError(f"input {number} follows input {self.accepted}")

    def _accept(self, number: int, line: bytes) -> None:
        self.forget_parts()
        self.accepted = number
        self._queue.append((number, memoryview(line)))
        self._queued_bytes += len(line)
        if not self._watch.events:  # otherwise the pipe is full, and the loop will call again
            self._write()

    def _write(self) -> None:
        if self._watch.closed:
            return
        try:
            while self._queue:
                lines = (
                    [line for _, line in list(self._queue)[:AT_ONCE]] if len(self._queue) > 1 else [self._queue[0][1]]
                )
                self._consume(os.writev(self._watch.descriptor, lines))
        except BlockingIOError:
            self._watch.want(WRITE)
            return
        except OSError:  # EPIPE: nobody reads any more
            self.close()
            self._on_broken()
            return
        self._watch.want(0)
        if self._finishing:
            self._watch.close()

    def _consume(self, count: int) -> None:
        before = self.written
        self._queued_bytes -= count
        while self._queue:
            number, line = self._queue[0]
            if count < len(line):
                self._queue[0] = (number, line[count:])
                break
            count -= len(line)
            self._queue.popleft()
            self.written = number
        if self.written != before:
            self._on_written()
