"""A session's log as it grows: each line becomes a row, what follows from it is written in the same transaction.

``decide (pure) → one commit: rows and projections → publish``. What is derived here, on top of the timeline's events:
approvals, the session's state, usage.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from quarterdeck.protocol import Handshake, TurnState
from quarterdeck.store import Committed, EventStore
from quarterdeck.store.commits import (
    AddUsage,
    Change,
    DeleteSession,
    MoveApproval,
    OpenApproval,
    PutSession,
    PutSnapshot,
)
from quarterdeck.store.errors import StoreError
from quarterdeck.store.records import (
    ApprovalDecision,
    ApprovalRecord,
    ApprovalState,
    NewRow,
    Origin,
    Row,
    SessionRecord,
    UsageEntry,
)
from quarterdeck.timeline import Request, Timeline
from quarterdeck.timeline.events import (
    DialogAsked,
    ElicitationAsked,
    ModeChanged,
    ModelChanged,
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestCancelled,
    TextCompleted,
    ToolEnded,
    TurnEnded,
)
from quarterdeck.timeline.events import Event as TimelineEvent
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions, Text
from quarterdeck.wire import CanUseToolRequest, Message

from .approving import approval_of, same_question
from .bodies import SessionBody, approval_view, encode_approval, encode_body
from .budgets import session_budget
from .events import (
    AnyEvent,
    ApprovalChanged,
    BudgetChanged,
    HostEvent,
    ProcessChanged,
    QueueChanged,
    StatusChange,
    UsageReport,
)
from .fanout import Fanout
from .folding import Preview, RowFold, encode_event, frame_of
from .log_writer import LogWriter
from .policies import SessionPolicy, Verdict, decided
from .resources import Prompt, TokenCounts
from .state import REMEDIES, state_of
from .times import moment, usd

SNAPSHOT_ROWS = 500
"""Rows between two snapshots."""
TOUCH_S = 5.0
"""How often the time of the last activity is written, where nothing else of the record changes."""
_ASKED = (PermissionAsked, QuestionsAsked, PlanReviewAsked, ElicitationAsked, DialogAsked)


class SessionLog:
    """The one place that writes a session's rows. Not thread-safe."""

    def __init__(
        self,
        store: EventStore,
        record: SessionRecord,
        body: SessionBody,
        *,
        fence: int,
        last_seq: int,
        fold: RowFold,
        snapshot_seq: int = 0,
        spool_end: int = 0,
        new_id: Callable[[], str],
        clock: Callable[[], float] = time.time,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """``changed`` is called when lists of sessions or approvals show something else than before."""
        self.record = record
        self.body = body
        self.fold = fold
        self.previews = Timeline.restore(fold.timeline.snapshot())
        self.fanout = Fanout(last_seq)
        self.approvals: dict[str, ApprovalRecord] = {}
        """By request id: those that are not finished."""
        self.pid: int | None = None
        """Of its process."""
        self.policy: SessionPolicy | None = None
        """Answers before anybody is asked. Set with the options of each process."""
        self.stranded: dict[str, str] = {}
        """What was asked by a process that is gone → the approval."""
        self.changed: Callable[[], None] = lambda: None
        """Called after each commit that changed an approval."""
        self.counted: Callable[[Sequence[UsageEntry]], list[BudgetChanged]] = lambda _: []
        """Told of what each turn used; says what that means for the budgets of the host."""
        self._verdicts: dict[str, Verdict] = {}
        """By request id: what the policy has said, until it is answered."""
        self.trouble: StoreError | None = None
        """Why nothing can be written now."""
        self.spool_end = spool_end
        """How far the spool of its process was committed when the log was opened."""
        self.shown: Callable[[], None] = lambda: None
        """Called when rows have been written and shown."""
        self._told_queue = list(fold.queue.prompts)
        self._snapshot_seq = snapshot_seq
        self._new_id = new_id
        self._clock = clock
        self._changed = changed
        self._touched = record.active_at
        self._writer = LogWriter(store, record.id, fence, stalled=self._stalled)

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def in_turn(self) -> bool:
        return self.fold.side.turn is not TurnState.IDLE

    def now(self) -> float:
        return self._clock()

    def _stalled(self, error: StoreError | None) -> None:
        self.trouble = error

    # Writing

    def append(self, rows: Sequence[NewRow], changes: Sequence[Change] = ()) -> asyncio.Future[Committed]:
        """Write these rows and what follows from them."""
        all_rows: list[NewRow] = []
        events: list[list[AnyEvent]] = []
        all_changes = list(changes)
        for row in rows:
            self._add(row, all_rows, events, all_changes)
        self._settle(rows[-1].at if rows else self.now(), all_rows, events, all_changes)
        return self._writer.write(all_rows, all_changes, written=lambda done: self._written(done, all_rows, events))

    def tell(
        self, event: HostEvent, changes: Sequence[Change] = (), *, origin: Origin = "host"
    ) -> asyncio.Future[Committed]:
        """Write an event of the host."""
        return self.append([self.event_row(event, origin)], changes)

    def set_queue(self, prompts: list[Prompt]) -> asyncio.Future[Committed]:
        """Write which prompts wait."""
        self._told_queue = list(prompts)
        return self.tell(QueueChanged(self.now(), prompts))

    def update(self, changes: Sequence[Change] = (), **fields: Any) -> asyncio.Future[Committed]:
        """Write the record with these fields, and the body as it is now."""
        self.record = msgspec.structs.replace(self.record, body=encode_body(self.body), **fields)
        return self.append([], [PutSession(self.record), *changes])

    async def delete(self, changes: Sequence[Change] = ()) -> None:
        """Forget everything about the session; nothing can be written after it."""
        await self._writer.write(changes=[DeleteSession(), *changes], alone=True)
        self._changed()

    async def decide(
        self, record: ApprovalRecord, decision: ApprovalDecision, changes: Sequence[Change] = ()
    ) -> ApprovalRecord:
        """Exactly one decision: raises ``ApprovalConflict`` for all but the first."""
        decided = _moved(record, "decided", decision.at, decision)
        row = self.event_row(ApprovalChanged(decision.at, approval_view(decided)))
        move = MoveApproval(id=record.id, to="decided", at=decision.at, decision=decision)

        def written(done: Committed) -> None:
            self.approvals[record.request_id] = decided
            self._written(done, [row], [[*self.fold.events(row)]])

        await self._writer.write([row], [move, *changes], written=written, alone=True)
        return decided

    def move(self, record: ApprovalRecord, to: ApprovalState) -> asyncio.Future[Committed]:
        """Bring an approval to its next state."""
        rows: list[NewRow] = []
        events: list[list[AnyEvent]] = []
        changes: list[Change] = []
        self._move(record, to, self.now(), rows, events, changes)
        return self._writer.write(rows, changes, written=lambda done: self._written(done, rows, events))

    def preview(self, message: Message, at: float) -> asyncio.Future[Committed] | None:
        """A line that is no row. Shown after everything before it; returns what to wait for."""
        told = self.previews.received(message, at=at)
        if not told:
            return None
        if self._writer.idle:
            self._show_preview(told)
            return None
        return self._writer.write(written=lambda _: self._show_preview(told))

    def partial_rows(self) -> list[NewRow]:
        """What was shown of blocks that will never be completed: what a person saw is never lost."""
        at, rows = self.now(), []
        state = self.previews.state
        for output in state.outputs.values():
            for item_id in output.blocks.values():
                item = state.items.get(item_id)
                if isinstance(item, Text) and not item.done and str(item):
                    event = TextCompleted(at, item_id, str(item), "", output.parent_id, stopped=True)
                    body, generation = encode_event(event), self.body.generation
                    rows.append(NewRow(at=at, kind="partial", origin="agent", body=body, generation=generation))
        self.previews = Timeline.restore(self.fold.timeline.snapshot())
        return rows

    async def settled(self) -> None:
        await self._writer.settled()

    async def close(self) -> None:
        await self._writer.close()
        self.fanout.close()

    # What follows from a row

    def _add(self, row: NewRow, rows: list[NewRow], events: list[list[AnyEvent]], changes: list[Change]) -> None:
        told = self.fold.events(row)
        rows.append(row)
        events.append(told)
        ended = any(isinstance(event, ProcessChanged) for event in told)
        for event in told:
            if not (ended and isinstance(event, RequestCancelled)):  # lost with its process, not taken back
                self._derive(event, row, rows, events, changes)

    def _add_event(self, event: HostEvent, rows: list[NewRow], events: list[list[AnyEvent]]) -> None:
        row = self.event_row(event)
        rows.append(row)
        events.append(self.fold.events(row))

    def event_row(self, event: HostEvent, origin: Origin = "host") -> NewRow:
        return NewRow(
            at=event.at, kind="event", origin=origin, body=encode_event(event), generation=self.body.generation
        )

    def _derive(
        self,
        event: AnyEvent,
        row: NewRow,
        rows: list[NewRow],
        events: list[list[AnyEvent]],
        changes: list[Change],
    ) -> None:
        at = row.at
        match event:
            case PermissionAsked() | QuestionsAsked() | PlanReviewAsked() | ElicitationAsked() | DialogAsked():
                self._ask(event.request, at, rows, events, changes)
            case RequestCancelled():
                self._move_if(event.id, {"pending": "withdrawn", "decided": "undeliverable"}, at, rows, events, changes)
            case ToolEnded():
                for record in list(self.approvals.values()):
                    if record.state == "delivered" and _tool_id(record, self.fold) == event.id:
                        self._move(record, "applied", at, rows, events, changes)
            case ModelChanged():
                self.body.chosen.pop("model", None)
            case ModeChanged():
                self.body.chosen.pop("permission_mode", None)
            case TurnEnded():
                self._count(event, at, rows, events, changes)
            case ProcessChanged(state="exited" | "lost"):
                self._verdicts.clear()
                for request_id in list(self.approvals):
                    ends: dict[str, ApprovalState] = {"pending": "stranded", "decided": "undeliverable"}
                    self._move_if(request_id, ends, at, rows, events, changes)
                self.approvals.clear()

    def _ask(
        self, asked: Request, at: float, rows: list[NewRow], events: list[list[AnyEvent]], changes: list[Change]
    ) -> None:
        """The policy answers first; what it leaves open is for a person."""
        raw = self.fold.side.open_requests().get(asked.id)
        verdict = self._judge(asked, raw)
        if verdict is not None and verdict.behavior != "ask":
            self._verdicts[asked.id] = verdict
            tool, call = getattr(raw, "tool_name", ""), getattr(raw, "tool_use_id", "")
            self._add_event(decided(at, verdict, tool, call), rows, events)
            return
        approval = approval_of(self._new_id(), self.id, asked, at, raw)
        key = same_question(approval)
        approval = msgspec.structs.replace(
            approval, replaces=self.stranded.pop(key, None), risk=None if verdict is None else verdict.risk
        )
        record = ApprovalRecord(
            id=approval.id,
            session=self.id,
            request_id=approval.request_id,
            kind=approval.kind,
            asked_at=at,
            tool=approval.tool or "",
            replaces=approval.replaces,
            body=encode_approval(approval),
        )
        self.approvals[record.request_id] = record
        changes.append(OpenApproval(record))
        self._add_event(ApprovalChanged(at, approval), rows, events)

    def _judge(self, asked: Request, raw: Any) -> Verdict | None:
        if not isinstance(asked, Permission) or not isinstance(raw, CanUseToolRequest):
            return None  # questions and plans are always for a person
        if self.policy is None:
            return None
        return self.policy.judge(raw.tool_name, raw.input, needs_person=asked.needs_person)

    async def verdict_on(self, request_id: str) -> Verdict | None:
        """What the policy says about an open request; None if a person is asked."""
        if request_id in self.approvals:
            return None
        if request_id not in self._verdicts:  # it was asked before the host was restarted
            asked = self.fold.timeline.state.items.get(request_id)
            rows: list[NewRow] = []
            events: list[list[AnyEvent]] = []
            changes: list[Change] = []
            if isinstance(asked, Permission | Questions | PlanReview | Elicitation | Dialog):
                self._ask(asked, self.now(), rows, events, changes)
                self._settle(self.now(), rows, events, changes)
                await self._writer.write(rows, changes, written=lambda done: self._written(done, rows, events))
        return self._verdicts.pop(request_id, None)

    def _move_if(
        self,
        request_id: str,
        ends: dict[str, ApprovalState],
        at: float,
        rows: list[NewRow],
        events: list[list[AnyEvent]],
        changes: list[Change],
    ) -> None:
        record = self.approvals.get(request_id)
        if record is not None and record.state in ends:
            self._move(record, ends[record.state], at, rows, events, changes)

    def _move(
        self,
        record: ApprovalRecord,
        to: ApprovalState,
        at: float,
        rows: list[NewRow],
        events: list[list[AnyEvent]],
        changes: list[Change],
    ) -> None:
        moved = _moved(record, to, at)
        if to == "stranded":
            self.stranded[same_question(approval_view(record))] = record.id
        if to == "delivered":
            self.approvals[record.request_id] = moved
        else:
            self.approvals.pop(record.request_id, None)
        changes.append(MoveApproval(id=record.id, to=to, at=at))
        self._add_event(ApprovalChanged(at, approval_view(moved)), rows, events)

    def _count(
        self, event: TurnEnded, at: float, rows: list[NewRow], events: list[list[AnyEvent]], changes: list[Change]
    ) -> None:
        """``UsageReport`` follows each result, and ``StatusChange`` after it."""
        turn = event.turn
        day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
        by_model: dict[str, Decimal] = {}
        entries: list[UsageEntry] = []
        for model, cost in turn.by_model.items():
            by_model[model] = usd(cost.cost_usd)
            entries.append(
                UsageEntry(
                    session=self.id,
                    turn=turn.number,
                    day=day,
                    model=model,
                    cwd=self.record.cwd,
                    input_tokens=cost.tokens.input,
                    output_tokens=cost.tokens.output,
                    cache_read_tokens=cost.tokens.cache_read,
                    cache_write_tokens=cost.tokens.cache_write,
                    cost_nano_usd=round(cost.cost_usd * 1e9),
                )
            )
        spent = self.fold.timeline.state.cost
        total = spent.tokens
        self.body.cost_usd = spent.total_usd
        self.body.tokens = TokenCounts(
            input=total.input, output=total.output, cache_read=total.cache_read, cache_write=total.cache_write
        )
        used = turn.tokens
        report = UsageReport(
            at,
            turn.number,
            usd(turn.cost_usd),
            TokenCounts(input=used.input, output=used.output, cache_read=used.cache_read, cache_write=used.cache_write),
            by_model,
            usd(spent.total_usd),
        )
        self._add_event(report, rows, events)
        changes += map(AddUsage, entries)
        reached = session_budget(self.body, at)
        for change in (*([] if reached is None else [reached]), *self.counted(entries)):
            self._add_event(change, rows, events)

    def _settle(self, at: float, rows: list[NewRow], events: list[list[AnyEvent]], changes: list[Change]) -> None:
        """The session's record, queue and state after these rows."""
        if self.fold.queue.prompts != self._told_queue:
            self._told_queue = list(self.fold.queue.prompts)
            self._add_event(QueueChanged(at, self._told_queue), rows, events)
        before, body = self.record, self.body
        if body.process == "starting" and self.fold.side.handshake is Handshake.DONE:
            body.process = "running"
            self._add_event(ProcessChanged(at, body.generation, "running", pid=self.pid), rows, events)
        details = self.fold.timeline.state.session
        body.cli_version = details.cli_version or body.cli_version
        body.transcript_id = details.session_id or body.transcript_id
        body.model = details.model or body.model
        body.permission_mode = details.permission_mode or body.permission_mode
        waiting = sum(1 for one in self.approvals.values() if one.state == "pending")
        state = state_of(body, self.fold.timeline.state, waiting=waiting, in_turn=self.in_turn)
        if state != before.state:
            body.state_since = at
            body.state_reason = self._reason(state)
            change = StatusChange(
                at,
                state,
                moment(at),
                before=before.state,  # type: ignore[arg-type]  # written by us
                reason=body.state_reason,
                remedies=REMEDIES.get(state, []),
            )
            self._add_event(change, rows, events)
        aliases = before.aliases
        if body.transcript_id is not None and body.transcript_id not in aliases:
            aliases = (*aliases, body.transcript_id)
        encoded = encode_body(body)
        changed = msgspec.structs.replace(before, state=state, aliases=aliases, body=encoded)
        if changed != before or at - self._touched >= TOUCH_S:
            self._touched = at
            self.record = msgspec.structs.replace(changed, active_at=max(at, before.active_at))
            changes.append(PutSession(self.record))

    def _reason(self, state: str) -> str:
        if state == "waiting":
            return "Somebody has to decide."
        return self.body.state_reason if state in ("crashed", "stopped") else ""

    # Showing

    def _written(self, done: Committed, rows: list[NewRow], events: list[list[AnyEvent]]) -> None:
        if done.pos:
            self._changed()
        for number, (row, told) in enumerate(zip(rows, events, strict=True)):
            self.fanout.publish(frame_of(_numbered(row, self.id, done.first_seq + number), told))
        if any(isinstance(event, ApprovalChanged) for told in events for event in told):
            self.changed()
        self.shown()
        if self.fanout.last_seq - self._snapshot_seq >= SNAPSHOT_ROWS:
            asyncio.get_running_loop().call_soon(self._keep_snapshot)

    def _keep_snapshot(self) -> None:
        """Only when everything folded is written: the snapshot is of the last row."""
        seq = self.fanout.last_seq
        if self._writer.idle and seq - self._snapshot_seq >= SNAPSHOT_ROWS:
            self._snapshot_seq = seq
            self._writer.write(changes=[PutSnapshot(seq, self.fold.snapshot())])

    def _show_preview(self, told: list[TimelineEvent]) -> None:
        self.fanout.preview(Preview(session=self.id, after_seq=self.fanout.last_seq, events=list(told)))


def _numbered(row: NewRow, session: str, seq: int) -> Row:
    return Row(
        session,
        seq,
        row.at,
        row.kind,
        row.origin,
        row.generation,
        row.spool_end,
        row.input_number,
        row.sender,
        row.body,
    )


def _moved(
    record: ApprovalRecord, to: ApprovalState, at: float, decision: ApprovalDecision | None = None
) -> ApprovalRecord:
    return msgspec.structs.replace(
        record, state=to, moved_at={**record.moved_at, to: at}, decision=decision or record.decision
    )


def _tool_id(record: ApprovalRecord, fold: RowFold) -> str | None:
    item = fold.timeline.state.items.get(record.request_id)
    return getattr(item, "tool_id", None)
