"""A session's record, approvals, usage and state, as derived from its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from quarterdeck.protocol import Handshake, TurnState
from quarterdeck.store.commits import AddUsage, PutSession
from quarterdeck.store.records import NewRow, SessionRecord, UsageEntry
from quarterdeck.store.text import keepable
from quarterdeck.timeline.events import (
    DialogAsked,
    ElicitationAsked,
    ModeChanged,
    ModelChanged,
    PermissionAsked,
    PlanReviewAsked,
    PromptSent,
    QuestionsAsked,
    RateLimitChanged,
    RequestCancelled,
    ToolEnded,
    TurnEnded,
)
from quarterdeck.wire import AssistantMessage, Message

from .accounts import Gauge
from .bodies import SessionBody, encode_body
from .events import AnyEvent, BudgetChanged, ProcessChanged, QueueChanged
from .folding import RowFold
from .log_draft import LogDraft
from .open_approvals import OpenApprovals
from .state import state_of, status_change
from .turn_meter import TurnMeter
from .turn_usage import token_counts, usage_entries, usage_report

TOUCH_S = 5.0
"""How often to write the time of the last activity, if nothing else changes."""

_MATTER: frozenset[type[AnyEvent]] = frozenset(
    {
        *(PermissionAsked, QuestionsAsked, PlanReviewAsked, ElicitationAsked, DialogAsked, RequestCancelled),
        *(ToolEnded, ModelChanged, ModeChanged, TurnEnded, RateLimitChanged, PromptSent, ProcessChanged),
    }
)
"""Events that change something here; most rows have none."""


SEARCHED_CHARS = 4_000
"""How much of a session's prompts is searchable."""


class Standing:
    """Updated with each row; changes are written in the row's transaction."""

    def __init__(self, record: SessionRecord, body: SessionBody, fold: RowFold, *, new_id: Callable[[], str]) -> None:
        self.record = record
        self.body = body
        self.fold = fold
        self.approvals = OpenApprovals(record.id, fold, new_id=new_id)
        self.pid: int | None = None
        """The process's ID."""
        self.counted: Callable[[Sequence[UsageEntry]], list[BudgetChanged]] = lambda _: []
        """Called with each turn's usage; returns its effect on budgets."""
        self.meter = TurnMeter()
        """The cost of the running turn."""
        self.gauge = Gauge()
        """Its account's rate limits."""
        self.told_queue = list(fold.queue.prompts)
        """The prompt queue, as logged."""
        self._touched = record.active_at
        self._text = record.text

    @property
    def in_turn(self) -> bool:
        return self.fold.side.turn is not TurnState.IDLE

    def add(self, row: NewRow, draft: LogDraft, message: Message | None = None) -> None:
        """Add a row and what derives from it alone."""
        told = self.fold.events(row, message)
        draft.rows.append(row)
        draft.events.append(told)
        if type(message) is AssistantMessage:
            self.meter.add(message, len(row.body))
        if _MATTER.isdisjoint(map(type, told)):
            return
        matter = [event for event in told if type(event) in _MATTER]
        ended = len(matter) > 1 and any(type(event) is ProcessChanged for event in matter)
        for event in matter:
            if ended and type(event) in (ToolEnded, RequestCancelled):
                continue  # lost with its process: neither applied nor withdrawn
            if type(event) is ToolEnded:  # by far the most frequent
                self.approvals.ended(event, row.at, draft)
            else:
                self._derive(event, row.at, draft)

    def _derive(self, event: AnyEvent, at: float, draft: LogDraft) -> None:
        match event:
            case PermissionAsked() | QuestionsAsked() | PlanReviewAsked() | ElicitationAsked() | DialogAsked():
                self.approvals.ask(event.request, at, draft)
            case RequestCancelled():
                self.approvals.withdrawn(event.id, at, draft)
            case ModelChanged():
                self.body.chosen.pop("model", None)
            case ModeChanged():
                self.body.chosen.pop("permission_mode", None)
            case TurnEnded():
                self.approvals.ended(event, at, draft)
                self.body.restarts = 0
                self.meter.clear()
                self._count(event, at, draft)
            case PromptSent():
                self._text = searchable(self._text, event.text)
            case RateLimitChanged():
                self.gauge.take(event.limit, at)
            case ProcessChanged(state="exited" | "lost"):
                self.meter.clear()
                self.approvals.process_ended(at, draft)

    def _count(self, event: TurnEnded, at: float, draft: LogDraft) -> None:
        """Add a ``UsageReport`` after each result; a ``StatusChange`` follows."""
        spent = self.fold.timeline.state.cost
        self.body.cost_usd, self.body.tokens = spent.total_usd, token_counts(spent.tokens, spent.by_model)
        draft.tell(usage_report(event.turn, at, total_usd=spent.total_usd))
        entries = usage_entries(event.turn, at, session=self.record.id, cwd=self.record.cwd)
        draft.changes += map(AddUsage, entries)
        for change in self.counted(entries):
            draft.tell(change)

    def settle(self, at: float, draft: LogDraft) -> None:
        """Add what derives from all rows of the draft together: the queue, the state, the record."""
        if self.fold.queue.prompts != self.told_queue:
            self.told_queue = list(self.fold.queue.prompts)
            draft.tell(QueueChanged(at, self.told_queue))
        before, body = self.record, self.body
        if body.process == "starting" and self.fold.side.handshake is Handshake.DONE:
            body.process = "running"
            draft.tell(ProcessChanged(at, body.generation, "running", pid=self.pid))
        timeline = self.fold.timeline.state
        details = timeline.session
        body.cli_version = details.cli_version or body.cli_version
        if not body.imported:  # otherwise only a file would show it, and another session could take this transcript
            body.transcript_id = details.session_id or body.transcript_id
        body.next_prompt_at = self.fold.queue.next_at() if self.fold.queue.prompts else None
        body.model = details.model or body.model
        body.permission_mode = details.permission_mode or body.permission_mode
        limited_until = self.gauge.until(at)
        limited = limited_until is not None
        state = state_of(body, timeline, waiting=self.approvals.waiting, in_turn=self.in_turn, limited=limited)
        if state != before.state:
            draft.tell(status_change(body, state, at, before=before.state, limited_until=limited_until))
        aliases = before.aliases
        if body.transcript_id is not None and body.transcript_id not in aliases:
            aliases = tuple(dict.fromkeys((*aliases, keepable(body.transcript_id))))
        now = (state, aliases, self._text, encode_body(body))
        if now != (before.state, before.aliases, before.text, before.body) or at - self._touched >= TOUCH_S:
            self._touched = at
            self.record = msgspec.structs.replace(
                before, state=now[0], aliases=now[1], text=now[2], body=now[3], active_at=max(at, before.active_at)
            )
            draft.changes.append(PutSession(self.record))


def searchable(text: str, prompt: str) -> str:
    """The searched text plus a new prompt: the newest part, as much as a database accepts."""
    clean = prompt.replace("\0", "").encode(errors="replace").decode()
    return f"{text}\n{clean}"[-SEARCHED_CHARS:]
