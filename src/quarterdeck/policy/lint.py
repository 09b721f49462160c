"""Rules that are valid but probably not intended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import programs
from .command_rules import literal_part
from .program_names import program_name
from .rules import EDIT_TOOLS, READ_TOOLS, Rule

_RUNS_ANYTHING = programs.INLINE_CODE.keys() | programs.words("make npm pnpm yarn bun docker kubectl awk gawk")


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to look at."""

    rule: Rule
    says: str

    def __str__(self) -> str:
        return f"{self.rule.place}: {self.rule.behavior} {self.rule}: {self.says}"


def lint(rules: Iterable[Rule]) -> list[Remark]:
    """Likely mistakes in these rules."""
    listed = list(rules)
    found = [Remark(rule, says) for rule in listed for says in _about(rule)]
    seen: dict[tuple[str, str], Rule] = {}
    for rule in listed:
        first = seen.setdefault((rule.behavior, rule.text), rule)
        if first is not rule:
            found.append(Remark(rule, f"duplicates the rule at {first.place}"))
        stronger = seen.get(("deny", rule.text))
        if rule.behavior == "allow" and stronger is not None:
            found.append(Remark(rule, f"has no effect: the rule at {stronger.place} denies the same"))
    return found


def _about(rule: Rule) -> Iterator[str]:
    if rule.behavior != "allow":
        return
    if rule.tool == "Bash":
        yield from _about_command(rule)
    elif rule.tool in READ_TOOLS or rule.tool in EDIT_TOOLS:
        if rule.content in ("//**", "/**", "~/**", "//", "//*", "~/*"):
            yield "covers a whole disk or home"
        elif rule.content is None and rule.tool in EDIT_TOOLS:
            yield "allows changes to every file, even outside the project"


def _about_command(rule: Rule) -> Iterator[str]:
    if rule.content is None:
        yield "allows every shell command"
        return
    words = literal_part(rule).split(" ")
    if "*" not in rule.content:
        return
    if words[0] == "":
        yield "a rule cannot start with a wildcard: the policy ignores it, and the CLI would match far too much"
    elif len(words) == 1 and words[0] in programs.OPAQUE - programs.REMOTE:
        yield f"does not name what {words[0]} runs: the policy ignores it, and the CLI would allow anything"
    elif words[0] in programs.EVALUATORS:
        yield f"a pattern never allows {words[0]}"
    elif len(words) == 1 and program_name(words[0]) in _RUNS_ANYTHING:
        yield f"{words[0]} can run anything; name the task"
