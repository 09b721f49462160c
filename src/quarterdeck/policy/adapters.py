"""A policy where the CLI asks: as ``can_use_tool`` callback and as ``PreToolUse`` hook.

The callback must answer yes or no. "Ask" goes to a person through ``on_ask``; without one it is a no, with the reason:
unattended means deny. The hook can say "ask" itself, and covers sub-agents and what the CLI's own settings would allow.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, TypeAlias

from quarterdeck.wire.permissions import (
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)

from .decision import Decision

OnAsk: TypeAlias = Callable[
    [Decision, str, Mapping[str, Any], ToolPermissionContext | None], Awaitable[PermissionResult] | PermissionResult
]
"""Hands a request to a person: decision, tool name, tool input, and what the CLI told about it."""


class Callbacks:
    """What both a ``Policy`` and a ``RememberingPolicy`` offer to the client."""

    on_ask: OnAsk | None = None

    def decide(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        raise NotImplementedError

    def used(self, tool_name: str, tool_input: Mapping[str, Any]) -> None:
        """Called when a request was really let through."""

    async def __call__(
        self, tool_name: str, tool_input: Mapping[str, Any], context: ToolPermissionContext | None = None
    ) -> PermissionResult:
        """``can_use_tool``."""
        decision = self.decide(tool_name, tool_input)
        if decision.behavior == "allow":
            self.used(tool_name, tool_input)
            return PermissionResultAllow()
        if decision.behavior == "ask" and self.on_ask is not None:
            answer = self.on_ask(decision, tool_name, tool_input, context)
            return await answer if isawaitable(answer) else answer
        return PermissionResultDeny(message=_refusal(decision))

    async def hook(
        self, hook_input: Mapping[str, Any], tool_use_id: str | None = None, context: Any = None
    ) -> dict[str, Any]:
        """A ``PreToolUse`` hook. Any other event passes without a word."""
        if hook_input.get("hook_event_name", "PreToolUse") != "PreToolUse":
            return {}
        tool_name, tool_input = str(hook_input["tool_name"]), hook_input.get("tool_input")
        if not isinstance(tool_input, Mapping):
            tool_input = {}
        decision = self.decide(tool_name, tool_input)
        if decision.behavior == "allow":
            self.used(tool_name, tool_input)
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision.behavior,
                "permissionDecisionReason": decision.explanation,
            }
        }


def _refusal(decision: Decision) -> str:
    if decision.behavior == "deny":
        return f"Denied by policy. {decision.explanation}"
    return f"Nobody is here to allow this, so it is denied. {decision.explanation}"
