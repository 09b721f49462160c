"""A policy as ``can_use_tool`` and as ``PreToolUse`` hook."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.policy import Decision, MissingGrammarError, Policy, PolicyBypassedWarning
from quarterdeck.policy.errors import need_grammar
from quarterdeck.wire import CanUseToolRequest
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
        ("foo", PermissionResultDeny(message="Denied: no one to ask. No rule allows it.")),
    ],
)
def test_unattended_means_deny_with_the_reason(command: str, answer: PermissionResult) -> None:
    assert asyncio.run(make()("Bash", {"command": command}, ToolPermissionContext())) == answer


def hooked(policy: Policy, mode: str, tool: str, **given: Any) -> str:
    event = {"hook_event_name": "PreToolUse", "permission_mode": mode, "tool_name": tool, "tool_input": given}
    return str(asyncio.run(policy.hook(event))["hookSpecificOutput"]["permissionDecision"])


RULES = ["Edit(**)", "mcp__db", "Task(Explore)", "Bash", "Bash(python3:*)", "Bash(foo:*)"]


def test_the_hook_holds_to_the_mode_that_the_session_is_in_now() -> None:
    policy = Policy.from_rules(allow=[rule for rule in RULES if rule != "Bash"], cwd="/project")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Edit", {"file_path": "/project/a", "old_string": "a", "new_string": "b"}),
        ("mcp__db__query", {}),
        ("Task", {"subagent_type": "Explore"}),
        ("Bash", {"command": "python3 a.py"}),
        ("Bash", {"command": "foo"}),
    ]
    said = {
        mode: [hooked(policy, mode, tool, **given) for tool, given in calls] for mode in ("default", "plan", "auto")
    }
    assert said == {
        "default": ["allow"] * 5,
        "plan": ["ask", "ask", "ask", "ask", "allow"],
        "auto": ["allow", "allow", "ask", "ask", "allow"],
    }


@pytest.mark.parametrize("mode", ["plan", "auto"])
def test_a_rule_for_any_code_does_not_count_while_planning_and_in_auto_mode(mode: Any) -> None:
    policy = Policy.from_rules(allow=RULES, cwd="/project", mode=mode)
    assert policy.decide("Bash", {"command": "touch x"}).behavior == "ask"
    assert policy.decide("Bash", {"command": "foo x"}).behavior == "allow"


@pytest.mark.parametrize(
    ("reason", "behavior"),
    [("mode", "deny"), ("hook", "deny"), ("rule", "deny"), ("safetyCheck", "deny"), (None, "allow")],
)
def test_no_rule_answers_where_the_cli_insists_on_a_person(reason: str | None, behavior: str) -> None:
    request = CanUseToolRequest(tool_name="Bash", input={}, tool_use_id="t", decision_reason_type=reason)
    context = ToolPermissionContext.from_request(request)
    policy = Policy.from_rules(allow=["Bash(ok)"], cwd="/project")
    assert asyncio.run(policy("Bash", {"command": "ok"}, context)).behavior == behavior


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


def call(command: str) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}


def said(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", "nothing"))


@pytest.mark.parametrize(
    ("command", "word"), [("ok", "nothing"), ("no", "deny"), ("careful", "ask"), ("foo", "nothing"), ("$X y", "ask")]
)
def test_the_guard_refuses_and_asks_but_never_allows(command: str, word: str) -> None:
    policy = Policy.from_rules(allow=["Bash(ok)"], deny=["Bash(no)"], ask=["Bash(careful)"], cwd="/project")

    assert policy.guard is not None
    assert said(asyncio.run(policy.guard(call(command)))) == word


def test_without_deny_and_ask_rules_there_is_nothing_to_guard() -> None:
    assert Policy.from_rules(allow=["Bash(ok)"], cwd="/project").guard is None


class Broken:
    """A disk that cannot be looked at."""

    failing = False

    def real(self, path: str) -> str:
        if self.failing:
            raise RuntimeError("disk is gone")
        return path


def test_a_policy_that_fails_as_a_hook_denies_with_the_reason() -> None:
    disk = Broken()
    policy = Policy.from_rules(allow=["Read(**)"], deny=["Read(x)"], cwd="/project", resolver=disk)
    disk.failing = True
    given = {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "/project/a"}}

    assert policy.guard is not None
    for hook in (policy.hook, policy.guard):
        answer = asyncio.run(hook(given))["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"
        assert answer["permissionDecisionReason"] == "The policy failed, so this is denied: RuntimeError: disk is gone"


@pytest.mark.parametrize("given", [{}, {"tool_name": "Bash"}, {"tool_input": 3}])
def test_a_hook_that_is_told_nothing_it_knows_does_not_allow(given: dict[str, Any]) -> None:
    assert said(asyncio.run(make().hook(given))) in ("deny", "ask")


@pytest.mark.parametrize("given", [None, [], "PreToolUse", 7])
def test_a_hook_that_is_given_no_event_at_all_denies(given: Any) -> None:
    policy = Policy.from_rules(allow=["Bash"], deny=["Bash(rm:*)"], cwd="/project")

    assert policy.guard is not None
    assert said(asyncio.run(policy.hook(given))) == "deny"
    assert said(asyncio.run(policy.guard(given))) == "deny"


def test_a_chain_of_links_too_long_to_follow_is_denied(tmp_path: Path) -> None:
    (tmp_path / "link0").symlink_to("/etc/hostname")
    for number in range(1, 1_500):
        (tmp_path / f"link{number}").symlink_to(f"link{number - 1}")
    policy = Policy.from_rules(allow=["Read"], cwd=tmp_path)
    given = {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": f"{tmp_path}/link1499"}}

    assert said(asyncio.run(policy.hook(given))) == "deny"


def test_no_policy_is_made_without_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    need_grammar.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)

    with pytest.raises(MissingGrammarError, match=r"pip install 'quarterdeck\[policy\]'"):
        make()


def test_a_policy_that_is_passed_by_says_so_once() -> None:
    policy = make()
    context = ToolPermissionContext(tool_use_id="toolu_1")

    with pytest.warns(PolicyBypassedWarning, match=r"Register policy\.guard as a PreToolUse hook, too"):
        asyncio.run(policy("Bash", {"command": "ok"}, context))
    asyncio.run(policy("Bash", {"command": "ok"}, context))


def test_a_policy_that_is_asked_about_every_call_says_nothing_of_it() -> None:
    policy = make()
    asyncio.run(policy.hook(call("ok")))

    asyncio.run(policy("Bash", {"command": "ok"}, ToolPermissionContext(tool_use_id="toolu_1")))
