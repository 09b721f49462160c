"""Operations on approvals: list, decide."""

from __future__ import annotations

import msgspec

from quarterdeck.store.commits import AddAudit
from quarterdeck.store.errors import ApprovalConflict
from quarterdeck.store.queries import ApprovalQuery
from quarterdeck.store.records import ApprovalDecision, ApprovalRecord, AuditEntry

from . import requests as takes
from . import resources as returns
from .bodies import approval_view
from .errors import HostError
from .host_base import PROGRAM, Caller, HostBase


class ApprovalOperations(HostBase):
    """What can be asked about approvals."""

    async def list_approvals(self, request: takes.ListApprovals, caller: Caller = PROGRAM) -> returns.ApprovalList:
        """What people are asked."""
        page = await self.store.approvals(
            ApprovalQuery(
                states=request.state,
                session=request.session,
                kinds=request.kind,
                limit=request.limit,
                cursor=request.cursor,
            )
        )
        return returns.ApprovalList(
            approvals=[approval_view(one) for one in page.approvals], next_cursor=page.next_cursor
        )

    async def get_approval(self, request: takes.OfApproval, caller: Caller = PROGRAM) -> returns.Approval:
        """One approval."""
        return approval_view(await self._approval(request.approval_id))

    async def decide(self, request: takes.Decide, caller: Caller = PROGRAM) -> returns.Approval:
        """Decide one approval: the first decision counts, and the others learn of it."""
        record = await self._approval(request.approval_id)
        if record.state != "pending":
            raise _too_late(record)
        actor = await self._actor(record.session)
        if record.request_id not in actor.log.approvals:
            raise _too_late(await self._approval(request.approval_id))
        answer = actor.check_decision(record.request_id, request.decision)
        now = self._clock()
        decision = ApprovalDecision(
            at=now,
            outcome=request.decision.decision,
            by_kind="user",
            by=caller.name,
            via=caller.via,
            body=msgspec.json.encode(request.decision),
        )
        audit = AuditEntry(at=now, who=caller.name, operation="decide", via=caller.via, session=record.session)
        try:
            decided = await actor.log.decide(record, decision, [AddAudit(audit)])
        except ApprovalConflict as error:
            raise _too_late(error.approval) from error
        actor.deliver(record.request_id, answer)
        return approval_view(decided)


def _too_late(record: ApprovalRecord | None) -> HostError:
    if record is None:
        return HostError("not_found", "There is no such approval.")
    if record.decision is None:
        return HostError("withdrawn", "Claude Code no longer waits for this.", state=record.state)
    decision = record.decision
    return HostError(
        "already_decided",
        f"{decision.by or decision.by_kind} has decided this: {decision.outcome}.",
        decided_by=decision.by,
        decision=decision.outcome,
        decided_at=decision.at,
    )
