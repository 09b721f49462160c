"""Plain use stays pleasant: everyday commands of real projects, with sensible rules, are allowed without a question."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from quarterdeck.policy import Policy

PROJECTS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "everyday.toml").read_text())["project"]
AT_MOST = 0.025


def decisions() -> dict[str, str]:
    """Command → what is decided, over all projects."""
    found: dict[str, str] = {}
    for project in PROJECTS:
        policy = Policy.from_rules(**project["rules"], cwd="/project", home="/home/user")
        for command in project["commands"]:
            found[f"{project['about']}: {command}"] = policy.decide("Bash", {"command": command}).behavior
    return found


def test_at_most_one_in_forty_everyday_commands_is_asked_about() -> None:
    found = decisions()
    asked = [command for command, behavior in found.items() if behavior == "ask"]

    assert len(asked) <= AT_MOST * len(found), asked


def test_no_everyday_command_is_denied_and_the_list_is_long() -> None:
    found = decisions()

    assert "deny" not in found.values()
    assert len(found) > 600
