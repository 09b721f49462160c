"""What is remembered: as narrow as can be, for a time, by someone, and revocable."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.policy import (
    CannotRememberError,
    Grant,
    Memory,
    Policy,
    RememberingPolicy,
    Rule,
    judge_suggestions,
    narrow_rules,
)
from quarterdeck.policy.cases import LinkTable
from quarterdeck.policy.requests import parse_request, show_request
from quarterdeck.wire.permissions import PermissionRuleValue, PermissionUpdate


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make(**rules: Any) -> Policy:
    return Policy.from_rules(**rules, cwd="/project", home="/home/user", resolver=LinkTable({}))


@pytest.mark.parametrize(
    ("request_text", "rules"),
    [
        ("rm -rf build", ["Bash(rm -rf build)"]),
        ("npm run build -- --prod", ["Bash(npm run build -- --prod)"]),
        ("a && b x; ls", ["Bash(a)", "Bash(b x)"]),
        ("timeout 5 foo", ["Bash(foo)"]),
        ("foo '(x)'", ["Bash(foo '\\(x\\)')"]),
        ("foo > out.txt", ["Bash(foo)", "Edit(//project/out.txt)"]),
        ("sudo apt update", ["Bash(sudo apt update)"]),
        ("cat /srv/log", ["Bash(cat /srv/log)", "Read(//srv/log)"]),
        ("rm /srv/log", ["Bash(rm /srv/log)", "Edit(//srv/log)"]),
        ("python3 -c 'print()'", ["Bash(python3 -c 'print\\(\\)')"]),
        ("Write(src/a.ts)", ["Edit(//project/src/a.ts)"]),
        ("Write(src/[id].ts)", ["Edit(//project/src/\\\\[id\\\\].ts)"]),
        ("Read(/etc/hosts)", ["Read(//etc/hosts)"]),
        ("WebFetch(https://example.com/a/b)", ["WebFetch(domain:example.com)"]),
        ("mcp__server__tool", ["mcp__server__tool"]),
        ("Skill(deploy)", ["Skill(deploy)"]),
    ],
)
def test_the_narrowest_rule_allows_exactly_this(request_text: str, rules: list[str]) -> None:
    found = narrow_rules(make(), *parse_request(request_text))

    assert [rule.text for rule in found] == rules


@pytest.mark.parametrize(
    "request_text",
    [
        *("foo *", "foo $X", "foo $(bar)", "eval foo", "foo &", "(foo)", "foo > $X", "x (", "PATH=. foo", "foo a:*"),
        *(
            "Write(.git/config)",
            "ExitPlanMode",
            "WebFetch(not a url)",
            "rm -rf /",
            "cp -r a b",
            "foo 'a\nb'",
            "",
            "Bash",
        ),
    ],
)
def test_what_no_rule_can_say_exactly_is_not_remembered(request_text: str) -> None:
    memory = Memory(clock=Clock())

    with pytest.raises(CannotRememberError):
        memory.grant_request(make(), *parse_request(request_text), scope="session", granted_by="ann")

    assert memory.grants() == ()


def test_a_grant_knows_its_scope_its_end_and_who_gave_it() -> None:
    clock = Clock()
    memory = Memory(clock=clock)

    made = memory.grant_request(
        make(), "Bash", {"command": "rm -rf build"}, scope="session", granted_by="ann", lasts_s=60
    )

    call = 'Bash {"command": "rm -rf build"}'
    assert made == Grant(1, ("Bash(rm -rf build)",), "session", "ann", 1000.0, 1060.0, "rm -rf build", call)
    assert memory.grants() == (made,)
    assert memory.rules() == ()
    assert memory.rules(call=call) == (Rule("Bash(rm -rf build)", "Bash", "rm -rf build", "allow", "session"),)


def test_a_grant_ends_when_its_time_is_over() -> None:
    clock = Clock()
    policy = RememberingPolicy(make(), Memory(clock=clock))
    policy.memory.grant(["Bash(foo)"], scope="session", granted_by="ann", lasts_s=60)

    before = policy.decide("Bash", {"command": "foo"}).behavior
    clock.now = 1060.0
    after = policy.decide("Bash", {"command": "foo"}).behavior

    assert (before, after, policy.memory.grants()) == ("allow", "ask", ())


def test_a_grant_can_be_revoked() -> None:
    policy = RememberingPolicy(make(), Memory(clock=Clock()))
    grant = policy.memory.grant(["Bash(foo)"], scope="user", granted_by="ann")

    assert policy.decide("Bash", {"command": "foo"}).behavior == "allow"
    assert policy.memory.revoke(grant.number) == grant
    assert policy.decide("Bash", {"command": "foo"}).behavior == "ask"
    with pytest.raises(KeyError):
        policy.memory.revoke(grant.number)


def test_a_grant_never_beats_a_deny_or_an_ask() -> None:
    policy = RememberingPolicy(make(deny=["Bash(foo)"], ask=["Bash(bar)"]), Memory(clock=Clock()))
    policy.memory.grant(["Bash(foo)", "Bash(bar)"], scope="session", granted_by="ann")

    assert policy.decide("Bash", {"command": "foo"}).behavior == "deny"
    assert policy.decide("Bash", {"command": "bar"}).behavior == "ask"


async def _answers(policy: RememberingPolicy, *commands: str) -> list[str]:
    return [(await policy("Bash", {"command": command})).behavior for command in commands]


def test_a_grant_for_once_is_used_up_by_the_call_that_needed_it() -> None:
    import asyncio

    policy = RememberingPolicy(make(allow=["Bash(ok)"]), Memory(clock=Clock()))
    policy.memory.grant(["Bash(foo)"], scope="once", granted_by="ann")

    answers = asyncio.run(_answers(policy, "ok", "bar", "ok; foo", "foo"))

    assert answers == ["allow", "deny", "allow", "deny"]
    assert policy.memory.grants() == ()


def test_only_what_outlives_the_session_is_kept() -> None:
    clock = Clock()
    memory = Memory(clock=clock)
    memory.grant(["Bash(a)"], scope="session", granted_by="ann")
    memory.grant(["Bash(b)"], scope="once", granted_by="ann")
    kept = [
        memory.grant([f"Bash({name})"], scope=scope, granted_by="bob")
        for name, scope in (("c", "project"), ("d", "user"))
    ]  # type: ignore[arg-type]

    loaded = Memory.load(memory.dump(), clock=clock)

    assert loaded.grants() == tuple(kept)


@pytest.mark.parametrize("rules", [[], ["Bash"], ["Bash(*)"], ["Bash("], ["Bash(a)", "Bash"]])
def test_every_command_at_once_and_bad_rules_are_not_remembered(rules: list[str]) -> None:
    with pytest.raises(CannotRememberError):
        Memory(clock=Clock()).grant(rules, scope="session", granted_by="ann")


def test_a_kept_grant_that_would_not_be_given_is_refused() -> None:
    text = b'[{"number":1,"rules":["Bash"],"scope":"user","granted_by":"x","granted_at":0}]'

    with pytest.raises(CannotRememberError):
        Memory.load(text, clock=Clock())


def rule(tool: str, content: str | None = None) -> list[PermissionRuleValue]:
    return [PermissionRuleValue(tool, content)]


@pytest.mark.parametrize(
    ("request_text", "update", "says", "narrow"),
    [
        (
            "rm a",
            PermissionUpdate("addRules", rules=rule("Bash", "rm a *"), behavior="allow", destination="localSettings"),
            "allow Bash(rm a *) from now on (localSettings)",
            True,
        ),
        (
            "npm run test x",
            PermissionUpdate("addRules", rules=rule("Bash", "npm:*"), behavior="allow", destination="session"),
            "allow Bash(npm:*) from now on (session)",
            False,
        ),
        (
            "foo",
            PermissionUpdate("addRules", rules=rule("Bash", "foo"), behavior="allow"),
            "allow Bash(foo) from now on",
            True,
        ),
        ("foo", PermissionUpdate("addRules", rules=rule("Bash"), behavior="allow"), "allow Bash from now on", False),
        (
            "foo a",
            PermissionUpdate("addRules", rules=rule("Bash", "other a"), behavior="allow"),
            "allow Bash(other a) from now on",
            False,
        ),
        (
            "foo",
            PermissionUpdate("setMode", mode="acceptEdits", destination="session"),
            "switch the whole session to acceptEdits (session)",
            False,
        ),
        (
            "foo",
            PermissionUpdate("addDirectories", directories=["/x"], destination="session"),
            "add the working folders /x (session)",
            False,
        ),
        (
            "foo",
            PermissionUpdate("removeRules", rules=rule("Bash", "x"), behavior="deny"),
            "deny Bash(x) no longer",
            False,
        ),
        (
            "Read(/etc/hosts)",
            PermissionUpdate("addRules", rules=rule("Read", "//etc/**"), behavior="allow"),
            "allow Read(//etc/**) from now on",
            True,
        ),
        (
            "Read(/etc/hosts)",
            PermissionUpdate("addRules", rules=rule("Read", "//**"), behavior="allow"),
            "allow Read(//**) from now on",
            False,
        ),
        (
            "mcp__s__t",
            PermissionUpdate("addRules", rules=rule("mcp__s__t"), behavior="allow"),
            "allow mcp__s__t from now on",
            True,
        ),
        (
            "mcp__s__t",
            PermissionUpdate("addRules", rules=rule("mcp__s"), behavior="allow"),
            "allow mcp__s from now on",
            False,
        ),
    ],
)
def test_suggestions_of_the_cli_are_shown_as_what_they_are(
    request_text: str, update: PermissionUpdate, says: str, narrow: bool
) -> None:
    (found,) = judge_suggestions(make(), *parse_request(request_text), [update])

    assert (found.update, found.says, found.narrow) == (update, says, narrow)


@pytest.mark.parametrize(
    "text", ["Bash(rm -rf build)", "Read(~/x)", "WebFetch(https://x.org)", "mcp__a__b", "Skill(x)"]
)
def test_a_request_is_shown_as_it_was_written(text: str) -> None:
    assert show_request(*parse_request(text)) == text
