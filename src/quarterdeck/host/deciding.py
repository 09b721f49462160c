"""Applies the policy to the CLI's requests: as ``can_use_tool``, and as a ``PreToolUse`` hook that sees every call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.client.serving import LATER
from quarterdeck.store.errors import StoreError
from quarterdeck.wire import PermissionResultAllow, PermissionResultDeny, ToolPermissionContext

from .policies import PolicyVerdict, decided
from .session_log import SessionLog

NO_SESSION = "The process does not belong to a session yet."


class Deciding:
    """Decides a session's calls: the policy first; what it leaves open becomes an approval."""

    answers_later = True

    def __init__(self, log: SessionLog | None = None) -> None:
        """Without a log, denies everything: for a warm process that no session has taken yet (``bind``)."""
        self._log = log

    def bind(self, log: SessionLog) -> None:
        """Decide for this session from now on."""
        self._log = log

    async def __call__(self, tool: str, tool_input: Mapping[str, Any], context: ToolPermissionContext) -> Any:
        """``can_use_tool``. The verdict is already in the log, unless the host was restarted since."""
        if self._log is None:
            return PermissionResultDeny(message=NO_SESSION)
        verdict = await self._log.verdict_on(str(context.request_id))
        if verdict is None or verdict.behavior == "ask":
            return LATER
        if verdict.behavior == "allow":
            return PermissionResultAllow()
        return PermissionResultDeny(message=refusal(verdict))

    @property
    def guard(self) -> Any:
        """The session's ``PreToolUse`` hook: refuses, asks, or has no opinion."""
        return self._guard

    async def _guard(
        self, hook_input: Mapping[str, Any], tool_use_id: str | None = None, context: Any = None
    ) -> dict[str, Any]:
        tool, tool_input, log = str(hook_input["tool_name"]), hook_input.get("tool_input"), self._log
        policy = None if log is None else log.approvals.policy
        verdict = (
            PolicyVerdict("deny", "The session has no policy.")
            if policy is None
            else policy.restrain(tool, tool_input if isinstance(tool_input, Mapping) else {})
        )
        if verdict is None:
            return {}
        call = str(tool_use_id or hook_input.get("tool_use_id") or "")
        try:
            if log is not None and (call, "PreToolUse") not in log.fold.verdicts:  # otherwise before the host restarted
                await log.tell(decided(log.now(), verdict, tool, call, asked_in="PreToolUse"))
        except StoreError as error:
            verdict = PolicyVerdict("deny", f"The policy's verdict could not be logged: {error}")
        said = {"permissionDecision": verdict.behavior, "permissionDecisionReason": refusal(verdict)}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    _guard.fails_closed = True  # type: ignore[attr-defined]  # ``hooks_on_failure`` is for the program's hooks


def refusal(verdict: PolicyVerdict) -> str:
    return f"Denied by policy. {verdict.reason}" if verdict.behavior == "deny" else verdict.reason
