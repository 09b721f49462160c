"""All rules of one behaviour, sorted by what they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from .command_rules import CommandRules
from .paths import Located, PathRule, Places, fold
from .rules import AGENT_TOOLS, EDIT_TOOLS, PRECEDENCE, READ_TOOLS, Rule, Source


class Rulebook:
    """Answers which of its rules speak for a request. Rules of stronger sources come first."""

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

    def for_tool(self, tool: str) -> Rule | None:
        """A rule for the tool as a whole."""
        rule = self._bare.get(tool)
        if rule is None and tool in AGENT_TOOLS:
            rule = self._bare.get("Task") or self._bare.get("Agent")
        if rule is None and tool.startswith("mcp__"):
            server = "__".join(tool.split("__")[:2])
            rule = self._servers.get(server)
        return rule

    def for_named(self, tool: str, name: str) -> Rule | None:
        """A rule for one host, agent or skill."""
        return self._for_host(name) if tool == "WebFetch" else self._for_name(tool, name)

    def _for_host(self, host: str) -> Rule | None:
        for wanted, rule in self._hosts:
            if host == wanted or (wanted.startswith("*.") and host.endswith(wanted[1:])):
                return rule
        return None

    def _for_name(self, tool: str, name: str) -> Rule | None:
        """``name:*`` also covers ``name:part``."""
        for rule in self._names:
            same_tool = rule.tool == tool or (rule.tool in AGENT_TOOLS and tool in AGENT_TOOLS)
            content = rule.content or ""
            prefix = content.removesuffix(":*")
            if same_tool and (name == prefix or (prefix != content and name.startswith(prefix + ":"))):
                return rule
        return None

    def covering(self, located: Located, *, edit: bool) -> Rule | None:
        """For allow rules. Reading what may be edited still needs a rule of its own."""
        for candidate in self.edits if edit else self.reads:
            if candidate.covers(located):
                return candidate.rule
        return None

    def touching(self, located: Located, *, edit: bool) -> Rule | None:
        """For deny and ask rules. What may not be read may not be edited either, as in CLI 2.1.325."""
        for candidate in (*self.edits, *self.reads) if edit else self.reads:
            if candidate.touches(located):
                return candidate.rule
        return None

    def naming(self, path: str) -> Rule | None:
        """A deny or ask rule for a path that some program is given as a word."""
        folded = fold(path)
        for candidate in (*self.reads, *self.edits):
            if candidate.touches_name(folded):
                return candidate.rule
        return None


def hosts_of(url: str) -> tuple[str | None, tuple[str, ...]]:
    r"""The host, if there is no doubt about it, and every host that some reader of URLs could see.

    Browsers end the host at a backslash, Python does not: ``https://evil.org\@example.com`` has two readings.
    """
    readings: list[str] = []
    for reading in (url, url.replace("\\", "/")):
        try:
            host = urlsplit(reading.strip()).hostname
        except ValueError:
            host = None
        if host:
            readings.append(host.lower().rstrip("."))
    plain = (
        url.isascii() and url.isprintable() and not any(mark in url for mark in "\\ ") and "%" not in "".join(readings)
    )
    certain = plain and len(set(readings)) == 1 and url.lower().startswith(("https://", "http://"))
    return (readings[0] if certain else None), tuple(dict.fromkeys(readings))
