"""Shell commands for the comparison with the real CLI, made from classes and templates; always the same ones.

Each group is one set of settings. Nothing is run: the CLI of the comparison is given a shell that does nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PIECES: dict[str, list[str]] = tomllib.loads((HERE / "shell_calls.toml").read_text())

FOUND_BY_CHANCE = (
    "a number computed in braces",
    "only with options that are known to print",
    "a here-document for a test",
    "braces in a word that is quoted only in part",
    "a here-string right behind the program",
    "in acceptEdits, variables and quotes",
    "with a path denied, what goes through",
    "with no path denied, nothing is asked",
    "in every mode, $$ before a bracket",
    "a file named by digits",
    "an option behind an operand",
)
"""Tables of ``guard.toml`` that began with a find of the random comparison."""


@dataclass(frozen=True)
class Group:
    about: str
    commands: tuple[str, ...]
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    mode: str = "default"
    directories: tuple[str, ...] = field(default=())

    @property
    def permissions(self) -> dict[str, list[str]]:
        return {
            "allow": list(self.allow),
            "deny": list(self.deny),
            "ask": list(self.ask),
            "additionalDirectories": list(self.directories),
        }


def _fill(templates: Iterable[str], *values: Iterable[str]) -> tuple[str, ...]:
    """Every template with every combination of values in its gaps."""
    return tuple(dict.fromkeys(template.format(*given) for template in templates for given in product(*values)))


def _guard_table(wanted: str) -> dict[str, Any]:
    groups = tomllib.loads((HERE / "cases" / "guard.toml").read_text())["group"]
    found: dict[str, Any] = next(group for group in groups if wanted in group["about"])
    return found


def _guard_commands(wanted: str) -> tuple[str, ...]:
    return tuple(command for listed in _guard_table(wanted)["expect"].values() for command in listed)


def _guard_group(wanted: str) -> Group:
    """With the rules and the mode of its table."""
    table = _guard_table(wanted)
    rules = {behavior: tuple(listed) for behavior, listed in table.get("rules", {}).items()}
    return Group(wanted, _guard_commands(wanted), **rules, mode=table.get("mode", "default"))


def _made(template: str, *names: str) -> tuple[str, ...]:
    templates = PIECES.get(template, [template])
    return _fill(templates, *(PIECES[name] for name in names))


def groups() -> list[Group]:
    """All of them."""
    wildcards = tuple(f"Bash({name}:*)" for name in PIECES["wildcards"])
    everything, guard = ("Bash",), ("Bash(touch:*)", "Bash(git push:*)")
    protected = ("Read(.env)", "Read(secrets/**)", "Read(~/.ssh/**)")
    printed, changed = tuple(PIECES["printers"]), _made("changers", "changed")
    read, removed = _made("{0} {1}", "readers", "files"), _made("removers", "removed")
    return [
        Group("reading without rules", read),
        Group("printing and shell constructs without rules", printed),
        Group("git without rules", _made("git_fronts", "git")),
        Group("names that change what runs", _made("loops", "loop_names"), allow=("Bash(foo:*)",)),
        Group("changing files where edits are accepted", changed, mode="acceptEdits"),
        Group("changing files where everything is allowed", changed, allow=everything),
        Group("changing files under wildcards", changed, allow=wildcards),
        Group("removing where permissions are bypassed", removed, mode="bypassPermissions"),
        Group("removing where everything is allowed", removed, allow=everything),
        Group("wrappers and constructs around commands", _made("wrappers", "wrapped"), allow=("Bash(foo:*)",)),
        Group("wrappers under wildcards", _made("wrappers", "wrapped"), allow=wildcards),
        Group("acting options under wildcards", _guard_commands("a wildcard does not cover"), allow=wildcards),
        Group("reading under wildcards", read, allow=wildcards),
        Group("git under a wildcard", _made("git_fronts", "git"), allow=("Bash(git:*)",)),
        Group("denied commands", _guard_commands("a denied command is found"), allow=everything, deny=guard),
        Group("denied commands in zsh", _guard_commands("zsh runs a denied"), allow=everything, deny=("Bash(rm:*)",)),
        Group("denied subcommands of git", _guard_commands("a denied subcommand"), allow=everything, deny=guard[1:]),
        Group("protected paths", _guard_commands("a protected path is found"), allow=everything, deny=protected),
        Group(
            "protected paths, bypassed", _guard_commands("a protected path"), deny=protected, mode="bypassPermissions"
        ),
        _guard_group("the words of loops, tests and options"),
        _guard_group("a wildcard does not cover what starts another program"),
        *map(_guard_group, FOUND_BY_CHANCE),
        Group("printing where nobody is asked", printed, mode="dontAsk"),
        Group("printing while planning", printed, allow=("Bash(ls:*)",), mode="plan"),
    ]
