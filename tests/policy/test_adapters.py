"""A policy as ``can_use_tool`` and as ``PreToolUse`` hook."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.policy import Decision, MissingGrammarError, Policy, PolicyBypassedWarning
from quarterdeck.policy.adapters import REMEMBERED_CALLS
from quarterdeck.policy.errors import need_grammar
from quarterdeck.policy.policy import MODES
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


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Edit", {"file_path": "/project/a", "old_string": "a", "new_string": "b"}),
    ("mcp__db__query", {}),
    ("Task", {"subagent_type": "Explore"}),
    ("Bash", {"command": "python3 a.py"}),
    ("Bash", {"command": "foo"}),
    ("Write", {"file_path": "/project/b", "content": "b"}),
    ("Bash", {"command": "touch /project/b"}),
    ("Bash", {"command": "bar"}),
]
IN_MODE = {
    #                    Edit     mcp      Task     python3  foo      Write    touch    bar
    "default":           "allow   allow    allow    allow    allow    ask      ask      ask",
    "acceptEdits":       "allow   allow    allow    allow    allow    allow    allow    ask",
    "plan":              "ask     ask      ask      ask      allow    ask      ask      ask",
    "bypassPermissions": "allow   allow    allow    allow    allow    allow    allow    allow",
    "dontAsk":           "allow   allow    allow    allow    allow    deny     deny     deny",
    "auto":              "allow   allow    ask      ask      allow    ask      ask      ask",
}  # fmt: skip
"""What a policy answers whose own mode is the session's. It allows an edit of ``a`` by a rule."""
STRICTEST = ("deny", "ask", "allow")


@pytest.mark.parametrize("own", MODES)
@pytest.mark.parametrize("session", MODES)
def test_the_stricter_of_the_policys_mode_and_the_sessions_present_one_holds(own: Any, session: str) -> None:
    allow = ["Edit(/a)", "mcp__db", "Task(Explore)", "Bash(python3:*)", "Bash(foo:*)"]
    policy = Policy.from_rules(allow=allow, cwd="/project", mode=own, roots={"session": "/project"})
    expected = [
        min(pair, key=STRICTEST.index) for pair in zip(IN_MODE[own].split(), IN_MODE[session].split(), strict=True)
    ]

    assert [hooked(policy, session, tool, **given) for tool, given in CALLS] == expected
    # the callback is not told the mode, but the guard is, and comes first
    if policy.guard is not None:
        assert [asked(policy, session, tool, given) for tool, given in CALLS] == [
            "allow" if word == "allow" else "deny" for word in expected
        ]


def asked(policy: Policy, mode: str, tool: str, given: dict[str, Any]) -> str:
    """What the callback says of a call that the guard has let pass."""
    event = {"hook_event_name": "PreToolUse", "permission_mode": mode, "tool_name": tool, "tool_input": given}
    context = ToolPermissionContext(tool_use_id=f"{mode} {tool} {given}")
    assert policy.guard is not None
    assert asyncio.run(policy.guard(event, context.tool_use_id)) == {}
    return asyncio.run(policy(tool, given, context)).behavior


def test_a_policy_whose_mode_allows_calls_has_a_guard_which_is_told_the_sessions_mode() -> None:
    guards = {mode: Policy.from_rules(allow=["Bash(ok)"], mode=mode).guard for mode in MODES}
    assert {mode for mode, guard in guards.items() if guard is not None} == {"acceptEdits", "bypassPermissions"}


def test_in_a_mode_that_it_does_not_know_it_is_as_strict_as_in_the_default_one() -> None:
    policy = Policy.from_rules(cwd="/project", mode="bypassPermissions")
    assert [hooked(policy, mode, "Bash", command="touch x") for mode in ("bypassPermissions", "yolo")] == [
        "allow",
        "ask",
    ]


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
    for number in range(2 * REMEMBERED_CALLS):
        asyncio.run(policy.hook(call("ok"), f"toolu_{number}"))
        asyncio.run(policy("Bash", {"command": "ok"}, ToolPermissionContext(tool_use_id=f"toolu_{number}")))


def test_a_session_with_the_hook_does_not_keep_one_without_it_from_being_noticed() -> None:
    policy = make()
    asyncio.run(policy.hook(call("ok"), "toolu_1"))

    with pytest.warns(PolicyBypassedWarning):
        asyncio.run(policy("Bash", {"command": "ok"}, ToolPermissionContext(tool_use_id="toolu_2")))


def test_it_forgets_which_calls_the_hook_has_seen_long_ago() -> None:
    policy = make()
    for number in range(3 * REMEMBERED_CALLS):
        asyncio.run(policy.hook(call("ok"), f"toolu_{number}"))

    with pytest.warns(PolicyBypassedWarning):
        asyncio.run(policy("Bash", {"command": "ok"}, ToolPermissionContext(tool_use_id="toolu_0")))
