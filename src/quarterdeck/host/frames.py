"""Reads frames from the log: events or raw lines, with an explicit gap where rows are gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from quarterdeck.store import EventStore
from quarterdeck.store.records import LogHead

from .errors import HostError
from .events import Gap
from .fanout import ReadFrames
from .folding import FrameFold, frame_of
from .raw_lines import raw_events
from .resources import Frame

KEPT_FOLDS = 8
"""How many logs can be read in parts at the same time without folding rows twice."""


class KeptFolds:
    """Keeps the folds of logs that are read one part per call, so that each part continues where the last one ended.

    Without its fold, a part is folded from the last snapshot before it, so forgetting a fold loses nothing but time.
    """

    def __init__(self) -> None:
        self._folds: dict[tuple[str, int], tuple[FrameFold, float]] = {}
        """Epoch and last row → the fold, and when it was kept."""

    def take(self, head: LogHead, seq: int) -> FrameFold | None:
        """Return the fold of the rows up to ``seq``, and forget it: a fold has one user."""
        return self._folds.pop((head.epoch, seq), (None, 0.0))[0]

    def keep(self, head: LogHead, seq: int, fold: FrameFold) -> None:
        self._folds.pop((head.epoch, seq), None)
        self._folds[head.epoch, seq] = fold, asyncio.get_running_loop().time()
        if len(self._folds) > KEPT_FOLDS:
            del self._folds[next(iter(self._folds))]

    def forget(self, before: float) -> None:
        """Drop the folds kept before that time of the event loop: nobody continues."""
        self._folds = {place: kept for place, kept in self._folds.items() if kept[1] > before}


async def replayed(
    store: EventStore, head: LogHead, after: int, end: int, kept: KeptFolds, *, page_rows: int, page_bytes: int
) -> AsyncGenerator[Frame, None]:
    """Yield the frames of rows after ``after`` up to ``end``, with one page of rows in memory.

    If retention has deleted what came before, the fold starts at the first remaining row.
    """
    fold, seq = kept.take(head, after), after
    if fold is None:
        snapshot = await store.snapshot(head.session, at_most=after)
        fold, seq = FrameFold(), head.first_seq - 1
        if snapshot is not None:
            fold, seq = FrameFold.restore(snapshot.body), snapshot.seq
    try:
        while seq < end:
            page = await store.read(
                head.session, after=seq, limit_rows=min(page_rows, end - seq), limit_bytes=page_bytes
            )
            if page.gap or not page.rows:
                return
            for row in page.rows:
                events = fold.events(row)
                seq = row.seq
                if seq > after:
                    yield frame_of(row, events)
    except GeneratorExit:  # the rest is for another call
        kept.keep(head, seq, fold)
        raise


def frames_reader(store: EventStore, session: str) -> ReadFrames:
    """Reads timeline frames. Deleted rows become one frame with a ``Gap`` at the log's last row."""
    return _FramesReader(store, session).read


async def frames_page(store: EventStore, head: LogHead, after: int, limit: int, kept: KeptFolds) -> list[Frame]:
    """Read a page of frames for a caller who asks for one page per call."""
    reader = _FramesReader(store, head.session, kept.take(head, after), after)
    frames = await reader.read(after, limit)
    if reader.fold is not None:
        kept.keep(head, reader.seq, reader.fold)
    return frames


class _FramesReader:
    """Keeps the fold from page to page until the end of the log: a frame depends on all rows before it."""

    def __init__(self, store: EventStore, session: str, fold: FrameFold | None = None, seq: int = 0) -> None:
        self._store = store
        self._session = session
        self.fold = fold
        self.seq = seq
        """The last row in the fold."""

    async def read(self, after: int, limit: int) -> list[Frame]:
        fold, seq = await self._folded(after)
        frames: list[Frame] = []
        while len(frames) < limit:
            page = await self._store.read(
                self._session, after=seq, limit_rows=max(after - seq, 0) + limit - len(frames)
            )
            if page.gap:
                return frames or [gap_frame(page.head, "retention")]
            for row in page.rows:
                told = fold.events(row)
                seq = row.seq
                if seq > after:
                    frames.append(frame_of(row, told))
            if seq >= page.head.last_seq:
                return frames
        self.fold, self.seq = fold, seq
        return frames

    async def _folded(self, after: int) -> tuple[FrameFold, int]:
        """Return a fold of the rows up to ``after`` or earlier: from the last page, or from a snapshot."""
        fold, self.fold = self.fold, None
        if fold is not None and self.seq == after:
            return fold, after
        kept = await self._store.snapshot(self._session, at_most=after)
        return (FrameFold(), 0) if kept is None else (FrameFold.restore(kept.body), kept.seq)


def raw_reader(store: EventStore, session: str) -> ReadFrames:
    """Reads raw rows: lines from and to the CLI, and the host's events."""

    async def read(after: int, limit: int) -> list[Frame]:
        page = await store.read(session, after=after, limit_rows=limit)
        return (
            [gap_frame(page.head, "retention")] if page.gap else [frame_of(row, raw_events(row)) for row in page.rows]
        )

    return read


def gap_at(head: LogHead, cursor: str | None) -> tuple[int, Gap | None]:
    """Where a reader with this cursor continues: after its row or, with a gap, after the log's last row."""
    if cursor is None:
        return 0, None
    epoch, _, seq = cursor.rpartition("-")
    if not (seq.isascii() and seq.isdigit()):
        raise HostError("invalid", f"{cursor!r} is not a cursor.", hint="A cursor is EPOCH-SEQ.", field="after")
    if epoch != head.epoch:
        return head.last_seq, _gap(head, "epoch")
    if int(seq) > head.last_seq:
        return head.last_seq, _gap(head, "ahead")
    if int(seq) < head.first_seq - 1:
        return head.last_seq, _gap(head, "retention")
    return int(seq), None


def gap_frame(head: LogHead, reason: str) -> Frame:
    """Build a frame for a gap. It is at the end of the log, and newer frames follow."""
    return Frame(session=head.session, seq=head.last_seq, at=0.0, events=[_gap(head, reason)])


def _gap(head: LogHead, reason: str) -> Gap:
    return Gap(0.0, reason, head.epoch, head.first_seq, head.last_seq)  # type: ignore[arg-type]  # one of its words
