"""Writes a session's log: each line becomes a row, with everything derived from it in the same transaction.

``decide (pure) → one commit: rows and projections → publish``.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from quarterdeck.store import Committed, EventStore
from quarterdeck.store.commits import Change, DeleteSession, MoveApproval, PutSession, PutSnapshot
from quarterdeck.store.errors import StoreError
from quarterdeck.store.records import (
    ApprovalDecision,
    ApprovalRecord,
    ApprovalState,
    NewRow,
    Origin,
    Receipt,
    SessionRecord,
)
from quarterdeck.timeline.events import Event as TimelineEvent
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions
from quarterdeck.wire import Message

from .bodies import SessionBody, approval_view, encode_body
from .events import AnyEvent, ApprovalChanged, HostEvent, QueueChanged, RawLine
from .fanout import Fanout
from .folding import Preview, RowFold
from .log_draft import LogDraft, event_row, partial_rows
from .log_writer import LogWriter
from .open_approvals import moved_to
from .policies import PolicyVerdict, verdict_of
from .previews import LivePreviews
from .raw_lines import raw_events
from .resources import Approval, Frame, Prompt, Session
from .stalls import Stalls
from .standing import Standing

SNAPSHOT_ROWS = 500
"""Minimum number of rows between two snapshots ..."""
SNAPSHOT_SHARE = 4
"""... and this many times the size of the last one, so that snapshots are at most a fifth of what is written. Opening a
session folds the rows after the last snapshot: about a thousand at most."""


Receipts: TypeAlias = Callable[[int], Receipt | None] | None
"""Builds the receipt for a row from its number; written in the row's transaction."""


class SessionLog:
    """The one place that writes a session's rows. Not thread-safe."""

    def __init__(
        self,
        store: EventStore,
        record: SessionRecord,
        body: SessionBody,
        *,
        fence: int,
        epoch: str,
        last_seq: int,
        fold: RowFold,
        snapshot_seq: int = 0,
        spool_end: int = 0,
        new_id: Callable[[], str],
        clock: Callable[[], float] = time.time,
        changed: Callable[[], None] = lambda: None,
        stalls: Stalls | None = None,
    ) -> None:
        """``changed`` is called when lists of sessions or approvals change; ``stalls`` is notified when nothing can be
        written."""
        self.body = body
        self.epoch = epoch
        self.fold = fold
        self.standing = Standing(record, body, fold, new_id=new_id)
        self.approvals = self.standing.approvals
        self.written_record = record
        """The stored record, which matches the last published row; ``record`` is what it will become."""
        self.viewed: tuple[Any, Session] | None = None
        """The session as last published, and what it was derived from."""
        self.pending: set[str] = set()
        """The pending approvals, as of the published rows."""
        self.previews = LivePreviews(fold)
        self.fanout = Fanout(last_seq)
        self.raw_fanout = Fanout(last_seq)
        """The same rows as raw lines."""
        self.spool_end = spool_end
        """How far its process's spool was committed when the log was opened."""
        self.shown: Callable[[], None] = lambda: None
        """Called when rows have been written and published."""
        self._snapshot_seq = snapshot_seq
        self._snapshot_bytes = 0
        self._unkept_bytes = 0
        """Size of the rows since the last snapshot."""
        self._clock = clock
        self._changed = changed
        self._stalls = stalls or Stalls()
        self._writer = LogWriter(store, record.id, fence, stalled=self._stalled)

    @property
    def record(self) -> SessionRecord:
        return self.standing.record

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def in_turn(self) -> bool:
        return self.standing.in_turn

    def now(self) -> float:
        return self._clock()

    @property
    def trouble(self) -> StoreError | None:
        """Why nothing can be written now."""
        return self._stalls.why(self.id)

    def _stalled(self, error: StoreError | None) -> None:
        self._stalls.tell(self.id, error)
        self._changed()

    # Writing

    def append(
        self, rows: Sequence[NewRow], changes: Sequence[Change] = (), *, receipt: Receipts = None
    ) -> asyncio.Future[Committed]:
        """Write rows and everything derived from them. ``receipt`` gets the number of the first one."""
        return self.append_lines([(row, None) for row in rows], changes, receipt=receipt)

    def append_lines(
        self,
        lines: Sequence[tuple[NewRow, Message | None]],
        changes: Sequence[Change] = (),
        *,
        receipt: Receipts = None,
        written: Callable[[], None] | None = None,
    ) -> asyncio.Future[Committed]:
        """Like ``append``, for rows with their decoded lines, where available.

        ``written`` is called when they are written and published.
        """
        draft = self._draft(changes)
        for row, message in lines:
            self.standing.add(row, draft, message)
        self.standing.settle(lines[-1][0].at if lines else self.now(), draft)
        return self._write(draft, receipt, written)

    def _draft(self, changes: Sequence[Change] = ()) -> LogDraft:
        return LogDraft(self.fold, self.body, changes)

    def _write(
        self, draft: LogDraft, receipt: Receipts = None, then: Callable[[], None] | None = None
    ) -> asyncio.Future[Committed]:
        rows, events, record = draft.rows, draft.events, self.standing.record

        def written(done: Committed) -> None:
            self.written_record = record
            try:
                self._written(done, rows, events)
            finally:
                if then is not None:
                    then()

        return self._writer.write(
            rows,
            draft.changes,
            written=written,
            receipt=None if receipt is None else lambda: receipt(self.fanout.last_seq + 1),
        )

    def tell(
        self,
        event: HostEvent,
        changes: Sequence[Change] = (),
        *,
        origin: Origin = "host",
        receipt: Receipts = None,
    ) -> asyncio.Future[Committed]:
        """Write one of the host's own events."""
        return self.append([self.event_row(event, origin)], changes, receipt=receipt)

    def event_row(self, event: HostEvent, origin: Origin = "host") -> NewRow:
        return event_row(event, self.body.generation, origin)

    def set_queue(
        self, prompts: list[Prompt], *, after: Sequence[NewRow] = (), receipt: Receipts = None
    ) -> asyncio.Future[Committed]:
        """Write the prompt queue, ``after`` these rows."""
        self.standing.told_queue = list(prompts)
        return self.append([*after, self.event_row(QueueChanged(self.now(), prompts))], receipt=receipt)

    def update(self, changes: Sequence[Change] = (), **fields: Any) -> asyncio.Future[Committed]:
        """Update these fields of the record, and write the current body."""
        self.standing.record = msgspec.structs.replace(self.record, body=encode_body(self.body), **fields)
        return self.append([], [PutSession(self.record), *changes])

    async def delete(self, *, receipt: Receipt | None = None) -> None:
        """Delete everything about the session; nothing can be written after that."""
        await self._writer.write(changes=[DeleteSession()], receipt=receipt, alone=True)
        self._changed()

    async def decide(
        self,
        record: ApprovalRecord,
        decision: ApprovalDecision,
        changes: Sequence[Change] = (),
        *,
        receipt: Callable[[Approval], Receipt | None] = lambda _: None,
    ) -> ApprovalRecord:
        """Record a decision. Raises ``ApprovalConflict`` for all but the first."""
        decided = moved_to(record, "decided", decision.at, decision)
        view = approval_view(decided)
        row = self.event_row(ApprovalChanged(decision.at, view))
        move = MoveApproval(id=record.id, to="decided", at=decision.at, decision=decision)

        def written(done: Committed) -> None:
            self.approvals.put(decided)
            self._written(done, [row], [[*self.fold.events(row)]])

        await self._writer.write([row], [move, *changes], written=written, receipt=receipt(view), alone=True)
        return decided

    def move(self, record: ApprovalRecord, to: ApprovalState) -> asyncio.Future[Committed]:
        """Move an approval to its next state."""
        draft = self._draft()
        self.approvals.move(record, to, self.now(), draft)
        return self._write(draft)

    async def verdict_on(self, request_id: str) -> PolicyVerdict | None:
        """The policy's verdict on an open request; None if a person is asked."""
        if not self.approvals.is_known(request_id):  # it was asked before the host was restarted
            call_id = getattr(self.fold.side.open_requests().get(request_id), "tool_use_id", "")
            if (known := self.fold.verdicts.get((call_id, "can_use_tool"))) is not None:
                return verdict_of(known)
            asked = self.fold.timeline.state.items.get(request_id)
            if isinstance(asked, Permission | Questions | PlanReview | Elicitation | Dialog):
                draft = self._draft()
                self.approvals.ask(asked, self.now(), draft)
                self.standing.settle(self.now(), draft)
                await self._write(draft)
        return self.approvals.take_verdict(request_id)

    async def settled(self) -> None:
        """Wait until everything so far is written, or writing fails (``trouble``)."""
        await self._writer.settled()

    async def drained(self) -> None:
        """Wait until everything so far is written, however long it takes."""
        await self._writer.drained()

    async def close(self) -> None:
        await self._writer.close()
        self.fanout.close()
        self.raw_fanout.close()

    # Showing

    def _written(self, done: Committed, rows: list[NewRow], events: list[list[AnyEvent]]) -> None:
        session, first = self.standing.record.id, done.first_seq
        pairs = zip(itertools.count(first), rows, events)
        self.fanout.publish([Frame(session=session, seq=seq, at=row.at, events=told) for seq, row, told in pairs])
        if done.pos:  # approvals change with their rows
            for changed in [one.approval for told in events for one in told if type(one) is ApprovalChanged]:
                (self.pending.add if changed.state == "pending" else self.pending.discard)(changed.id)
        if self.raw_fanout.watched:
            numbered = enumerate(rows, first)
            raw = [Frame(session=session, seq=seq, at=row.at, events=raw_events(row)) for seq, row in numbered]
            self.raw_fanout.publish(raw)
        else:
            self.raw_fanout.passed(self.fanout.last_seq)
        self._unkept_bytes += sum([len(row.body) for row in rows])
        if done.pos:
            self._changed()
        if self._wants_snapshot():
            asyncio.get_running_loop().call_soon(self._keep_snapshot)
        self.shown()

    def _wants_snapshot(self) -> bool:
        rows = self.fanout.last_seq - self._snapshot_seq
        return rows >= SNAPSHOT_ROWS and self._unkept_bytes >= SNAPSHOT_SHARE * self._snapshot_bytes

    def _keep_snapshot(self) -> None:
        """Take a snapshot, only when everything folded is written: it is of the last row."""
        if self._writer.idle and self._wants_snapshot():
            body = self.fold.snapshot()
            self._snapshot_seq, self._snapshot_bytes, self._unkept_bytes = self.fanout.last_seq, len(body), 0
            self._writer.write(changes=[PutSnapshot(self._snapshot_seq, body)])

    def preview(self, message: Message, at: float) -> asyncio.Future[Committed] | None:
        """Publish a line that isn't a row, after everything before it; returns what to wait for."""
        told = self.previews.received(message, at)
        if not told and not self.raw_fanout.watched:
            return None
        if self._writer.idle:
            self._show_preview(told, message, at)
            return None
        return self._writer.write(written=lambda _: self._show_preview(told, message, at))

    def _show_preview(self, told: list[TimelineEvent], message: Message, at: float) -> None:
        after_seq = self.fanout.last_seq
        if told:
            self.fanout.preview(Preview(session=self.id, after_seq=after_seq, events=told))
        if self.raw_fanout.watched:
            line = RawLine(at, "received", message.raw.decode(errors="replace"))
            self.raw_fanout.preview(Preview(session=self.id, after_seq=after_seq, events=[line]))

    def partial_rows(self) -> list[NewRow]:
        """Convert incomplete blocks to rows, so that what a person saw is never lost."""
        rows = partial_rows(self.previews.state, self.now(), self.body.generation)
        self.previews.forget()
        return rows
