"""Who watches a session: each has a cursor, not a queue, and reads the store when it has fallen behind."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from .folding import Preview
from .resources import Frame

RECENT = 4_000
"""Frames and previews that are kept for watchers who are late, for all of them together."""
TAIL = 64
"""How many are kept although every watcher has seen them, for one who comes."""
PAGE = 200
"""Frames that a watcher who has fallen behind reads at once: folding them takes a few milliseconds, in which nothing
else happens."""

ReadFrames = Callable[[int, int], Awaitable[list[Frame]]]
"""Frames of the log after a seq, and at most how many."""


TOGETHER = 64
"""What arrives together is sent together. If it is more than this, it is sent in blocks that end at multiples of it, so
that watchers at different positions get the same blocks except for the first and the last."""
BLOCKS = RECENT // TOGETHER + 2
"""Blocks kept for watchers who get the same: all that may be there at once, or each watcher would make its own."""

_Where = tuple[int, int, int, bool]
_News = tuple[Sequence[Frame | Preview], int]


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
        """Nothing more will happen: everyone who waits continues immediately."""
        self.closed = True
        self._event.set()

    def next(self) -> asyncio.Event:
        """Set by the next ring. Take it before looking whether there is something: nothing is missed in between."""
        return self._event


class _Watcher:
    """How far one watcher is."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen = -1
        """By count; -1 while it reads the store."""


class Fanout:
    """The frames and previews of one session, as they come.

    Kept only while someone watches who has not seen them: a full garbage collection goes through everything that is
    kept, and nothing else happens meanwhile.
    """

    def __init__(self, last_seq: int) -> None:
        self.last_seq = last_seq
        self._recent: deque[Frame | Preview] = deque(maxlen=RECENT)
        self._count = 0
        """How many there have been."""
        self._watchers: set[_Watcher] = set()
        self._trim_at = 2 * TAIL
        """The count at which to look for what every watcher has seen."""
        self._waiting: set[asyncio.Future[None]] = set()
        """One for each watcher that has seen everything."""
        self._closed = False
        self._blocks: dict[_Where, _News] = {}
        """Recent blocks: from where to where, after which row, and whether with previews."""

    def publish(self, frames: Sequence[Frame]) -> None:
        """Frames that follow one another in the log."""
        if frames:
            self.last_seq = frames[-1].seq
            self._add(frames)

    def preview(self, preview: Preview) -> None:
        self._add((preview,))

    def passed(self, seq: int) -> None:
        """Rows up to this one were written while nobody watched."""
        self.last_seq = seq

    @property
    def watched(self) -> bool:
        return bool(self._watchers)

    def close(self) -> None:
        """Watchers get what there is, and end."""
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
        """Everything after ``after``, gap-free and once, and then live; what is there at a time comes together.

        Watchers get the very same sequences, so that whoever writes one down can do so once. One that has fallen
        behind reads the store, and misses the previews of that time: the frames that follow say all of it.
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
        """What came between two counts and after a row, and its last row."""
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
