"""Shell commands of every class that is known to hide something: what the policy allows, the real CLI allows as well.

Only that direction is asserted here; ``test_differential`` holds both to the same answer on fewer calls.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import soak
from policy.random_calls import commands
from policy.real_cli import DECIDED, decisions, idle_shell
from policy.shell_calls import PIECES, Group, groups
from quarterdeck.policy import Policy

GROUPS = groups()
PER_GROUP = 10
WARM_UP = ("ls", "pwd", "true") * 10
LOOP = re.compile(r"\bfor\b")
"""2.1.325 asks about loops until it has read the environment of the shell: with these it gets a second try."""
DELIBERATE: dict[str, str] = {}
"""Commands that the policy allows and the CLI does not, each with the reason."""


class Place:
    """One group, in a folder that is thrown away."""

    def __init__(self, group: Group, root: Path) -> None:
        self.group = group
        self.cwd, self.home, self._outside = root / "project", root / "home", root / "outside"
        for folder in (self.cwd / "src", self.home, self._outside):
            folder.mkdir(parents=True)
        (self.cwd / "link").symlink_to(self._outside)
        self.shell = idle_shell(root / "shell")
        self.commands = [self._moved(command) for command in group.commands]

    def _moved(self, command: str) -> str:
        return command.replace("/outside", str(self._outside)).replace("/project", str(self.cwd))

    def ours(self) -> dict[str, str]:
        rules = {"allow": self.group.allow, "deny": self.group.deny, "ask": self.group.ask}
        policy = Policy.from_rules(**rules, cwd=self.cwd, home=str(self.home), mode=self.group.mode)
        return {command: policy.decide("Bash", {"command": command}).behavior for command in self.commands}

    def theirs(self, commands: list[str]) -> dict[str, str]:
        calls = [("Bash", {"command": command, "description": "a test"}) for command in commands]
        found = decisions(
            calls,
            cwd=self.cwd,
            home=self.home,
            permissions=self.group.permissions,
            mode=self.group.mode,
            shell=self.shell,
        )
        return dict(zip(commands, found, strict=True))

    def looser(self, allowed: list[str]) -> list[str]:
        """Those of the commands, allowed by the policy, that the CLI does not allow."""
        theirs = self.theirs(allowed) if allowed else {}
        found = [command for command in allowed if theirs[command] != "allow"]
        loops = [command for command in found if LOOP.search(command)]
        again = self.theirs([*WARM_UP, *loops]) if loops else {}
        return [command for command in found if again.get(command) != "allow"]


@pytest.mark.real
@pytest.mark.parametrize("group", GROUPS, ids=[group.about for group in GROUPS])
def test_what_the_policy_allows_the_real_cli_allows_too(group: Group, tmp_path: Path) -> None:
    place = Place(group, tmp_path.resolve())
    ours = place.ours()
    allowed = [command for command, behavior in ours.items() if behavior == "allow"]
    chosen = allowed if soak.ON else soak.part(allowed, min(PER_GROUP, len(allowed)))

    assert [command for command in place.looser(chosen) if command not in DELIBERATE] == []


WILDCARDS = tuple(f"Bash({name}:*)" for name in PIECES["wildcards"])
PROTECTED = ("Read(.env)", "Read(secrets/**)", "Read(~/.ssh/**)")
SITUATIONS: dict[str, dict[str, Any]] = {
    "without rules": {},
    "where edits are accepted": {"mode": "acceptEdits"},
    "under wildcards": {"allow": WILDCARDS},
    "under wildcards where edits are accepted": {"allow": WILDCARDS, "mode": "acceptEdits"},
    "everything but some commands": {"allow": ("Bash",), "deny": ("Bash(touch:*)", "Bash(git push:*)", "Bash(zap:*)")},
    "everything but some paths": {"allow": ("Bash",), "deny": PROTECTED},
    "bypassed": {"mode": "bypassPermissions", "deny": (*PROTECTED, "Bash(zap:*)"), "ask": ("Bash(rm:*)",)},
    "where nobody is asked": {"mode": "dontAsk"},
    "where nobody is asked but some commands and paths are denied": {
        "mode": "dontAsk",
        "allow": WILDCARDS,
        "deny": (*PROTECTED, "Bash(zap:*)"),
        "ask": ("Bash(git log:*)",),
    },
    "planning": {"mode": "plan", "allow": WILDCARDS},
    "planning where some commands and paths are denied": {
        "mode": "plan",
        "allow": WILDCARDS,
        "deny": (*PROTECTED, "Bash(zap:*)"),
        "ask": ("Bash(sort:*)",),
    },
}


@pytest.mark.real
@pytest.mark.parametrize("situation", SITUATIONS)
def test_of_commands_by_chance_the_policy_allows_none_that_the_real_cli_does_not(
    situation: str, tmp_path: Path
) -> None:
    made = commands(soak.cases(500, in_soak=10_000), f"{soak.SEED} {situation}")
    place = Place(Group(situation, tuple(made), **SITUATIONS[situation]), tmp_path.resolve())
    allowed = [command for command, behavior in place.ours().items() if behavior == "allow"]
    most = soak.cases(PER_GROUP, in_soak=600)
    chosen = random.Random(soak.SEED).sample(allowed, most) if len(allowed) > most else allowed

    assert place.looser(chosen) == []


WATCHED = (
    *("ls", "cat a.txt", "touch x", "rm x", "foo", "foo; rm x", "tail -f a.txt", "git status", "foo --x='{a,b}'"),
    *("bash -c 'rm x'", "cat .env", "foo &", "rm -rf /", "foo $(rm x)"),
)
WATCHING: dict[str, dict[str, Any]] = {
    "under a wildcard": {"allow": ["Bash(foo:*)", "Bash(tail:*)"], "deny": ["Bash(rm:*)"]},
    "all of Bash": {"allow": ["Bash"], "deny": ["Bash(rm:*)", "Read(.env)"]},
    "all of Monitor": {"allow": ["Monitor"], "deny": ["Bash(rm:*)"]},
    "bypassed": {"deny": ["Bash(rm:*)"], "mode": "bypassPermissions"},
}


@pytest.mark.real
@pytest.mark.parametrize("situation", WATCHING)
def test_of_commands_that_are_watched_the_policy_allows_none_that_the_real_cli_does_not(
    situation: str, tmp_path: Path
) -> None:
    root, options = tmp_path.resolve(), dict(WATCHING[situation])
    (root / "project").mkdir()
    mode = options.pop("mode", "default")
    watch = {"description": "watch", "timeout_ms": 1000, "persistent": False}
    calls = [("Monitor", {"command": command, **watch}) for command in WATCHED]
    policy = Policy.from_rules(**options, cwd=root / "project", home=str(root / "home"), mode=mode)
    ours = [policy.decide(*call).behavior for call in calls]
    theirs = decisions(
        calls,
        cwd=root / "project",
        home=root / "home",
        permissions=options,
        mode=mode,
        shell=idle_shell(root / "shell"),
    )

    answers = zip(WATCHED, ours, theirs, strict=True)
    assert set(theirs) <= DECIDED
    assert [answer for answer in answers if answer[1] == "allow" != answer[2]] == []


def test_enough_is_compared() -> None:
    assert sum(len(set(group.commands)) for group in GROUPS) > 12_000
