"""Deny and ask rules for commands: does one match, and could one match what cannot be read?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from . import programs
from .command_rules import CommandRules
from .decision import Verdict
from .nested import Layers, may_run_others, program_of
from .rules import Rule
from .shell import SEEN_THROUGH, Command, Script
from .words import Word

MAX_READINGS = 200
"""More forms of one command than this are not compared; it is asked about instead."""
_OTHER_NAME: Final = re.compile(r"[A-Z]|\.exe\Z")
_WORDS_OF_CODE: Final = re.compile(r"[A-Za-z0-9_./+-]+")


class CommandGuard:
    def __init__(self, deny: CommandRules, ask: CommandRules) -> None:
        self._deny, self._ask = deny, ask
        self._both = CommandRules((*deny.rules, *ask.rules))

    def __bool__(self) -> bool:
        return bool(self._both)

    def stopped(self, layers: Layers) -> tuple[Verdict | None, Verdict | None]:
        """What a deny rule says of the commands in all layers, and what an ask rule or a limit does."""
        found, complete = self._readings(layers)
        matching = [text for text in found if self._both.match(text) is not None]
        if not matching and complete:
            return None, None
        denied, asked = _first(self._deny, matching), _first(self._ask, matching)
        if asked is None and not complete:
            asked = Verdict("ask", "It has too many variants to compare with the deny and ask rules.", source="limit")
        return denied, asked

    def _readings(self, layers: Layers) -> tuple[Iterable[str], bool]:
        if layers.flat:
            words = layers.scripts[0].commands[0].words
            named = words[0].hint.partition(" ")[0].rpartition("/")[2]  # 'rm x' is one word, and no rule is that exact
            worth = self._both.may_match(words[0].text) or self._both.may_match(named)
            if not worth and _OTHER_NAME.search(named):
                worth = self._both.may_match(usual_name(named))
            return plain_forms(words) if worth else (), True
        seen: dict[str, None] = {}
        for script in layers.scripts:
            seen.setdefault(script.text.strip())
            for command in (*script.commands, *script.also):
                for reading in forms(command.words):
                    seen.setdefault(reading)
                    if len(seen) >= MAX_READINGS:
                        return seen, False
        return seen, True

    def hidden(self, layers: Layers) -> Verdict | None:
        """What cannot be read may still be what a rule forbids."""
        if layers.flat and program_of(layers.scripts[0].commands[0].words) in programs.INERT:
            return None  # all its words are known
        for script in layers.scripts:
            if script.refused is not None:
                return _unsure(f"It runs code with {script.refused}")
            for command in (*script.commands, *script.also):
                rule = self._could_match(command) or self._passed_on(command)
                if rule is not None:
                    shown = " ".join(word.text for word in command.words)
                    return Verdict("ask", f"It is unclear whether {rule} matches {_short(shown)!r}.", rule, rule.source)
            if (script.here or script.commands[1:]) and (rule := self._in_input(script)) is not None:
                return Verdict("ask", f"It runs code that mentions something {rule} covers.", rule, rule.source)
            for doubt in script.doubts:
                if doubt not in SEEN_THROUGH:
                    return _unsure(f"It contains {doubt}")
        if layers.hidden is not None:
            return _unsure(f"It contains {layers.hidden}")
        return self._written_and_run(layers.scripts[0])

    def _could_match(self, command: Command) -> Rule | None:
        words = command.words
        if not words or None not in [word.value for word in words]:
            return None
        if words[0].value is None:
            return self._both.possible("")
        if may_run_others(words):
            built = program_of(words) in ("find", "fd", "xargs")  # what these run is a separate command here
            unknown = [word for word in words if word.value is None and not (built and word.text == "{}")]
            return self._both.possible("") if unknown else None
        return self._both.possible(_known(words))

    def _passed_on(self, command: Command) -> Rule | None:
        """A word in the arguments of a program that may run them: ``gosu me rm x``, ``perl -e 'system "rm"'``."""
        program = program_of(command.words)
        if not command.words or program == "git" or program in programs.INERT:
            return None
        moves, code = program in programs.MOVES_PROGRAMS, program in programs.CODE_RUNNERS
        hints = [word.hint for word in command.words[1:]]
        for at, hint in enumerate(hints):
            name = hint.rpartition("/")[2]
            if ":" in name:
                name = name.rpartition(":")[2]  # ``socat - EXEC:rm``
            rule = None
            if self._both.has_head(name) and (not moves or "/" in hint):
                rule = self._both.match(name if moves else " ".join([name, *hints[at + 1 :]]))
            if rule is None and code:
                rule = self._in_code(hint)
            if rule is not None:
                return rule
        return None

    def _in_code(self, text: str) -> Rule | None:
        for word in _WORDS_OF_CODE.findall(text):
            for name in word.split("/"):  # a path, or sed's ``s/x/rm a/e``
                if self._both.has_head(name):
                    return self._both.possible(name)
        return None

    def _in_input(self, script: Script) -> Rule | None:
        return next(filter(None, map(self._in_code, _fed(script))), None)

    def _written_and_run(self, script: Script) -> Verdict | None:
        """``echo rm x > a; sh a``"""
        if not script.redirects:
            return None
        written = {redirect.target.hint.removeprefix("./") for redirect in script.redirects if redirect.writes}
        for command in script.commands:
            for at, word in enumerate(command.words):
                runs = (
                    at == 0 or program_of(command.words) in programs.SHELLS or command.words[0].hint in ("source", ".")
                )
                if runs and word.hint.removeprefix("./") in written:
                    return _unsure(f"It runs {word.text}, which it writes first")
        return None


def _fed(script: Script) -> Sequence[str]:
    """Texts that may be code for a program which reads them."""
    texts = script.here if any(map(_runs_its_input, script.commands)) else ()
    if any(map(_takes_orders, script.commands)):
        return (*texts, *(word.hint for command in script.commands for word in command.words))
    return texts


def _runs_its_input(command: Command) -> bool:
    """Whether a here-document for it may be code."""
    return program_of(command.words) in programs.CODE_RUNNERS or _takes_orders(command)


def _takes_orders(command: Command) -> bool:
    """``echo '!rm x' | ed``, ``echo 'system "rm x"' | perl``"""
    program = program_of(command.words)
    if program in programs.INTERPRETERS:
        return all(word.hint.startswith("-") for word in command.words[1:])
    return program in programs.READ_ORDERS


def _unsure(what: str) -> Verdict:
    return Verdict("ask", f"{what}, which could hide what a deny or ask rule forbids.", source="safety")


def forms(words: Sequence[Word]) -> Iterator[str]:
    """The ways to write one command, and those of what it runs in turn."""
    if not words:
        return
    written, meant = [word.text for word in words], [word.hint for word in words]
    same = written == meant
    yield from plain_forms(words)
    for start in range(1, len(words)) if may_run_others(words) else ():
        yield " ".join(written[start:])
        if not same:
            yield " ".join(meant[start:])
        for mark in "/=":
            if mark in meant[start]:
                yield " ".join([meant[start].rpartition(mark)[2], *meant[start + 1 :]])
        if _OTHER_NAME.search(meant[start]):
            yield " ".join([usual_name(meant[start]), *meant[start + 1 :]])
    if program_of(words) == "git" and len(meant) > 1 and meant[1].startswith("-"):
        yield from (" ".join(["git", *meant[at:]]) for at in _subcommands(meant))


def plain_forms(words: Sequence[Word]) -> list[str]:
    """The ways to write the command itself."""
    texts = [" ".join([word.text for word in words])]
    meant = " ".join([word.hint for word in words])
    if meant != texts[0]:
        texts.append(meant)
    if "/" in words[0].hint:
        texts.append(" ".join([words[0].hint.rpartition("/")[2], *[word.hint for word in words[1:]]]))
    if _OTHER_NAME.search(words[0].hint):
        texts.append(" ".join([usual_name(words[0].hint), *[word.hint for word in words[1:]]]))
    return texts


def usual_name(name: str) -> str:
    """``RM`` is ``rm`` where the disk does not tell letters apart, ``rm.exe`` is it on Windows."""
    return name.rpartition("/")[2].lower().removesuffix(".exe")


def _first(rules: CommandRules, texts: Sequence[str]) -> Verdict | None:
    for text in texts:
        rule = rules.match(text)
        if rule is not None:
            return Verdict.by(rule, f"{rule} matches {_short(text)!r}.")
    return None


def _subcommands(meant: Sequence[str]) -> list[int]:
    """Where git's subcommand may stand, whichever of its options takes a value."""
    todo, seen = [1], {1}
    while todo:
        at = todo.pop()
        if at < len(meant) and meant[at].startswith("-"):
            fresh = {at + 1, at + 2} - seen
            seen |= fresh
            todo += fresh
    return sorted(at for at in seen if at < len(meant) and not meant[at].startswith("-"))


def _known(words: Sequence[Word]) -> str:
    known: list[str] = []
    for word in words:
        if word.value is None:
            return " ".join(known) + (" " if known else "")
        known.append(word.value)
    return " ".join(known)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
