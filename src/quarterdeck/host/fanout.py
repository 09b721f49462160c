"""Who watches a session: each has a cursor, not a queue, and reads the store when it has fallen behind."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable

from .folding import Preview
from .resources import Frame

RECENT = 4_000
"""Frames and previews that are kept for all watchers together."""
PAGE = 1_000
"""Frames that a watcher who has fallen behind reads at once."""

ReadFrames = Callable[[int, int], Awaitable[list[Frame]]]
"""Frames of the log after a seq, and at most how many."""


class Bell:
    """Wakes all who wait for something to happen."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.closed = False

    def ring(self) -> None:
        if not self.closed:
            self._event.set()
            self._event = asyncio.Event()

    def close(self) -> None:
        """Nothing will happen any more: whoever waits goes on at once."""
        self.closed = True
        self._event.set()

    def next(self) -> asyncio.Event:
        """Set by the next ring. Take it before looking whether there is something: nothing is missed in between."""
        return self._event


class Fanout:
    """The frames and previews of one session, as they come."""

    def __init__(self, last_seq: int) -> None:
        self.last_seq = last_seq
        self._recent: deque[Frame | Preview] = deque(maxlen=RECENT)
        self._count = 0
        """How many there have been."""
        self._bell = asyncio.Event()
        self._closed = False

    def publish(self, frame: Frame) -> None:
        self.last_seq = frame.seq
        self._add(frame)

    def preview(self, preview: Preview) -> None:
        self._add(preview)

    def close(self) -> None:
        """Watchers get what there is, and end."""
        self._closed = True
        self._bell.set()

    def _add(self, one: Frame | Preview) -> None:
        self._recent.append(one)
        self._count += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def watch(self, after: int, read: ReadFrames, *, previews: bool) -> AsyncGenerator[Frame | Preview, None]:
        """Everything after ``after``, gap-free and once, and then live.

        A watcher that has fallen behind reads the store, and misses the previews of that time: the frames that follow
        say all of it.
        """
        seen = -1
        while True:
            bell = self._bell
            if seen < self._count - len(self._recent):  # at the start, and when it was too slow
                if after < self.last_seq:
                    for frame in await read(after, PAGE):
                        after = frame.seq
                        yield frame
                    continue
                seen = self._count
            for one in self._since(seen):
                seen += 1
                if isinstance(one, Frame):
                    if one.seq == after + 1:
                        after = one.seq
                        yield one
                elif previews and one.after_seq == after:
                    yield one
                if seen < self._count - len(self._recent):
                    break  # the caller took so long that what comes next may be gone
            if seen == self._count:
                if self._closed:
                    return
                await bell.wait()

    async def watch_rows(self, after: int, read: ReadFrames) -> AsyncGenerator[Frame, None]:
        """Every row after ``after`` as ``read`` shows it, and then those that come."""
        while True:
            bell = self._bell
            if after < self.last_seq:
                for frame in await read(after, PAGE):
                    after = frame.seq
                    yield frame
            elif self._closed:
                return
            else:
                await bell.wait()

    def _since(self, seen: int) -> list[Frame | Preview]:
        missing = self._count - seen
        return list(self._recent)[-missing:] if missing else []
