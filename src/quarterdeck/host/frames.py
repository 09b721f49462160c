"""Reads frames from the log: events or raw lines, with an explicit gap where rows are gone."""

from __future__ import annotations

from quarterdeck.store import EventStore
from quarterdeck.store.records import LogHead

from .errors import HostError
from .events import Gap
from .fanout import ReadFrames
from .folding import FrameFold, frame_of
from .raw_lines import raw_events
from .resources import Frame


def frames_reader(store: EventStore, session: str) -> ReadFrames:
    """Reads timeline frames. Deleted rows become one frame with a ``Gap`` at the log's last row."""
    return _FramesReader(store, session).read


class _FramesReader:
    """Keeps the fold from page to page until the end of the log: a frame depends on all rows before it."""

    def __init__(self, store: EventStore, session: str) -> None:
        self._store = store
        self._session = session
        self._fold: FrameFold | None = None
        self._seq = 0
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
        self._fold, self._seq = fold, seq
        return frames

    async def _folded(self, after: int) -> tuple[FrameFold, int]:
        """Return a fold of the rows up to ``after`` or earlier: from the last page, or from a snapshot."""
        fold, self._fold = self._fold, None
        if fold is not None and self._seq == after:
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
