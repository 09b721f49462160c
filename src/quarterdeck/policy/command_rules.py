"""The ``Bash(…)`` rules of one behaviour, indexed so that five hundred cost about as much as five."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .rules import Rule
from .wildcards import match_pieces


class CommandRules:
    """Exact texts and prefixes are looked up; only rules with an inner wildcard are tried one by one."""

    __slots__ = ("_exact", "_globs", "_longest", "_open_globs", "_prefix", "everything", "rules")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self.everything: Rule | None = None
        self._exact: dict[str, Rule] = {}
        self._prefix: dict[str, Rule] = {}
        self._globs: dict[str, list[tuple[list[str], Rule]]] = {}
        self._open_globs: list[tuple[list[str], Rule]] = []
        for rule in self.rules:
            self._add(rule)
        self._longest = max((text.count(" ") for text in self._prefix), default=-1)

    def _add(self, rule: Rule) -> None:
        content = rule.content
        if content is None:
            self.everything = self.everything or rule
        elif "*" not in content:
            self._exact.setdefault(content, rule)
        elif content.endswith((":*", " *")) and content.count("*") == 1:
            self._prefix.setdefault(content[:-2], rule)
        else:
            pieces = content.split("*")
            head, blank, _ = pieces[0].partition(" ")
            if blank:
                self._globs.setdefault(head, []).append((pieces, rule))
            else:
                self._open_globs.append((pieces, rule))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def match(self, text: str) -> Rule | None:
        """The narrowest rule that matches ``text``; ``everything`` is not looked at."""
        return next(self.matches(text), None)

    def matches(self, text: str) -> Iterator[Rule]:
        """All rules that match ``text``, narrowest first."""
        exact = self._exact.get(text)
        if exact is not None:
            yield exact
        yield from self._prefixes(text)
        for pieces, rule in self._globs.get(text.partition(" ")[0], ()):
            if match_pieces(pieces, text):
                yield rule
        for pieces, rule in self._open_globs:
            if match_pieces(pieces, text):
                yield rule

    def _prefixes(self, text: str) -> Iterator[Rule]:
        ends: list[int] = []
        at = -1
        for _ in range(self._longest + 1):
            at = text.find(" ", at + 1)
            if at < 0:
                ends.append(len(text))
                break
            ends.append(at)
        for end in reversed(ends):
            rule = self._prefix.get(text[:end])
            if rule is not None:
                yield rule

    def possible(self, known: str) -> Rule | None:
        """A rule that a command could match which is known only up to here."""
        for rule in self.rules:
            literal = literal_part(rule)
            if literal.startswith(known) or known.startswith(literal):
                return rule
        return None


def literal_part(rule: Rule) -> str:
    """What a rule spells out before its first wildcard."""
    content = rule.content or ""
    if content.endswith(":*"):
        return content[:-2]
    return content.partition("*")[0].rstrip(" ") if "*" in content else content
