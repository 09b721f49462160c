"""Operations on the policy: what is in force, what was granted, what would be said about a call."""

from __future__ import annotations

import msgspec

from quarterdeck.policy.risky_parts import risky_parts
from quarterdeck.store import Commit
from quarterdeck.store.commits import PutGrant

from . import requests as takes
from . import resources as returns
from .callers import PROGRAM, Caller
from .folders import existing_folder
from .grants import grant_view
from .host_base import HostBase
from .idempotency import once, receipt_for
from .policies import FOR_PEOPLE


class PolicyOperations(HostBase):
    """What can be asked about the policy."""

    async def list_rules(self, request: takes.InFolder, caller: Caller = PROGRAM) -> returns.Details:
        """The policy in force in a folder."""
        policy = self._session_policy(str(existing_folder(request.cwd or "~")))
        notes = [note for layer in policy.layers.values() for note in layer.notes]
        problems = [] if policy.problem is None else [policy.problem]
        return returns.Details(details={"cwd": policy.cwd, "rules": policy.rules(), "notes": [*problems, *notes]})

    async def list_grants(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.GrantList:
        """Rules that were remembered, those that no longer hold included."""
        return returns.GrantList(grants=[grant_view(record) for record in self._grants.all()])

    @once
    async def revoke_grant(
        self, request: takes.OfGrant, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Grant:
        """Forget a remembered rule: the next call is asked about again, also in sessions that run."""
        record = self._grants.get(request.grant_id)
        if record.revoked_at is None:
            record = msgspec.structs.replace(record, revoked_at=self._clock())
            receipt = receipt_for(self, "revoke_grant", request, caller, key, grant_view(record))
            await self.store.commit(Commit(changes=[PutGrant(record)], receipt=receipt))
            self._grants.put(record)
        return grant_view(record)

    async def explain_policy(self, request: takes.ExplainPolicy, caller: Caller = PROGRAM) -> returns.Details:
        """What the policy would say about a call, and why."""
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
