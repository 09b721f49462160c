"""Operations on approvals: list, watch, decide one or many, and deny those that time out unattended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, Literal

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.store import Commit
from quarterdeck.store.commits import AddAudit, Change, PutGrant, PutSetting
from quarterdeck.store.errors import ApprovalConflict, StorageFailed
from quarterdeck.store.queries import ApprovalQuery
from quarterdeck.store.records import ApprovalDecision, ApprovalRecord, AuditRecord, GrantRecord, Receipt

from . import requests as takes
from . import resources as returns
from .actor import SessionActor
from .attendance import Attendance, Waiting
from .bodies import approval_view
from .callers import PROGRAM, Caller
from .errors import HostError
from .folders import is_below
from .grants import new_grant
from .host_base import HostBase
from .idempotency import once, receipt_for, scope_of
from .scopes import allows, sees
from .whole_text import encode_whole

logger = logging.getLogger("quarterdeck.host")

TICK_S = 1.0
"""How often to check deadlines."""
SUMMARY_CHARS = 200
"""How much of a command the audit log shows; the session's log has all of it."""


class ApprovalOperations(HostBase):
    """Operations on approvals."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._attendance = Attendance(self._clock, self._waiting)
        self._ticking: asyncio.Task[None] | None = None

    async def _open(self) -> None:
        await super()._open()
        self._ticking = asyncio.get_running_loop().create_task(self._tick())

    async def close(self) -> None:
        """Leave; with a keeper, the processes keep running."""
        if self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None
        await super().close()

    # Looking

    async def list_approvals(self, request: takes.ListApprovals, caller: Caller = PROGRAM) -> returns.ApprovalList:
        """List approvals: permissions, questions, plans and other requests."""
        page = await self.store.approvals(await self._query(request))
        return returns.ApprovalList(
            approvals=[approval_view(one) for one in page.approvals if await self._sees(caller, one)],
            next_cursor=page.next_cursor,
        )

    async def get_approval(self, request: takes.OfApproval, caller: Caller = PROGRAM) -> returns.Approval:
        """Get an approval."""
        return approval_view(await self._approval(request.approval_id))

    async def watch_approvals(
        self, request: takes.ListApprovals, caller: Caller = PROGRAM
    ) -> AsyncGenerator[returns.Approval, None]:
        """Stream approvals: first those in the requested states, then every change."""
        position = await self.store.position()
        query = await self._query(request)
        cursor: str | None = request.cursor
        while True:
            page = await self.store.approvals(msgspec.structs.replace(query, cursor=cursor))
            for record in page.approvals:
                if await self._sees(caller, record):
                    yield approval_view(record)
            cursor = page.next_cursor
            if cursor is None:
                break
        while not self.bell.closed:
            rung = self.bell.next()
            changes = await self.store.changes(after=position)
            if changes.gap:
                raise HostError("conflict", "The watcher fell too far behind.", hint="Watch again.")
            for change in changes.changes:
                position = change.pos
                told = change.record
                if isinstance(told, ApprovalRecord) and _matches(query, told) and await self._sees(caller, told):
                    yield approval_view(told)
            if not changes.changes:
                await rung.wait()

    async def _query(self, request: takes.ListApprovals) -> ApprovalQuery:
        session = request.session
        if session is not None and (record := await self.store.session(session)) is not None:
            session = record.id
        return ApprovalQuery(
            states=request.state, session=session, kinds=request.kind, limit=request.limit, cursor=request.cursor
        )

    async def _sees(self, caller: Caller, record: ApprovalRecord) -> bool:
        return not caller.folders or sees(caller, await self._cwd(record))

    async def _cwd(self, record: ApprovalRecord) -> str:
        session = await self.store.session(record.session)
        return "" if session is None else session.cwd

    # Deciding

    @once
    async def decide(self, request: takes.Decide, caller: Caller = PROGRAM, key: str | None = None) -> returns.Approval:
        """Decide an approval. The first decision counts; later ones get a conflict."""
        _check_remember(request.decision, caller)
        record = await self._approval(request.approval_id)
        by: Literal["user", "token"] = "user" if caller.token_id is None else "token"

        def receipt(decided: returns.Approval) -> Receipt | None:
            return receipt_for(self, "decide", request, caller, key, decided)

        return await self._decide(record, request.decision, caller, by, receipt=receipt)

    @once
    async def decide_many(
        self, request: takes.DecideMany, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Decisions:
        """Decide all pending approvals that match. If the decision doesn't fit one of them, none is decided."""
        _check_batch(request)
        plan = None if key is None or request.dry_run else f"{scope_of('decide_many', request, caller)}\n{key}"
        found = await self._covered(request.filter, caller, plan)
        if request.dry_run:
            return returns.Decisions(approvals=[approval_view(one) for one in found], dry_run=True)
        for record in found:
            actor = await self._actor(record.session)
            if record.request_id in actor.log.approvals:
                actor.check_decision(record.request_id, request.decision)
                self._check_mode(actor, record, request.decision)
        if plan is not None:
            await self.store.commit(Commit(changes=[PutSetting(plan, msgspec.json.encode([one.id for one in found]))]))
        decided: list[returns.Approval] = []
        by: Literal["user", "token"] = "user" if caller.token_id is None else "token"
        for record in found:
            if _has_decided(record, request.decision, caller):  # before the host died
                decided.append(approval_view(record))
                continue
            try:
                decided.append(await self._decide(record, request.decision, caller, by, operation="decide_many"))
            except HostError as error:
                if error.code not in ("already_decided", "withdrawn", "not_running"):
                    raise  # someone else decided first, or the CLI withdrew the request
        result = returns.Decisions(approvals=decided, dry_run=False)
        if plan is not None:
            receipt = receipt_for(self, "decide_many", request, caller, key, result)
            await self.store.commit(Commit(changes=[PutSetting(plan, None)], receipt=receipt))
        return result

    def _check_mode(self, actor: SessionActor, record: ApprovalRecord, decision: takes.Decision) -> None:
        """Raises ``HostError`` if the decision gives a session more than the session that started it has."""
        ends_plan_mode = record.kind == "plan_review" and decision.decision == "allow"
        mode = decision.mode or ("default" if ends_plan_mode else None)
        if mode is not None:
            self._spending.families.check_mode(actor.log.body, mode, "mode")

    async def _covered(self, wanted: takes.ApprovalFilter, caller: Caller, plan: str | None) -> list[ApprovalRecord]:
        """The approvals of a batch; a retry after a crash covers the same ones as the first attempt."""
        known = None if plan is None else await self.store.setting(plan)
        if known is None:
            return [record async for record in self._matching(wanted, caller)]
        return [await self._approval(one) for one in msgspec.json.decode(known, type=list[str])]

    async def _matching(self, wanted: takes.ApprovalFilter, caller: Caller) -> AsyncGenerator[ApprovalRecord, None]:
        kinds = [] if wanted.kind is None else [wanted.kind]
        query = await self._query(takes.ListApprovals(session=wanted.session, kind=kinds, limit=500))
        cursor: str | None = None
        while True:
            page = await self.store.approvals(msgspec.structs.replace(query, cursor=cursor))
            for record in page.approvals:
                fits = wanted.tool in (None, record.tool) and await self._sees(caller, record)
                if fits and (wanted.cwd is None or is_below(await self._cwd(record), [wanted.cwd])):
                    yield record
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _decide(
        self,
        record: ApprovalRecord,
        decision: takes.Decision,
        caller: Caller,
        by_kind: Literal["user", "token", "deadline"],
        *,
        operation: str = "decide",
        receipt: Callable[[returns.Approval], Receipt | None] = lambda _: None,
    ) -> returns.Approval:
        if record.state != "pending":
            raise _too_late(record)
        actor = await self._actor(record.session)
        if record.request_id not in actor.log.approvals:
            raise _too_late(await self._approval(record.id))
        answer = actor.check_decision(record.request_id, decision)
        self._check_mode(actor, record, decision)
        _check_edited(actor, record, decision)
        now = self._clock()
        grant = self._new_grant(actor, record, decision, caller)
        said = ApprovalDecision(
            at=now,
            outcome=decision.decision,
            by_kind=by_kind,
            by=caller.name,
            via=caller.via,
            body=encode_whole(decision),
        )
        details = {"decision": decision.decision, "tool": record.tool, "summary": _in_short(record)}
        if grant is not None:
            details["rule"] = grant.rule
        details["approval_id"] = record.id
        audit = AuditRecord(
            at=now,
            who=caller.name,
            operation=operation,
            via=caller.via,
            session=record.session,
            body=encode_whole(details),
        )
        changes: list[Change] = [AddAudit(audit), *([] if grant is None else [PutGrant(grant)])]
        try:
            decided = await actor.log.decide(record, said, changes, receipt=receipt)
        except ApprovalConflict as error:
            raise _too_late(error.approval) from error
        self.tally.approval_waits.observe(now - record.asked_at)
        if grant is not None:
            self._grants.put(grant)
        actor.deliver(record.request_id, answer)
        return approval_view(decided)

    def _new_grant(
        self, actor: SessionActor, record: ApprovalRecord, decision: takes.Decision, caller: Caller
    ) -> GrantRecord | None:
        policy = actor.log.approvals.policy
        if decision.remember is None or policy is None:
            return None
        approval = approval_view(record)
        call = record.tool, decision.updated_input or approval.input
        against = policy.restrain(*call)
        if against is not None:
            raise HostError(
                "invalid",
                f"This cannot be remembered, because a rule forbids it: {against.reason}",
                field="remember.rule",
            )
        now = self._clock()
        return new_grant(
            new_id(), decision.remember, call, policy=policy.bare, session=actor.id, by=caller.name, now=now
        )

    # Nobody is there

    def attend(self, caller: Caller = PROGRAM) -> contextlib.AbstractContextManager[None]:
        """Note that somebody is connected. While they may approve, no approval that they can see times out."""
        if not allows(caller.scope, "approve"):
            return contextlib.nullcontext()
        return self._attendance.attend(caller.folders)

    async def check_deadlines(self) -> list[returns.Approval]:
        """Deny approvals that timed out unattended. The host calls this itself."""
        decided: list[returns.Approval] = []
        for approval_id in self._attendance.expired():
            record = await self._approval(approval_id)
            limit_s = self._limit_s(self._actors[record.session])
            reason = f"Denied: nobody decided within {limit_s or 0:g} seconds."
            decision = takes.Decision(decision="deny", message=reason)
            with contextlib.suppress(HostError, StorageFailed):  # decided meanwhile, or the log is full
                decided.append(await self._decide(record, decision, _DEADLINE, "deadline"))
        return decided

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            try:
                await self.check_deadlines()
            except Exception:
                logger.exception("Checking the deadlines of approvals failed")

    def _waiting(self) -> Iterator[Waiting]:
        for actor in list(self._actors.values()):
            for record in actor.log.approvals.values():
                if record.state == "pending":
                    yield Waiting(record.id, actor.log.record.cwd, self._limit_s(actor))

    def _limit_s(self, actor: SessionActor) -> float | None:
        policy = actor.log.approvals.policy
        return None if policy is None else policy.unattended_s


_DEADLINE = Caller(name="deadline", via="host")


def _matches(query: ApprovalQuery, record: ApprovalRecord) -> bool:
    return query.session in (None, record.session) and (not query.kinds or record.kind in query.kinds)


def _check_remember(decision: takes.Decision, caller: Caller) -> None:
    remember = decision.remember
    if remember is None:
        return
    if decision.decision == "deny":
        raise HostError("invalid", "Only an allow decision can be remembered.", field="remember")
    if remember.scope != "session" and not allows(caller.scope, "operate"):
        raise HostError(
            "forbidden", "Remembering a rule beyond the session requires the scope operate.", field="remember.scope"
        )


def _check_edited(actor: SessionActor, record: ApprovalRecord, decision: takes.Decision) -> None:
    """Check an edited call: the policy judged only the original, and Claude Code doesn't ask again."""
    policy = actor.log.approvals.policy
    if decision.updated_input is None or record.kind != "permission" or policy is None:
        return
    against = policy.restrain(record.tool, decision.updated_input)
    if against is not None and against.behavior == "deny":
        raise HostError("invalid", f"The policy denies this input. {against.reason}", field="updated_input")


def _check_batch(request: takes.DecideMany) -> None:
    if request.filter == takes.ApprovalFilter():
        raise HostError(
            "invalid",
            "The filter is empty and would match everything.",
            hint="Set at least one filter field.",
            field="filter",
        )
    for name in ("updated_input", "answers", "remember"):
        if getattr(request.decision, name) is not None:
            raise HostError("invalid", f"{name} works only for a single approval.", field=f"decision.{name}")


def _has_decided(record: ApprovalRecord, decision: takes.Decision, caller: Caller) -> bool:
    made = record.decision
    return made is not None and (made.by, made.via, made.body) == (
        caller.name,
        caller.via,
        msgspec.json.encode(decision),
    )


def _in_short(record: ApprovalRecord) -> str:
    summary = " ".join(approval_view(record).summary.split())
    return summary if len(summary) <= SUMMARY_CHARS else summary[: SUMMARY_CHARS - 1] + "…"


def _too_late(record: ApprovalRecord | None) -> HostError:
    if record is None:
        return HostError("not_found", "No such approval.")
    if record.decision is None:
        return HostError("withdrawn", "Claude Code has withdrawn this request.", state=record.state)
    decision = record.decision
    return HostError(
        "already_decided",
        f"{decision.by or decision.by_kind} has already decided this: {decision.outcome}.",
        decided_by=decision.by,
        decision=decision.outcome,
        decided_at=decision.at,
    )
