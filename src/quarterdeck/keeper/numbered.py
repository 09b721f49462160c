"""The host's side of numbered input: numbers each line, and limits how much is sent to the keeper at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from quarterdeck.transport.base import LOW_MARK, WRITE_LIMIT
from quarterdeck.transport.errors import TransportClosed
from quarterdeck.transport.loop_io import Writer

from .frames import CLOSE_INPUT, input_frames, number_frame

WINDOW_BYTES = 1024 * 1024
"""Limit on bytes sent but not yet written to the pipe; a single line may be longer."""


class NumberedInput(Writer):
    """A ``Writer`` to the keeper. Everything that isn't in the process's pipe counts as unsent."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[list[bytes]], None],
        *,
        channel: int,
        last: int,
        written: int,
        closed_error: Callable[[], TransportClosed],
        limit_bytes: int = WRITE_LIMIT,
    ) -> None:
        """``last``: the highest number that the keeper has received."""
        super().__init__(loop, closed_error, limit_bytes)
        self._send = send
        self._channel = channel
        self._waiting_lines: deque[tuple[int, bytes]] = deque()
        self._handed_over: deque[tuple[int, int]] = deque()
        self._handed_over_bytes = 0
        self.last = last
        """The number of the last input."""
        self.written = written
        """The highest number written to the pipe."""

    def write(self, data: bytes) -> int:
        """Write lines; returns the number of the last one."""
        self._check()
        for line in data.splitlines(keepends=True) if b"\r" not in data else _lines(data):
            self.last += 1
            self.unsent_bytes += len(line)
            self._waiting_lines.append((self.last, line))
        self._hand_over()
        return self.last

    def _hand_over(self) -> None:
        frames: list[bytes] = []
        while self._waiting_lines:
            number, line = self._waiting_lines[0]
            if self._handed_over and self._handed_over_bytes + len(line) > WINDOW_BYTES:
                break
            self._waiting_lines.popleft()
            self._handed_over.append((number, len(line)))
            self._handed_over_bytes += len(line)
            frames += input_frames(self._channel, number, line)
        if not self._waiting_lines and self._finishing and not self.closed:
            self.last += 1
            frames.append(number_frame(CLOSE_INPUT, self._channel, self.last))
            self._handed_over.append((self.last, 0))
            self.closed = True
        if frames:
            self._send(frames)

    def confirm(self, number: int) -> None:
        """The keeper has written everything up to this number to the pipe."""
        self.written = max(self.written, number)
        while self._handed_over and self._handed_over[0][0] <= number:
            size = self._handed_over.popleft()[1]
            self._handed_over_bytes -= size
            self.unsent_bytes -= size
        self._hand_over()
        if self.unsent_bytes <= LOW_MARK:
            self._wake()

    def finish(self) -> None:
        """Accept no more; send end-of-file as a numbered input after the rest."""
        if not self._finishing and not self.closed:
            self._finishing = True
            self._hand_over()

    def close(self) -> None:
        """Drop what is waiting: the process accepts no more."""
        self.closed = True
        self._waiting_lines.clear()
        self._handed_over.clear()
        self._handed_over_bytes = self.unsent_bytes = 0
        if not self._loop.is_closed():
            self._wake()


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds only: a carriage return is part of a line."""
    *lines, rest = data.split(b"\n")
    return [*(line + b"\n" for line in lines), *([rest] if rest else [])]
