"""A policy where the CLI asks: as ``can_use_tool`` callback and as ``PreToolUse`` hook.

The callback must answer yes or no. "Ask" goes to a person through ``on_ask``; without one it is a no, with the reason:
unattended means deny. But the CLI calls it only for calls that its own settings and mode have not allowed. So a policy
with deny or ask rules comes with a hook, its ``guard``, which a session registers itself; with another SDK, register
``policy.guard`` or ``policy.hook`` there. Any failure in a hook is a deny.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from quarterdeck.wire.permissions import (
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)

from .decision import Decision
from .rules import Behavior

CLI_INSISTS = frozenset({"mode", "hook", "rule", "safetyCheck", "classifier"})
"""Why CLI 2.1.325 asks although a rule allows the call: plan mode, a hook or a rule that says ask, a safety check. The
answer is a person's; no allow rule gives it."""
OnAsk: TypeAlias = Callable[
    [Decision, str, Mapping[str, Any], ToolPermissionContext | None], Awaitable[PermissionResult] | PermissionResult
]
"""Passes a request to a person: decision, tool name, tool input, and the CLI's context."""
REMEMBERED_CALLS = 500
"""At least so many calls that a hook has seen are known to the permission callback."""
PreToolUseHook: TypeAlias = Callable[..., Awaitable[dict[str, Any]]]


class PolicyBypassedWarning(UserWarning):
    """A policy has deny or ask rules but is not asked about calls that the CLI allows itself."""


class PolicyCallbacks:
    """What both a ``Policy`` and a ``RememberingPolicy`` offer to the client."""

    on_ask: OnAsk | None = None
    _warned = False
    _seen: Mapping[str, object] = MappingProxyType({})
    _seen_before: Mapping[str, object] = MappingProxyType({})
    """Calls that a hook was asked about, and the session's mode then: the latest, and some before those."""

    def decide(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        raise NotImplementedError

    def decide_while(self, mode: object, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        """The stricter of what it decides in its own mode and in ``mode``, which is the session's at the moment."""
        raise NotImplementedError

    def restrain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        """Objections of deny and ask rules, and of anything that could hide one, to a call that others would allow."""
        raise NotImplementedError

    @property
    def refuses(self) -> bool:
        """Whether there are deny or ask rules."""
        raise NotImplementedError

    @property
    def lets_through(self) -> bool:
        """Whether its mode allows calls, which it may not do while the session is in a stricter one."""
        raise NotImplementedError

    def used(self, tool_name: str, tool_input: Mapping[str, Any]) -> None:
        """Called when a request was actually allowed."""

    async def __call__(
        self, tool_name: str, tool_input: Mapping[str, Any], context: ToolPermissionContext | None = None
    ) -> PermissionResult:
        """``can_use_tool``."""
        call = getattr(context, "tool_use_id", None) or ""
        seen = self._seen if call in self._seen else self._seen_before
        if call and call not in seen and self.refuses and not self._warned:
            self._warn()  # a hook comes before the callback: by now it would have been called
        decision = self.decide_while(seen.get(call), tool_name, tool_input)
        if decision.behavior == "allow" and (insists := _insists(context)):
            decision = msgspec.structs.replace(
                decision, behavior="ask", rule=None, source="safety", explanation=insists
            )
        if decision.behavior == "allow":
            self.used(tool_name, tool_input)
            return PermissionResultAllow()
        if decision.behavior == "ask" and self.on_ask is not None:
            answer = self.on_ask(decision, tool_name, tool_input, context)
            return await answer if isawaitable(answer) else answer
        return PermissionResultDeny(message=_refusal(decision))

    def _warn(self) -> None:
        self._warned = True
        warnings.warn(
            "this policy has deny or ask rules, but can_use_tool alone is not called for calls that the CLI allows on "
            "its own. Register policy.guard as a PreToolUse hook, too.",
            PolicyBypassedWarning,
            stacklevel=3,
        )

    def _sees(self, tool_use_id: str | None, hook_input: Mapping[str, Any]) -> None:
        """Record a call and the mode of its session, which the permission callback does not get."""
        seen = self._seen
        if not isinstance(seen, dict) or len(seen) >= REMEMBERED_CALLS:
            self._seen_before = seen
            self._seen = seen = {}
        seen[tool_use_id or str(hook_input.get("tool_use_id"))] = hook_input.get("permission_mode")

    async def hook(
        self, hook_input: Mapping[str, Any], tool_use_id: str | None = None, context: Any = None
    ) -> dict[str, Any]:
        """A ``PreToolUse`` hook that decides every call. Ignores all other events."""
        try:
            if _event(hook_input) != "PreToolUse":
                return {}
            self._sees(tool_use_id, hook_input)
            tool_name, tool_input = _call(hook_input)
            decision = self.decide_while(hook_input.get("permission_mode"), tool_name, tool_input)
            if decision.behavior == "allow":
                self.used(tool_name, tool_input)
        except Exception as error:  # noqa: BLE001  # the CLI would take a failure for no opinion
            return _said("deny", _failure(error))
        return _said(decision.behavior, decision.explanation)

    hook.fails_closed = True  # type: ignore[attr-defined]  # also in sessions where other hooks do not

    @property
    def guard(self) -> PreToolUseHook | None:
        """A ``PreToolUse`` hook that refuses, asks or has no opinion, and never allows; None where none is needed.

        Without an opinion, the CLI decides as usual, asking ``can_use_tool`` where it has to. The hook also tells the
        callback the session's mode.
        """
        return self._guard if self.refuses or self.lets_through else None

    async def _guard(
        self, hook_input: Mapping[str, Any], tool_use_id: str | None = None, context: Any = None
    ) -> dict[str, Any]:
        try:
            if _event(hook_input) != "PreToolUse":
                return {}
            self._sees(tool_use_id, hook_input)
            if not self.refuses:
                return {}
            decision = self.restrain(*_call(hook_input))
        except Exception as error:  # noqa: BLE001  # the CLI would take a failure for no opinion
            return _said("deny", _failure(error))
        return {} if decision.behavior == "allow" else _said(decision.behavior, decision.explanation)

    _guard.fails_closed = True  # type: ignore[attr-defined]


def _insists(context: ToolPermissionContext | None) -> str | None:
    """Why the CLI requires a person's answer; None if a rule can give it."""
    request = getattr(context, "request", None)
    kind = getattr(request, "decision_reason_type", None)
    if kind not in CLI_INSISTS:
        return None
    why = getattr(request, "decision_reason", None) or f"because of {kind}"
    return f"Claude Code asks despite the allow rules: {why}"


def _event(hook_input: Mapping[str, Any]) -> Any:
    return hook_input.get("hook_event_name", "PreToolUse")


def _call(hook_input: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    tool_input = hook_input.get("tool_input")
    return str(hook_input["tool_name"]), tool_input if isinstance(tool_input, Mapping) else {}


def _said(behavior: Behavior, reason: str) -> dict[str, Any]:
    said = {"permissionDecision": behavior, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


def _failure(error: Exception) -> str:
    return f"The policy failed, so this is denied: {type(error).__name__}: {error}"[:500]


def _refusal(decision: Decision) -> str:
    if decision.behavior == "deny":
        return f"Denied by policy. {decision.explanation}"
    return f"Denied: no one to ask. {decision.explanation}"
