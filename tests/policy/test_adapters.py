"""A policy as ``can_use_tool`` and as ``PreToolUse`` hook."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from quarterdeck.policy import Decision, Policy
from quarterdeck.wire.permissions import (
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)


def make(**options: Any) -> Policy:
    return Policy.from_rules(allow=["Bash(ok)"], deny=["Bash(no)"], cwd="/project", **options)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("ok", PermissionResultAllow()),
        ("no", PermissionResultDeny(message="Denied by policy. Bash(no) matches 'no'.")),
        ("foo", PermissionResultDeny(message="Nobody is here to allow this, so it is denied. No rule allows it.")),
    ],
)
def test_unattended_means_deny_with_the_reason(command: str, answer: PermissionResult) -> None:
    assert asyncio.run(make()("Bash", {"command": command}, ToolPermissionContext())) == answer


@pytest.mark.parametrize("waits", [True, False])
def test_what_is_to_be_asked_is_handed_to_a_person(waits: bool) -> None:
    asked: list[tuple[str, str, Any]] = []

    def answer(
        decision: Decision, tool: str, given: Mapping[str, Any], context: ToolPermissionContext | None
    ) -> PermissionResult:
        asked.append((decision.behavior, tool, given))
        return PermissionResultAllow(updated_input={"command": "less"})

    async def answer_later(*request: Any) -> PermissionResult:
        return answer(*request)

    policy = make(on_ask=answer_later if waits else answer)

    async def ask() -> list[PermissionResult]:
        return [await policy("Bash", {"command": command}) for command in ("ok", "no", "foo")]

    answers = asyncio.run(ask())

    assert [one.behavior for one in answers] == ["allow", "deny", "allow"]
    assert asked == [("ask", "Bash", {"command": "foo"})]


@pytest.mark.parametrize(
    ("command", "decision", "reason"),
    [
        ("ok", "allow", "Bash(ok) allows it."),
        ("no", "deny", "Bash(no) matches 'no'."),
        ("foo", "ask", "No rule allows it."),
    ],
)
def test_the_hook_says_allow_deny_or_ask(command: str, decision: str, reason: str) -> None:
    given = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}

    assert asyncio.run(make().hook(given, "toolu_1", None)) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }


def test_the_hook_says_nothing_about_other_events() -> None:
    assert asyncio.run(make().hook({"hook_event_name": "Stop"})) == {}


def test_the_hook_asks_about_a_call_without_input() -> None:
    answer = asyncio.run(make().hook({"tool_name": "Bash", "tool_input": None}))

    assert answer["hookSpecificOutput"]["permissionDecision"] == "ask"
