"""Made-up calls, put to the policy and to the real CLI under the same settings: the policy allows nothing it does not.

A part of the calls in ``make test``, all of them in ``make soak``.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import soak
from policy.generated_calls import (
    ELSEWHERE,
    TOOLS,
    Call,
    Group,
    all_groups,
    build_files,
    build_skills,
    fill,
    mcp_flags,
)
from policy.real_cli import DECIDED, decisions, share_decided
from quarterdeck.policy import Policy

LOOSER: dict[tuple[str, str], str] = {}
"""Group and call on which the policy allows and the CLI does not, with the reason. There is none."""
CALLS_IN_TEST = 40
GROUPS = all_groups()
GROUPS_IN_TEST = {"searches": 1, "tools": 1, "former": 1}
"""Of each kind; three of the others: reads, writes, notebooks, URLs, agents and skills, MCP tools."""
COMPARED = {"notebooks": 0.4, "searches": 0.5, "tools": 0.5, "former": 0.4}
"""The part of the calls that the CLI must have decided about, where it is not ``MOST``: 2.1.325 first looks whether a
notebook has been read, or whether a task exists; of a denied tool it offers nothing."""
MOST = 0.7


def kind(group: Group) -> str:
    return group.about.partition(" ")[0]


KINDS = list(dict.fromkeys(map(kind, GROUPS)))
CHOSEN = [
    group
    for wanted in KINDS
    for group in soak.part([group for group in GROUPS if kind(group) == wanted], GROUPS_IN_TEST.get(wanted, 3))
]


def chosen(group: Group) -> list[Call]:
    """Some of the calls of a group, always the same; all of them in a soak."""
    if soak.ON or len(group.calls) <= CALLS_IN_TEST:
        return group.calls
    return random.Random(f"{soak.SEED} {group.about}").sample(group.calls, CALLS_IN_TEST)


def put(group: Group, calls: list[Call], root: Path) -> list[tuple[Call, str, str]]:
    """Each call with what the policy and what the CLI say."""
    build_files(root)
    build_skills(root)
    cwd, home = root / "project", root / "home"
    filled = [
        (tool, {key: fill(value, root) if isinstance(value, str) else value for key, value in given.items()})
        for tool, given in calls
    ]
    rules = {behavior: [fill(rule, root) for rule in listed] for behavior, listed in group.rules.items()}
    directories = [fill(folder, root) for folder in group.directories]
    policy = Policy.from_rules(**rules, cwd=cwd, home=str(home), mode=group.mode, directories=directories)
    ours = [policy.decide(*call).behavior for call in filled]
    flags = mcp_flags(root) if group.about.startswith("MCP") else ()
    permissions = {**rules, "additionalDirectories": directories}
    theirs = decisions(filled, cwd=cwd, home=home, permissions=permissions, mode=group.mode, flags=flags, cli=group.cli)
    return list(zip(calls, ours, theirs, strict=True))


@pytest.mark.real
@pytest.mark.parametrize("group", CHOSEN, ids=[group.about for group in CHOSEN])
def test_the_policy_allows_nothing_that_the_real_cli_does_not(group: Group, tmp_path: Path) -> None:
    answers = put(group, chosen(group), tmp_path.resolve())

    looser = [
        (call, theirs)
        for call, ours, theirs in answers
        if ours == "allow" != theirs and theirs in DECIDED and (group.about, str(call)) not in LOOSER
    ]
    assert looser == []
    # of a server that is denied as a whole the CLI offers nothing that could be decided about
    denied = all(ours == "deny" for _, ours, _ in answers)
    assert denied or share_decided([theirs for _, _, theirs in answers]) >= COMPARED.get(kind(group), MOST)


@pytest.mark.real
def test_every_tool_that_the_real_cli_offers_is_put_to_it(tmp_path: Path) -> None:
    offered: set[str] = set()
    folders = {"cwd": tmp_path.resolve() / "project", "home": tmp_path.resolve() / "home"}
    decisions([("CronList", {})], **folders, offered=offered)

    assert offered
    assert offered - {name for name, _ in TOOLS} == ELSEWHERE


def test_enough_is_made_up() -> None:
    assert sum(len(group.calls) for group in GROUPS) > 5_000
    assert len({str(call) for group in GROUPS for call in group.calls}) > 1_500
