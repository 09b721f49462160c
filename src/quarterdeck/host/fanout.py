"""Sends frames to a session's watchers: each has a cursor, not a queue, and reads the store if it falls behind."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from .folding import Preview
from .resources import Frame

RECENT = 4_000
"""Frames and previews kept for late watchers, shared by all of them."""
TAIL = 64
"""How many to keep for new watchers after every current one has seen them."""
PAGE = 200
"""Frames that a late watcher reads at once: folding them blocks the host for a few milliseconds."""

ReadFrames = Callable[[int, int], Awaitable[list[Frame]]]
"""Reads frames of the log after a seq, up to a limit."""


TOGETHER = 64
"""Frames that arrive together are sent together, in blocks of at most this many that end at its multiples. So watchers
at different positions get the same blocks, except for the first and the last."""
BLOCKS = RECENT // TOGETHER + 2
"""Blocks kept for sharing among watchers: as many as can exist at once, or each watcher would build its own."""

_Where = tuple[int, int, int, bool]
_News = tuple[Sequence[Frame | Preview], int]


class Bell:
    """Wakes everyone who waits for a change."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.closed = False

    def ring(self) -> None:
        if not self.closed:
            self._event.set()
            self._event = asyncio.Event()

    def close(self) -> None:
        """Wake all waiters, now and in future."""
        self.closed = True
        self._event.set()

    def next(self) -> asyncio.Event:
        """An event set by the next ring. Get it before checking for news, so that nothing is missed in between."""
        return self._event


class _Watcher:
    """One watcher's position."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen = -1
        """By count; -1 while it reads the store."""


class Fanout:
    """Publishes the frames and previews of one session.

    Frames are kept only while a watcher hasn't seen them: a full garbage collection visits everything kept, and blocks
    the host meanwhile.
    """

    def __init__(self, last_seq: int) -> None:
        self.last_seq = last_seq
        self._recent: deque[Frame | Preview] = deque(maxlen=RECENT)
        self._count = 0
        """Number published so far."""
        self._watchers: set[_Watcher] = set()
        self._trim_at = 2 * TAIL
        """The count at which to drop what every watcher has seen."""
        self._waiting: set[asyncio.Future[None]] = set()
        """One per watcher that is up to date."""
        self._closed = False
        self._blocks: dict[_Where, _News] = {}
        """Recent blocks by start, end, the row before them, and whether they include previews."""

    def publish(self, frames: Sequence[Frame]) -> None:
        """Publish consecutive frames of the log."""
        if frames:
            self.last_seq = frames[-1].seq
            self._add(frames)

    def preview(self, preview: Preview) -> None:
        self._add((preview,))

    def passed(self, seq: int) -> None:
        """Skip rows up to this one, written while nobody watched."""
        self.last_seq = seq

    @property
    def watched(self) -> bool:
        return bool(self._watchers)

    def close(self) -> None:
        """End all watchers after what is there."""
        self._closed = True
        self._wake()

    def _add(self, ones: Sequence[Frame | Preview]) -> None:
        self._count += len(ones)
        if self._watchers:
            self._recent.extend(ones)
            if self._count >= self._trim_at:
                self._trim()
            self._wake()

    def _trim(self) -> None:
        self._trim_at = self._count + TAIL
        kept = len(self._recent)
        seen = min([one.seen for one in self._watchers]) - (self._count - kept)
        for _ in range(min(seen, kept - TAIL)):
            self._recent.popleft()
        first = self._count - len(self._recent)
        self._blocks = {where: block for where, block in self._blocks.items() if where[1] > first}

    def _wake(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, set()
            for one in waiting:
                if not one.done():
                    one.set_result(None)

    @contextmanager
    def _watching(self) -> Iterator[_Watcher]:
        watcher = _Watcher()
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.remove(watcher)
            if not self._watchers:
                self._recent.clear()
                self._blocks.clear()

    async def watch(
        self, after: int, read: ReadFrames, *, previews: bool
    ) -> AsyncGenerator[Sequence[Frame | Preview], None]:
        """Stream everything after ``after``, without gaps or repeats, then live. Yields what is available at a time.

        Watchers get the same sequence objects, so a gateway can encode each once. A late watcher reads the store and
        misses the previews of that time; the frames contain everything.
        """
        loop = asyncio.get_running_loop()
        with self._watching() as watcher:
            while True:
                seen = watcher.seen
                if seen < self._count - len(self._recent):  # at the start, and when it was too slow
                    if after + 1 < self._oldest():
                        watcher.seen = -1
                        if frames := await read(after, PAGE):
                            after = frames[-1].seq
                            yield frames
                        continue
                    seen = watcher.seen = self._count - len(self._recent)
                if seen < self._count:
                    end = self._count
                    if end - seen > TOGETHER:
                        end = (seen // TOGETHER + 1) * TOGETHER
                    news, after = self._news(seen, end, after, previews=previews)
                    watcher.seen = end
                    if news:
                        yield news
                elif self._closed:
                    return
                else:  # without a pause after having looked: nothing is missed in between
                    more = loop.create_future()
                    self._waiting.add(more)
                    try:
                        await more
                    finally:
                        self._waiting.discard(more)

    def _oldest(self) -> int:
        """The oldest frame kept, or the next one to come."""
        return next((one.seq for one in self._recent if type(one) is Frame), self.last_seq + 1)

    def _news(self, seen: int, end: int, after: int, *, previews: bool) -> _News:
        """What was published between two counts and after a row, and its last row."""
        where = (seen, end, after, previews)
        if (known := self._blocks.get(where)) is not None:
            return known
        first = self._count - len(self._recent)
        news: list[Frame | Preview] = []
        for number in range(seen - first, end - first):
            one = self._recent[number]
            if type(one) is Frame:
                if one.seq == after + 1:
                    after = one.seq
                    news.append(one)
            elif previews and one.after_seq == after:  # type: ignore[union-attr]  # a preview
                news.append(one)
        if len(self._blocks) >= BLOCKS:
            self._blocks.clear()
        self._blocks[where] = news, after
        return news, after
