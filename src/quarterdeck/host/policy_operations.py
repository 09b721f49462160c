"""Operations on the policy: rules in force, grants, and what it would decide."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from quarterdeck.policy.risky_parts import risky_parts
from quarterdeck.policy.rules import RuleError, parse_rule
from quarterdeck.store import Commit
from quarterdeck.store.commits import PutGrant
from quarterdeck.store.queries import ApprovalQuery

from . import requests as takes
from . import resources as returns
from .bodies import approval_view
from .callers import PROGRAM, Caller
from .errors import HostError
from .folders import existing_folder, is_below
from .grants import grant_view
from .host_base import HostBase
from .idempotency import once, receipt_for
from .policies import FOR_PEOPLE, SessionPolicy

MOST_TRIED = 1_000
"""How many past requests to test a rule on."""


class PolicyOperations(HostBase):
    """Operations on the policy."""

    async def list_rules(self, request: takes.InFolder, caller: Caller = PROGRAM) -> returns.Details:
        """List the rules in force in a folder."""
        policy = self._session_policy(str(existing_folder(request.cwd or "~")))
        notes = [note for layer in policy.layers.values() for note in layer.notes]
        problems = [] if policy.problem is None else [policy.problem]
        return returns.Details(details={"cwd": policy.cwd, "rules": policy.rules(), "notes": [*problems, *notes]})

    async def list_grants(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.GrantList:
        """List remembered rules, including expired and revoked ones."""
        return returns.GrantList(grants=[grant_view(record) for record in self._grants.all()])

    @once
    async def revoke_grant(
        self, request: takes.OfGrant, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Grant:
        """Revoke a remembered rule. It takes effect with the next call, even in running sessions."""
        record = self._grants.get(request.grant_id)
        if record.revoked_at is None:
            record = msgspec.structs.replace(record, revoked_at=self._clock())
            receipt = receipt_for(self, "revoke_grant", request, caller, key, grant_view(record))
            await self.store.commit(Commit(changes=[PutGrant(record)], receipt=receipt))
            self._grants.put(record)
        return grant_view(record)

    async def explain_policy(self, request: takes.ExplainPolicy, caller: Caller = PROGRAM) -> returns.Details:
        """Explain what the policy would decide on a call, and why."""
        policy = self._session_policy(str(existing_folder(request.cwd)))
        verdict = policy.judge(request.tool, request.input, needs_person=request.tool in FOR_PEOPLE)
        explanation = policy.explain(request.tool, request.input)
        return returns.Details(
            details={
                "decision": verdict.behavior,
                "reason": verdict.reason,
                "rule": verdict.rule,
                "grant_id": verdict.grant_id,
                "risk": verdict.risk,
                "risky_parts": risky_parts(command) if isinstance(command := request.input.get("command"), str) else [],
                "parts": [
                    {"text": part.text, "decision": part.verdict.behavior, "reason": part.verdict.why}
                    for part in explanation.parts
                ],
                "near": [{"rule": str(near.rule), "why_not": near.why_not} for near in explanation.near],
                "would_allow": [str(rule) for rule in explanation.would_allow],
            }
        )

    async def try_rule(self, request: takes.TryRule, caller: Caller = PROGRAM) -> returns.Details:
        """Show what the current policy decides on recent requests, with and without a new rule."""
        try:
            rule = parse_rule(request.rule, request.behavior, source="session")
        except RuleError as error:
            raise HostError("invalid", f"This is not a rule: {error}", field="rule") from error
        if not 0 < request.limit <= MOST_TRIED:
            raise HostError("invalid", f"limit must be 1 to {MOST_TRIED:,}.", field="limit")
        folder = None if request.cwd is None else str(existing_folder(request.cwd))
        policies: dict[str, tuple[SessionPolicy, SessionPolicy]] = {}
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            query = ApprovalQuery(kinds=["permission"], newest_first=True, limit=request.limit, cursor=cursor)
            page = await self.store.approvals(query)
            for record in page.approvals:
                session = await self.store.session(record.session)
                cwd = "" if session is None else session.cwd
                wanted = folder is None or is_below(cwd, [folder])
                if session is None or not wanted or (caller.folders and not is_below(cwd, caller.folders)):
                    continue
                if len(found) == request.limit:
                    return _tried(found, more=True)
                if cwd not in policies:
                    today = self._session_policy(cwd)
                    policies[cwd] = today, today.trying(rule)
                found.append(_compared(approval_view(record), *policies[cwd]))
                await asyncio.sleep(0)  # each is judged twice: let other tasks run in between
            cursor = page.next_cursor
            if cursor is None:
                return _tried(found, more=False)


def _compared(asked: returns.Approval, today: SessionPolicy, tried: SessionPolicy) -> dict[str, Any]:
    tool = asked.tool or ""
    before, after = today.judge(tool, asked.input), tried.judge(tool, asked.input)
    return {
        "approval_id": asked.id,
        "session_id": asked.session_id,
        "asked_at": msgspec.to_builtins(asked.asked_at),
        "tool": tool,
        "summary": asked.summary,
        "state": asked.state,
        "decided": None if asked.decision is None else asked.decision.get("decision"),
        "today": before.behavior,
        "with_rule": after.behavior,
        "reason": after.reason,
    }


def _tried(requests: list[dict[str, Any]], *, more: bool) -> returns.Details:
    changed = sum(1 for one in requests if one["today"] != one["with_rule"])
    return returns.Details(details={"requests": requests, "looked_at": len(requests), "changed": changed, "more": more})
