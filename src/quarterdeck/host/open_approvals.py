"""The unfinished approvals of a session, and how events in the log change their state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from quarterdeck.policy.adapters import CLI_INSISTS
from quarterdeck.store.commits import MoveApproval, OpenApproval
from quarterdeck.store.records import ApprovalDecision, ApprovalRecord, ApprovalState
from quarterdeck.store.text import is_keepable, keepable
from quarterdeck.timeline import Request
from quarterdeck.timeline.events import ToolEnded, TurnEnded
from quarterdeck.timeline.items import Permission
from quarterdeck.wire import CanUseToolRequest

from .approving import approval_of, is_applied_by, same_question
from .bodies import approval_view, encode_approval
from .events import ApprovalChanged
from .folding import RowFold
from .log_draft import LogDraft
from .policies import PolicyVerdict, SessionPolicy, decided

_UNKEEPABLE = PolicyVerdict("deny", "The id of this request cannot be kept, so nobody can be asked.")


class OpenApprovals(Mapping[str, ApprovalRecord]):
    """Approvals by request id: pending, decided, or delivered."""

    def __init__(self, session: str, fold: RowFold, *, new_id: Callable[[], str]) -> None:
        self._session = session
        self._fold = fold
        self._new_id = new_id
        self.policy: SessionPolicy | None = None
        """Answers before a person is asked. Set with the options of each process."""
        self._open: dict[str, ApprovalRecord] = {}
        self._stranded: dict[str, str] = {}
        """Requests of a lost process → their approvals."""
        self._verdicts: dict[str, PolicyVerdict] = {}
        """The policy's verdicts by request ID, until they are sent."""

    def __getitem__(self, request_id: str) -> ApprovalRecord:
        return self._open[request_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def waiting(self) -> int:
        """How many are pending."""
        return sum(1 for one in self._open.values() if one.state == "pending")

    def load(self, unfinished: Iterable[ApprovalRecord], stranded: Iterable[ApprovalRecord]) -> None:
        """Load this session's approvals from the store."""
        self._open = {one.request_id: one for one in unfinished}
        self._stranded = {same_question(approval_view(one)): one.id for one in stranded}

    def put(self, record: ApprovalRecord) -> None:
        """Set an approval's new state."""
        self._open[record.request_id] = record

    # Asking

    def ask(self, asked: Request, at: float, draft: LogDraft) -> None:
        """Ask the policy first; what it leaves open goes to a person."""
        raw = self._fold.side.open_requests().get(asked.id)
        verdict = self._judge(asked, raw) if is_keepable(asked.id) else _UNKEEPABLE
        if verdict is not None and verdict.behavior != "ask":
            self._verdicts[asked.id] = verdict
            tool, call = getattr(raw, "tool_name", ""), getattr(raw, "tool_use_id", "")
            draft.tell(decided(at, verdict, tool, call))
            return
        approval = approval_of(self._new_id(), self._session, asked, at, raw)
        approval = msgspec.structs.replace(
            approval,
            replaces=self._stranded.pop(same_question(approval), None),
            risk=None if verdict is None else verdict.risk,
        )
        record = ApprovalRecord(
            id=approval.id,
            session=self._session,
            request_id=approval.request_id,
            kind=approval.kind,
            asked_at=at,
            tool=keepable(approval.tool or ""),
            replaces=approval.replaces,
            body=encode_approval(approval),
        )
        self.put(record)
        draft.changes.append(OpenApproval(record))
        draft.tell(ApprovalChanged(at, approval))

    def _judge(self, asked: Request, raw: Any) -> PolicyVerdict | None:
        if not isinstance(asked, Permission) or not isinstance(raw, CanUseToolRequest):
            return None  # questions and plans always go to a person
        if self.policy is None:
            return None
        insists = asked.needs_person or raw.decision_reason_type in CLI_INSISTS
        return self.policy.judge(raw.tool_name, raw.input, needs_person=insists)

    def is_known(self, request_id: str) -> bool:
        """Whether a person was asked or the policy answered."""
        return request_id in self._open or request_id in self._verdicts

    def take_verdict(self, request_id: str) -> PolicyVerdict | None:
        return self._verdicts.pop(request_id, None)

    # Moving on

    def withdrawn(self, request_id: str, at: float, draft: LogDraft) -> None:
        """The CLI withdrew its request."""
        self._move_if(request_id, {"pending": "withdrawn", "decided": "undeliverable"}, at, draft)

    def ended(self, event: ToolEnded | TurnEnded, at: float, draft: LogDraft) -> None:
        """Mark the decision as applied: the CLI has continued with the call."""
        if not self._open:
            return
        items = self._fold.timeline.state.items
        for record in list(self._open.values()):
            if record.state == "delivered" and is_applied_by(items.get(record.request_id), event):
                self.move(record, "applied", at, draft)

    def process_ended(self, at: float, draft: LogDraft) -> None:
        """The process is gone: pending approvals are stranded, and decided ones undeliverable."""
        self._verdicts.clear()
        for request_id in list(self._open):
            self._move_if(request_id, {"pending": "stranded", "decided": "undeliverable"}, at, draft)
        self._open.clear()

    def _move_if(self, request_id: str, ends: dict[str, ApprovalState], at: float, draft: LogDraft) -> None:
        record = self._open.get(request_id)
        if record is not None and record.state in ends:
            self.move(record, ends[record.state], at, draft)

    def move(self, record: ApprovalRecord, to: ApprovalState, at: float, draft: LogDraft) -> None:
        moved = moved_to(record, to, at)
        if to == "stranded":
            self._stranded[same_question(approval_view(record))] = record.id
        if to == "delivered":
            self.put(moved)
        else:
            self._open.pop(record.request_id, None)
        draft.changes.append(MoveApproval(id=record.id, to=to, at=at))
        draft.tell(ApprovalChanged(at, approval_view(moved)))


def moved_to(
    record: ApprovalRecord, to: ApprovalState, at: float, decision: ApprovalDecision | None = None
) -> ApprovalRecord:
    return msgspec.structs.replace(
        record, state=to, moved_at={**record.moved_at, to: at}, decision=decision or record.decision
    )
