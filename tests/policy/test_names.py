"""Agents and skills by name: the one that is used when none is named, blanks, case, and names that are not certain."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.policy import Policy

ASKED = {"description": "look", "prompt": "look around"}


def decide(policy: Policy, tool: str, **given: Any) -> str:
    return policy.decide(tool, given if tool == "Skill" else {**ASKED, **given}).behavior


@pytest.mark.parametrize("tool", ["Task", "Agent"])
@pytest.mark.parametrize("rule", ["Task(general-purpose)", "Agent(general-purpose)"])
@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_a_call_that_names_no_agent_is_judged_as_the_one_that_it_starts(tool: str, rule: str, behavior: str) -> None:
    policy = Policy.from_rules(allow=["Task"], **{behavior: [rule]}, cwd="/project")

    assert decide(policy, tool) == behavior
    assert decide(policy, tool, subagent_type=None) == behavior
    assert decide(policy, tool, subagent_type="Explore") == "allow"


@pytest.mark.parametrize(
    "name",
    ["Explore", " Explore", "Explore ", "Explore\n", "\tExplore", "\ufeffExplore", "Explore\xa0", "explore", "EXPLORE"],
)
@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_blanks_and_case_hide_no_agent_from_a_rule_against_it(name: str, behavior: str) -> None:
    policy = Policy.from_rules(**{behavior: ["Task(Explore)"]}, cwd="/project")

    assert decide(policy, "Task", subagent_type=name) == behavior


@pytest.mark.parametrize("name", ["greet", " greet ", "GREET", "/greet", "greet:part", "Greet:part", "\u3000greet"])
def test_blanks_case_and_a_slash_hide_no_skill_from_a_rule_against_it(name: str) -> None:
    policy = Policy.from_rules(allow=["Skill"], deny=["Skill(greet:*)"], cwd="/project")

    assert decide(policy, "Skill", skill=name) == "deny"


@pytest.mark.parametrize("name", [None, "", 7, ["Explore"], "Expl\u200bore", "\uff25xplore"])
def test_a_name_that_is_not_certain_is_not_allowed_where_another_is_denied(name: Any) -> None:
    policy = Policy.from_rules(allow=["Task", "Skill"], deny=["Task(Explore)", "Skill(Explore)"], cwd="/project")

    assert decide(policy, "Skill", skill=name) in ("ask", "deny")
    assert name is None or decide(policy, "Task", subagent_type=name) in ("ask", "deny")


@pytest.mark.parametrize("name", ["greet", "/greet"])
@pytest.mark.parametrize("other", ["Greet", "greet ", "greets", "greet:part", "gree", "x:greet", "//greet", "./greet"])
def test_a_rule_allows_only_the_skill_that_it_names(name: str, other: str) -> None:
    policy = Policy.from_rules(allow=["Skill(greet)"], cwd="/project")

    assert decide(policy, "Skill", skill=name) == "allow"
    assert decide(policy, "Skill", skill=other) == "ask"
