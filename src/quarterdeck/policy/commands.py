"""One simple command, made ready for the rules.

``Unit.texts`` are what an allow rule may match: the command as written with single blanks, and the same without the
wrappers that change nothing. Each comes with the length that such a rule must spell out: a wildcard covers arguments,
not the command that ``sudo`` or ``xargs`` will run. ``readings`` are everything a deny or ask rule looks at, and they
err on the other side: too many rather than too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from . import programs
from .acting import words_to_name
from .command_rules import CommandRules
from .program_names import program_name
from .shell import MAX_LENGTH, Assignment, Command, Script, read_script
from .words import Word

MAX_DEPTH = 4
"""How deep ``sh -c "sh -c …"`` is followed for deny rules; nothing of the kind is ever allowed."""
MAX_READINGS = 200
"""More forms of one command than this are not compared; it is asked about instead."""


_RUN_OTHERS = programs.OPAQUE | programs.EVALUATORS | {"find", "fd"}


class Unit(msgspec.Struct, frozen=True):
    """``blocked`` says why no rule with a pattern may allow it; ``known`` is what is known of it, from the left."""

    command: Command
    argv: tuple[str, ...]
    texts: tuple[tuple[str, int], ...]
    blocked: str | None
    known: str


def make_unit(command: Command) -> Unit:
    """``command`` as allow rules see it."""
    words = command.words
    blocked = _bad_assignment(command.assignments) if command.assignments else None
    if not words:
        return Unit(command, (), (), blocked, "")
    for word in words:
        if word.value is None:
            return Unit(
                command, (), (), blocked or f"what {word.text} stands for is known only when it runs", _known(words)
            )
    argv = tuple([word.hint for word in words])
    known = " ".join(argv)
    start = _unwrapped(argv) if argv[0] in programs.TRANSPARENT else 0
    if start is None:
        return Unit(command, argv, (), blocked or f"it is not clear what {argv[0]} runs", known)
    named, why = _must_name(argv[start:] if start else argv)
    texts = [_text(words, start + named)]
    if start:
        texts.append(_text(words[start:], named))
    return Unit(command, argv[start:], tuple(texts), blocked or why, known)


def _text(words: Sequence[Word], named: int) -> tuple[str, int]:
    """As the CLI compares it (the first word without quotes, the others as written), and how much a rule must name."""
    head = words[0].hint if " " not in words[0].hint else words[0].text
    parts = [head, *[word.text for word in words[1:]]]
    return " ".join(parts), sum(map(len, parts[:named])) + named - 1


def _known(words: Sequence[Word]) -> str:
    known: list[str] = []
    for word in words:
        if word.value is None:
            return " ".join(known) + (" " if known else "")
        known.append(word.value)
    return " ".join(known)


def _bad_assignment(assignments: Iterable[Assignment]) -> str | None:
    for assignment in assignments:
        name, value = assignment.name, assignment.value
        if name not in programs.SAFE_VARIABLES:
            return f"the variable {name} can change what a program does"
        if value.value is None or not programs.SAFE_VALUE.match(value.text):
            return f"the value of {name} is not a plain word"
    return None


def _unwrapped(argv: Sequence[str]) -> int | None:
    """Where the command behind ``time``, ``timeout 5`` … begins; None when a wrapper's own words are not understood."""
    start = 0
    while start < len(argv) and argv[start] in programs.TRANSPARENT:
        shape, own = programs.TRANSPARENT[argv[start]], ""
        for at in range(start + 1, len(argv)):
            if shape.match(own) and not argv[at].startswith("-"):
                break
            own += argv[at] + " "
        else:
            return None
        start = at
    return start


def _must_name(argv: Sequence[str]) -> tuple[int, str | None]:
    """How many words a rule has to spell out, and why no rule may allow it at all."""
    head = argv[0]
    program = program_name(head)
    if program in ("cp", "mv") and any(word.startswith("-") for word in argv[1:]):
        return len(argv), f"the options of {program} decide where it writes"
    if head in programs.EVALUATORS:
        return len(argv), f"{head} runs text as code or changes what later commands mean"
    if program in programs.OPAQUE and program not in programs.REMOTE:
        plain = len(argv) > 1 and argv[1][:1] not in ("-", "") and "=" not in argv[1]
        if not plain:
            return len(argv), None
        if program in programs.SHELLS:
            return 2, None
        return max(words_to_name(argv), 1 + words_to_name(argv[1:])), None
    return words_to_name(argv), None


def readings(script: Script, rules: CommandRules) -> tuple[list[str], bool]:
    """The texts that one of ``rules`` matches, of all that can be read out of ``script``; and whether these are all."""
    found, complete = _all_readings(script, rules)
    return [text for text in found if rules.match(text) is not None], complete


def _all_readings(script: Script, rules: CommandRules) -> tuple[Iterable[str], bool]:
    commands = script.commands
    if (
        len(commands) == 1
        and not script.doubts
        and not script.also
        and commands[0].words
        and not commands[0].assignments
    ):
        words = commands[0].words
        if not runs_others(words):
            return _forms(words) if rules.may_match(_program(words)) or rules.may_match(words[0].text) else (), True
    seen = {script.text.strip(): None}
    budget = _Budget()
    for command in _all_commands(script, 0, budget):
        for reading in _forms(command.words):
            seen.setdefault(reading)
            if len(seen) >= MAX_READINGS:
                return seen, False
    return seen, budget.characters >= 0


class _Budget:
    """Text inside text inside text is read only up to the length of one command."""

    def __init__(self) -> None:
        self.characters = MAX_LENGTH

    def read(self, code: str) -> Script | None:
        self.characters -= len(code)
        return read_script(code) if self.characters >= 0 else None


def _all_commands(script: Script, depth: int, budget: _Budget) -> Iterator[Command]:
    codes: list[str] = []
    for command in (*script.commands, *script.also):
        yield command
        codes += _code_in(command.words)
    if any(_program(command.words) in programs.SHELLS for command in script.commands):
        codes += script.here
    for code in codes:
        inner = budget.read(code) if depth < MAX_DEPTH else None
        if inner is not None:
            yield from _all_commands(inner, depth + 1, budget)


def _program(words: Sequence[Word]) -> str:
    return words[0].hint.rpartition("/")[2] if words else ""


def runs_others(words: Sequence[Word]) -> bool:
    """Whether its arguments may be commands."""
    program = _program(words)
    if program == "git":
        return len(words) > 1 and words[1].hint.startswith("-")
    return program in _RUN_OTHERS


def _code_in(words: Sequence[Word]) -> list[str]:
    """Arguments that a program may run as a shell command."""
    if not words or not runs_others(words):
        return []
    values = [word.hint for word in words[1:]]
    codes = [*values, *[value.partition("=")[2].lstrip("!") for value in values if "=" in value]]  # alias x='…'
    found = [code for code in codes if any(mark in code for mark in " \t\n;|&$`(")]
    return [*found, " ".join(values)] if words[0].hint in programs.EVALUATORS else found


def _forms(words: Sequence[Word]) -> Iterator[str]:
    """The ways to write one command, and those of what it runs in turn."""
    if not words:
        return
    written, meant = [word.text for word in words], [word.hint for word in words]
    same = written == meant
    for start in range(len(words)) if runs_others(words) else (0,):
        yield " ".join(written[start:])
        if not same:
            yield " ".join(meant[start:])
        if "/" in meant[start]:
            yield " ".join([meant[start].rpartition("/")[2], *meant[start + 1 :]])
    if _program(words) == "git" and len(meant) > 1 and meant[1].startswith("-"):
        yield _git_without_globals(meant[1:])


def _git_without_globals(rest: list[str]) -> str:
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in programs.GIT_GLOBAL_WITH_VALUE else 1]
    return " ".join(["git", *rest])
