"""The ``Bash(…)`` rules of one behaviour, indexed so that five hundred cost about as much as five."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .program_names import program_name
from .programs import INTERPRETERS, RUNNERS, SHELLS, words
from .rules import SHELL_TOOLS, Rule
from .wildcards import match_pieces

TAKES_ANY_CODE = SHELLS | INTERPRETERS | RUNNERS | words("python2 python3 deno tsx ssh eval exec env xargs sudo")


class CommandRules:
    """Exact texts and prefixes are looked up; only rules with an inner wildcard are tried one by one."""

    __slots__ = (
        "_exact",
        "_glob_beginnings",
        "_globs",
        "_heads",
        "_longest",
        "_open_globs",
        "_prefix",
        "everything",
        "rules",
    )

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self.everything: Rule | None = None
        self._exact: dict[str, Rule] = {}
        self._prefix: dict[str, Rule] = {}
        self._globs: dict[str, list[tuple[list[str], Rule]]] = {}
        self._open_globs: list[tuple[list[str], Rule]] = []
        for rule in self.rules:
            self._add(rule)
        self._heads = {text.partition(" ")[0] for text in (*self._exact, *self._prefix)} | self._globs.keys()
        globs = (*self._open_globs, *(glob for listed in self._globs.values() for glob in listed))
        self._glob_beginnings = tuple(dict.fromkeys(pieces[0] for pieces, _ in globs))
        self._longest: dict[str, int] = {}
        """The first word of a prefix → the largest number of blanks in such a prefix."""
        for text in self._prefix:
            head = text.partition(" ")[0]
            self._longest[head] = max(text.count(" "), self._longest.get(head, 0))

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

    def may_match(self, head: str) -> bool:
        """A fast negative check: whether any rule begins with the word ``head``, or with a wildcard."""
        return head in self._heads or bool(self._open_globs)

    def has_head(self, name: str) -> bool:
        """Whether a rule names the program ``name``."""
        return name in self._heads

    def match(self, text: str) -> Rule | None:
        """The narrowest rule that matches ``text``; ``everything`` is not looked at."""
        if not self.may_match(text.partition(" ")[0]):
            return None
        rule = self._exact.get(text)
        if rule is not None:
            return rule
        for end in self._word_ends(text):
            rule = self._prefix.get(text[:end])
            if rule is not None:
                return rule
        return self._glob(text) if text.startswith(self._glob_beginnings) else None

    def _glob(self, text: str) -> Rule | None:
        for pieces, rule in self._globs.get(text.partition(" ")[0], ()):
            if match_pieces(pieces, text):
                return rule
        for pieces, rule in self._open_globs:
            if match_pieces(pieces, text):
                return rule
        return None

    def covering(self, text: str, named: int, *, exact: bool = True) -> Rule | None:
        """The narrowest rule that matches ``text`` and spells out its first ``named`` characters."""
        if not self.may_match(text.partition(" ")[0]):
            return None
        rule = self._exact.get(text) if exact else None
        if rule is not None:
            return rule
        for end in self._word_ends(text):
            rule = self._prefix.get(text[:end])
            if rule is not None and end >= named:
                return rule
        if not text.startswith(self._glob_beginnings):
            return None
        for pieces, rule in self._globs.get(text.partition(" ")[0], ()):
            if len(pieces[0].rstrip(" ")) >= named and match_pieces(pieces, text):
                return rule
        for pieces, rule in self._open_globs:
            if len(pieces[0]) >= named and match_pieces(pieces, text):
                return rule
        return None

    def _word_ends(self, text: str) -> Sequence[int]:
        """Where the words of ``text`` end, last first, up to as many as its longest prefix can have."""
        at = text.find(" ")
        longest = self._longest.get(text[:at] if at >= 0 else text)
        if longest is None:
            return ()
        ends: list[int] = []
        while at >= 0 and len(ends) < longest:
            ends.append(at)
            at = text.find(" ", at + 1)
        ends.append(at if at >= 0 else len(text))
        ends.reverse()
        return ends

    def possible(self, known: str) -> Rule | None:
        """A rule that a command could match which is known only up to here."""
        for rule in self.rules:
            literal = literal_part(rule)
            if literal.startswith(known) or known.startswith(literal):
                return rule
        return None


def allows_any_code(rule: Rule) -> bool:
    """Whether it allows every command, or any code for an interpreter: ``Bash``, ``Bash(python3 -m pytest:*)``."""
    if rule.behavior != "allow" or rule.tool not in SHELL_TOOLS:
        return False
    if rule.content is None:
        return True
    if "*" not in rule.content:
        return False
    literal = literal_part(rule)
    head, blank, rest = literal.partition(" ")
    if not blank and rule.content == f"{literal}*":
        return any(name.startswith(literal) for name in TAKES_ANY_CODE)
    return program_name(head) in TAKES_ANY_CODE and (not rest or rest.startswith("-"))


def literal_part(rule: Rule) -> str:
    """What a rule spells out before its first wildcard."""
    content = rule.content or ""
    if content.endswith(":*"):
        return content[:-2]
    return content.partition("*")[0].rstrip(" ") if "*" in content else content
