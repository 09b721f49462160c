"""A grant covers the call it was given for, and none of its neighbours."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import soak
from looping import for_each
from quarterdeck.policy import CannotRememberError, Memory, Policy, RememberingPolicy, narrow_rules

CALLS: list[tuple[str, dict[str, Any]]] = [
    *[("Bash", {"command": command}) for command in ("ls /etc", "mkdir /srv/app", "cat /etc/hostname", "rm -rf build")],
    *[
        ("Bash", {"command": command})
        for command in ("make deploy", "foo > out.txt", "git push origin main", "a && b x")
    ],
    ("Monitor", {"command": "tail log", "description": "watch"}),
    ("PowerShell", {"command": "Get-Item x"}),
    ("Read", {"file_path": "/etc"}),
    ("Read", {"file_path": "/etc/hostname"}),
    ("Write", {"file_path": "/srv/app", "content": "x"}),
    ("Edit", {"file_path": "/project/a.py", "old_string": "a", "new_string": "b"}),
    ("WebFetch", {"url": "https://example.org/a", "prompt": "read"}),
    ("Skill", {"skill": "deploy", "args": "staging"}),
    ("mcp__db__query", {"sql": "select 1"}),
    ("Workflow", {"name": "x"}),
]
PROBES: list[tuple[str, dict[str, Any]]] = [
    *[
        ("Bash", {"command": command})
        for command in ("cat /etc/shadow", "ls /etc/ssl", "cat /etc/hostname.bak", "touch /srv/app/x")
    ],
    *[
        ("Bash", {"command": command})
        for command in ("head /etc/hostname", "rm -rf build/..", "rm -rf /", "make deploy-all")
    ],
    *[
        ("Bash", {"command": command})
        for command in ("bar > out.txt", "git push origin main --force", "b x && a", "b x", "tail log")
    ],
    ("Read", {"file_path": "/etc/shadow"}),
    ("Read", {"file_path": "/etc/hosts"}),
    ("Write", {"file_path": "/srv/app/x", "content": "x"}),
    ("Write", {"file_path": "/srv/app", "content": "y"}),
    ("WebFetch", {"url": "https://example.org/b", "prompt": "read"}),
    ("Skill", {"skill": "deploy", "args": "production"}),
    ("mcp__db__query", {"sql": "drop table x"}),
    ("mcp__db__drop", {}),
    ("Workflow", {"name": "y"}),
]


def make() -> Policy:
    return Policy.from_rules(cwd="/project", home="/home/user")


def neighbours(call: tuple[str, dict[str, Any]], chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that differ in one place."""
    tool, given = call
    for key, value in given.items():
        if not isinstance(value, str) or (tool == "Bash" and key == "description"):
            continue
        at = chance.randrange(len(value) + 1)
        changes = [f"{value}x", f"{value}/x", f"{value} x", f"x{value}", value[:-1], value.upper(), f"{value}; id"]
        changes += [f"{value}/../x", f"{value[:at]}*{value[at:]}", f"{value[:at]}{value[at + 1 :]}", f"{value}\n"]
        for changed in changes:
            if changed != value:
                yield tool, {**given, key: changed}
    yield tool, {**given, "run_in_background": True}
    yield tool, {**given, "dangerouslyDisableSandbox": True}
    yield f"{tool}x", given


@for_each("call", CALLS, ids=str)
def test_a_grant_lets_its_own_call_through_and_no_neighbour(call: tuple[str, dict[str, Any]]) -> None:
    base, memory = make(), Memory(clock=lambda: 0.0)
    try:
        memory.grant_request(base, *call, scope="session", granted_by="ann")
    except CannotRememberError:
        return
    policy = RememberingPolicy(base, memory)
    assert policy.decide(*call).behavior == "allow"

    chance = random.Random(f"{soak.SEED} {call}")
    tried = [*PROBES, *CALLS]
    for _ in range(soak.cases(3, in_soak=300)):
        tried += neighbours(call, chance)
    opened = [
        other
        for other in tried
        if other != call and policy.decide(*other).behavior == "allow" != base.decide(*other).behavior
    ]
    assert opened == []


@for_each("rules", [{"mode": "plan"}, {"ask": ["Task"]}, {"ask": ["Agent(Explore)"]}], ids=str)
def test_an_agent_that_is_asked_about_is_asked_about_each_time(rules: dict[str, Any]) -> None:
    policy = Policy.from_rules(cwd="/project", home="/home/user", **rules)
    call = ("Task", {"subagent_type": "Explore", "description": "look", "prompt": "look around"})

    assert policy.decide(*call).behavior == "ask"
    with pytest.raises(CannotRememberError):
        Memory(clock=lambda: 0.0).grant_request(policy, *call, scope="session", granted_by="ann")


def test_most_of_these_calls_can_be_remembered() -> None:
    remembered = 0
    for call in CALLS:
        try:
            Memory(clock=lambda: 0.0).grant_request(make(), *call, scope="session", granted_by="ann")
            remembered += 1
        except CannotRememberError:
            continue
    assert remembered >= len(CALLS) - 3


def test_a_call_remembered_for_the_user_is_that_call_after_it_was_kept_in_a_file() -> None:
    memory = Memory(clock=lambda: 0.0)
    memory.grant_request(make(), "Bash", {"command": "ls /etc"}, scope="user", granted_by="ann")
    policy = RememberingPolicy(make(), Memory.load(memory.dump(), clock=lambda: 0.0))

    assert policy.decide("Bash", {"command": "ls /etc", "description": "look"}).behavior == "allow"
    assert policy.decide("Read", {"file_path": "/etc/shadow"}).behavior == "ask"


@for_each("tool", ["Bash", "Monitor", "PowerShell", "Task", "Agent"])
def test_a_whole_tool_that_acts_is_not_remembered(tool: str) -> None:
    memory = Memory(clock=lambda: 0.0)
    try:
        memory.grant([tool], scope="session", granted_by="ann")
    except CannotRememberError:
        return
    raise AssertionError(f"all of {tool} was granted")


def test_no_rule_is_offered_that_opens_a_folder() -> None:
    assert narrow_rules(make(), "Bash", {"command": "ls /etc"}) == ()
    assert narrow_rules(make(), "Read", {"file_path": "/etc"}) == ()
    assert [str(rule) for rule in narrow_rules(make(), "Read", {"file_path": "/etc/hostname"})] == [
        "Read(//etc/hostname)"
    ]
