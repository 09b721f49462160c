"""One simple command, made ready for the rules.

``Unit.texts`` are what an allow rule may match: the command as written with single blanks, and the same without the
wrappers that change nothing. Each comes with the length that such a rule must spell out: a wildcard covers arguments,
not the command that ``sudo`` or ``xargs`` will run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from . import programs
from .acting import runner_words, words_to_name
from .program_names import program_name
from .shell import Assignment, Command
from .words import Word


class Unit(msgspec.Struct, frozen=True):
    """``blocked`` says why no rule with a pattern may allow it."""

    command: Command
    argv: tuple[str, ...]
    texts: tuple[tuple[str, int], ...]
    blocked: str | None


def make_unit(command: Command) -> Unit:
    """``command`` as allow rules see it."""
    words = command.words
    blocked = _bad_assignment(command.assignments) if command.assignments else None
    if not words:
        return Unit(command, (), (), blocked)
    for word in words:
        if word.value is None:
            return Unit(command, (), (), blocked or f"the value of {word.text} is known only at run time")
    argv = tuple([word.hint for word in words])
    start = _unwrapped(argv) if argv[0] in programs.TRANSPARENT else 0
    if start is None:
        return Unit(command, argv, (), blocked or f"it is not clear what {argv[0]} runs")
    if start and any(word.text != word.hint for word in words[:start]):
        return Unit(command, argv, (), blocked or f"the words of {argv[0]} are quoted")  # 2.1.325 asks
    named, why = _must_name(argv[start:] if start else argv)
    texts = [_text(words, start + named)]
    if start:
        texts.append(_text(words[start:], named))
    return Unit(command, argv[start:], tuple(texts), blocked or why)


def _text(words: Sequence[Word], named: int) -> tuple[str, int]:
    """As the CLI compares it (the first word unquoted, the others as written), and how much a rule must name."""
    head = words[0].hint if " " not in words[0].hint else words[0].text
    parts = [head, *[word.text for word in words[1:]]]
    return " ".join(parts), sum(map(len, parts[:named])) + named - 1


def _bad_assignment(assignments: Iterable[Assignment]) -> str | None:
    for assignment in assignments:
        name, value = assignment.name, assignment.value
        if name not in programs.SAFE_VARIABLES:
            return f"the variable {name} can change what a program does"
        if value.value is None or not programs.SAFE_VALUE.match(value.text):
            return f"the value of {name} is not a plain word"
    return None


def _unwrapped(argv: Sequence[str]) -> int | None:
    """Where the command behind ``time``, ``timeout 5`` … begins; None if a wrapper's own arguments are
    not understood."""
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
    if program in programs.RUNNERS:
        return runner_words(argv), None
    if program in programs.OPAQUE and program not in programs.REMOTE:
        plain = len(argv) > 1 and argv[1][:1] not in ("-", "") and "=" not in argv[1]
        if not plain:
            return len(argv), None
        if program in programs.SHELLS:
            return 2, None
        return max(words_to_name(argv), 1 + words_to_name(argv[1:])), None
    return words_to_name(argv), None
