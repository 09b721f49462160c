"""All rules of one behaviour, indexed by subject."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence

from .command_rules import CommandRules
from .paths import Located, PathRule, Places, fold
from .rules import AGENT_TOOLS, EDIT_TOOLS, PRECEDENCE, READ_TOOLS, Rule, Source

_PATH = r"[^\x00-\x7f]|[/~]|\.\.|\.(?:\Z|:)"
"""In words of which a part may be something else than a name of its own: a path, ``.``, ``..``, other spellings."""


def _same_tool(rule: Rule, tool: str) -> bool:
    return rule.tool == tool or (rule.tool in AGENT_TOOLS and tool in AGENT_TOOLS)


class Rulebook:
    """Finds the rules that match a request. Rules from stronger sources come first."""

    def __init__(self, rules: Iterable[Rule], places: Places, roots: Mapping[Source, str]) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: PRECEDENCE.index(rule.source)))
        self.commands = CommandRules(rule for rule in self.rules if rule.tool == "Bash")
        self._bare: dict[str, Rule] = {}
        self._servers: dict[str, Rule] = {}
        self._hosts: list[tuple[str, Rule]] = []
        self._names: list[Rule] = []
        self.reads: list[PathRule] = []
        self.edits: list[PathRule] = []
        for rule in self.rules:
            self._add(rule, places, roots.get(rule.source, places.cwd))
        self._path_rules = (*self.reads, *self.edits)
        self._folded_cwd = fold(places.cwd).rstrip("/") + "/"
        self._here_open: list[PathRule] = []
        self._here: dict[str, list[PathRule]] = {}
        self._index_names(self._folded_cwd)
        self._named_here = (
            None if self._here_open else re.compile("|".join((_PATH, *map(re.escape, self._here))), re.IGNORECASE)
        )

    def _add(self, rule: Rule, places: Places, root: str) -> None:
        if rule.content is None:
            self._bare.setdefault(rule.tool, rule)
            if rule.tool.startswith("mcp__"):
                self._servers.setdefault(rule.tool.removesuffix("__*"), rule)
        elif rule.tool in READ_TOOLS:
            self.reads.append(PathRule(rule, places, root))
        elif rule.tool in EDIT_TOOLS:
            self.edits.append(PathRule(rule, places, root))
        elif rule.tool == "WebFetch":
            self._hosts.append((rule.content, rule))
        elif rule.tool != "Bash":
            self._names.append(rule)

    def _index_names(self, folder: str) -> None:
        """Which rules to try for a name in the working folder."""
        reachable = [rule for rule in self._path_rules if rule.reaches(folder)]
        for rule in reachable:
            if rule.last_name is None or rule.all_of(folder):
                self._here_open.append(rule)
        for rule in reachable:
            if rule.last_name is not None:
                self._here.setdefault(rule.last_name, list(self._here_open)).append(rule)

    @property
    def protects(self) -> bool:
        """Whether any rule is about paths."""
        return bool(self._path_rules)

    def for_tool(self, tool: str) -> Rule | None:
        """A rule for the tool as a whole."""
        if not self._bare:
            return None
        if tool in AGENT_TOOLS:
            return self._bare.get("Task") or self._bare.get("Agent")
        if tool.startswith("mcp__"):
            return self._bare.get(tool) or self._servers.get("__".join(tool.split("__")[:2]))
        return self._bare.get(tool)

    def names_any(self, tool: str) -> bool:
        """Whether there is a rule for one host, agent or skill."""
        return bool(self._hosts) if tool == "WebFetch" else any(_same_tool(rule, tool) for rule in self._names)

    def for_named(self, tool: str, name: str) -> Rule | None:
        """A rule for one host, agent or skill."""
        return self._for_host(name) if tool == "WebFetch" else self._for_name(tool, name)

    def _for_host(self, host: str) -> Rule | None:
        for wanted, rule in self._hosts:
            if host == wanted or (wanted.startswith("*.") and host.endswith(wanted[1:])):
                return rule
        return None

    def _for_name(self, tool: str, name: str) -> Rule | None:
        """``name:*`` also covers ``name:part``. What is denied is denied in any case."""
        for rule in self._names:
            exact = rule.behavior == "allow"
            content = (rule.content or "") if exact else fold(rule.content or "")
            called = name if exact else fold(name)
            prefix = content.removesuffix(":*")
            if _same_tool(rule, tool) and (called == prefix or (prefix != content and called.startswith(prefix + ":"))):
                return rule
        return None

    def covering(self, located: Located, *, edit: bool) -> Rule | None:
        """For allow rules. Reading what may be edited still needs a separate rule."""
        for candidate in self.edits if edit else self.reads:
            if candidate.covers(located):
                return candidate.rule
        return None

    def touching(self, located: Located, *, edit: bool) -> Rule | None:
        """For deny and ask rules. What may not be read may not be edited either, as in CLI 2.1.325."""
        candidates = [*self.edits, *self.reads] if edit else self.reads
        return _first_touching(candidates, [fold(path) for path in located.both]) if candidates else None

    def reaching_below(self, located: Located, *, enforced: Container[Source]) -> Rule | None:
        """For deny and ask: a rule for something that a search below this folder may read. The CLI itself enforces
        rules of the sources ``enforced``. A glob narrows nothing: the name in a rule may be a folder's."""
        folders = [fold(path).rstrip("/") + "/" for path in located.both]
        for candidate in self.reads:
            if candidate.rule.source not in enforced and any(map(candidate.reaches, folders)):
                return candidate.rule
        return None

    def may_name(self, word: str) -> bool:
        """A fast negative check for most words of a command: no part is a path, or a name in the working folder."""
        return self._named_here is None or self._named_here.search(word) is not None

    def names(self, name: str) -> bool:
        """Whether to try rules for a name in the working folder."""
        return bool(self._here_open) or name.lower() in self._here

    def naming_here(self, name: str) -> Rule | None:
        """The same for a name without a slash: most words of a command are none, so this is fast."""
        folded = name.lower() if name.isascii() else fold(name)
        candidates = self._here.get(folded, self._here_open)
        return _first_touching(candidates, (self._folded_cwd + folded,)) if candidates else None

    def naming(self, path: str) -> Rule | None:
        """A deny or ask rule for a path that some program gets as an argument."""
        return _first_touching(self._path_rules, (fold(path),))


def _first_touching(candidates: Iterable[PathRule], folded: Sequence[str]) -> Rule | None:
    for candidate in candidates:
        if candidate.touches(folded):
            return candidate.rule
    return None
