"""Tables of expectations about rules, for people and for CI (``quarterdeck policy test``).

A TOML file with groups; each has rules and, for each behaviour, the requests that must get it::

    [[group]]
    about = "only the tests may run"
    rules.allow = ["Bash(npm run test:*)"]
    expect.allow = ["npm run test -- --watch"]
    expect.ask = ["npm run testevil", "npm run test; id"]

``cwd``, ``home``, ``mode``, ``directories`` and ``links`` (a table from link to target) may be given too. Nothing is
looked up on the disk: paths lead where they say, except for the links.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .decision import Decision
from .errors import BadRulesError, PolicyError
from .policy import Policy
from .requests import parse_request
from .rules import Behavior

_KEYS = frozenset({"about", "rules", "expect", "cwd", "home", "mode", "directories", "links"})
_BEHAVIORS: tuple[Behavior, ...] = ("allow", "deny", "ask")
MAX_LINKS = 40
"""As many as Linux follows in one path."""


class BadCasesError(PolicyError):
    """A table that cannot be used."""


class LinkTable:
    """A ``PathResolver`` without a disk: it knows some links, and nothing else."""

    def __init__(self, links: Mapping[str, str]) -> None:
        self._links = dict(links)

    def real(self, path: str) -> str | None:
        followed, rest = "/", [name for name in path.split("/") if name]
        steps = 0
        while rest:
            name = rest.pop(0)
            if name in (".", ".."):
                followed = followed.rpartition("/")[0] or "/" if name == ".." else followed
                continue
            here = f"{followed.rstrip('/')}/{name}"
            target = self._links.get(here)
            if target is None:
                followed = here
                continue
            steps += 1
            if steps > MAX_LINKS:
                return None
            followed = "/" if target.startswith("/") else followed
            rest = [name for name in target.split("/") if name] + rest
        return followed


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table."""

    about: str
    request: str
    expected: Behavior
    policy: Policy

    def decide(self) -> Decision:
        return self.policy.decide(*parse_request(self.request))


def read_cases(text: str, *, file: str = "cases") -> Iterator[Case]:
    """The cases in ``text``. Raises ``BadCasesError`` for a table that is not one."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # bad TOML, a number of thousands of digits, arrays nested too deeply
        raise BadCasesError(f"{file}: not valid TOML: {error}") from error
    groups = table.get("group")
    if not isinstance(groups, list) or set(table) != {"group"}:
        raise BadCasesError(f"{file}: expected [[group]] tables and nothing else")
    for number, group in enumerate(groups, 1):
        yield from _read_group(f"{file}: group {number}", group)


def _read_group(place: str, group: dict[str, Any]) -> Iterator[Case]:
    about = group.get("about", "")
    unknown = set(group) - _KEYS
    if unknown:
        raise BadCasesError(f"{place} ({about}): unknown keys {', '.join(sorted(unknown))}")
    rules, expect = group.get("rules", {}), group.get("expect", {})
    for name, table in (("rules", rules), ("expect", expect)):
        if set(table) - set(_BEHAVIORS) or not all(_is_strings(value) for value in table.values()):
            raise BadCasesError(f"{place} ({about}): {name} has lists of strings under allow, deny and ask")
    try:
        policy = Policy.from_rules(
            **rules,
            cwd=group.get("cwd", "/project"),
            home=group.get("home", "/home/user"),
            mode=group.get("mode", "default"),
            directories=group.get("directories", ()),
            resolver=LinkTable(group.get("links", {})),
        )
    except BadRulesError as error:
        raise BadCasesError(f"{place} ({about}): {error}") from error
    for behavior in _BEHAVIORS:
        for request in expect.get(behavior, ()):
            yield Case(about, request, behavior, policy)


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
