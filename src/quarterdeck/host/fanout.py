"""Who watches a session: each has a cursor, not a queue, and reads the store when it has fallen behind."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable

from .folding import Preview
from .resources import Frame

RECENT = 1_000
"""Frames that are kept for all watchers together."""

ReadFrames = Callable[[int, int], Awaitable[list[Frame]]]
"""Frames of the log after a seq, and at most how many."""
PREVIEWS_KEPT = 4_000


class Fanout:
    """The frames and previews of one session, as they come."""

    def __init__(self, last_seq: int) -> None:
        self.last_seq = last_seq
        self._recent: deque[Frame] = deque(maxlen=RECENT)
        self._previews: deque[Preview] = deque(maxlen=PREVIEWS_KEPT)
        self._preview_count = 0
        self._bell = asyncio.Event()
        self._closed = False

    def publish(self, frame: Frame) -> None:
        self.last_seq = frame.seq
        self._recent.append(frame)
        self._ring()

    def preview(self, preview: Preview) -> None:
        self._previews.append(preview)
        self._preview_count += 1
        self._ring()

    def close(self) -> None:
        """Watchers get what there is, and end."""
        self._closed = True
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = asyncio.Event()

    async def watch(self, after: int, read: ReadFrames, *, previews: bool) -> AsyncGenerator[Frame | Preview, None]:
        """Everything after ``after``, gap-free and once, and then live.

        A watcher that lags reads the store; previews that it was too slow for are left out.
        """
        seen = self._preview_count
        while True:
            bell = self._bell
            if after < self.last_seq:
                for frame in await self._frames(after, read):
                    after = frame.seq
                    yield frame
                continue
            if previews and seen < self._preview_count:
                new = self._preview_count - seen
                seen = self._preview_count
                for preview in list(self._previews)[-new:]:
                    if preview.after_seq == after:
                        yield preview
                continue
            seen = self._preview_count
            if self._closed:
                return
            await bell.wait()

    async def _frames(self, after: int, read: ReadFrames) -> list[Frame]:
        if self._recent and self._recent[0].seq <= after + 1:
            return [frame for frame in self._recent if frame.seq > after]
        return await read(after, RECENT)
