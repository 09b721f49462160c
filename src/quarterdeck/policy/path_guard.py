"""Deny and ask rules for paths, applied to the words of a command.

A word can name a path directly, after an option (``-f.env``, ``--file=.env``), a mark (``@.env``, ``HEAD:.env``) or a
scheme, relative to the working folder or to where ``cd`` leads. Programs known to handle files are denied a protected
path; others are asked about. So is a word that could be one: ``.en?``, ``$F``, code that mentions it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from . import programs
from .decision import Verdict
from .nested import Layers, program_of
from .path_judge import PathJudge
from .paths import Places, fold
from .program_names import program_name
from .rulebook import Rulebook
from .rules import Rule
from .shapes import ANY, is_known, overlap, shape_of_glob, shapes
from .shell import SEEN_THROUGH, Command, Redirect
from .words import Word

MAX_FOLDERS = 6
MAX_TOKENS = 60
"""How many words of a piece of code are examined."""
_SEPARATORS: Final = re.compile(r"[=:,@]")
_SEPARATORS_OR_ENDS: Final = re.compile(r"[=:,@]|\A\s|\s\Z")
_MARKS: Final = "@<>:"
_TOKENS: Final = re.compile(r"[^\s'\"()<>;|&,=\[\]{}`$]+")
_CODE: Final = re.compile(r"[\s'\"(]")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_]+\Z")
_OPTION: Final = re.compile(r"--[A-Za-z0-9-]*\Z|-[A-Za-z0-9]\Z")
"""Has no room for a path."""
_OTHER_DOOR: Final = re.compile(r"/proc/[^/]+/(task/[^/]+/)?(cwd|root|fd)\b")
"""Leads to wherever the program is, by another name."""
_GIT_FILE: Final = re.compile(r"-[A-Za-z]*[Ft]|--(f|te|pathspec-f)|--\Z")
"""Their text comes from a file, or paths follow: ``git commit -F .env``, ``git checkout main -- .env``."""
_GOES_TO: Final = frozenset({"-C", "--directory", "--chdir", "--cwd", "--prefix", "--work-tree", "--git-dir"})


class Around(msgspec.Struct, frozen=True):
    """The folders that a relative path may start from (None: any folder), and the values that variables may have."""

    folders: Sequence[str | None]
    values: Mapping[str, list[str]]

    def places_of(self, path: str) -> Sequence[str]:
        """``path`` from every folder that is known."""
        if self.folders == _HERE or path.startswith(("/", "~")):
            return (path,)
        return [f"{folder}/{path}" if folder else path for folder in self.folders if folder is not None]


_HERE: Final = ("",)
"""The working folder alone."""


class PathGuard:
    def __init__(self, deny: Rulebook, ask: Rulebook, paths: PathJudge, places: Places) -> None:
        self._books = (deny, ask)
        self._paths, self._places = paths, places
        self._shapes = [
            (shape_of_glob(glob), rule.rule)
            for book in self._books
            for rule in (*book.reads, *book.edits)
            for glob in rule.globs
        ]
        self._here = Around(_HERE, self._variables())

    def _variables(self) -> dict[str, list[str]]:
        return {"HOME": [self._places.home], "PWD": [self._places.cwd]}

    def __bool__(self) -> bool:
        return bool(self._shapes)

    # -- paths that are known

    def stopped(self, layers: Layers, book: Rulebook, around: Around) -> Verdict | None:
        """The verdict of a rule of ``book`` that matches a path in the words or redirections of any layer."""
        if not book.protects:
            return None
        softer: Verdict | None = None
        for script in layers.scripts:
            for redirect in script.redirects:
                verdict = self._redirected(book, redirect, around)
                if verdict is not None:
                    return verdict
            if script.here and any(program_of(command.words) in programs.CODE_RUNNERS for command in script.commands):
                rule = next((rule for text in script.here if (rule := self._in_code(book, text)) is not None), None)
                if rule is not None:
                    softer = Verdict("ask", f"It runs code that mentions what {rule} protects.", rule, rule.source)
            for command in (*script.commands, *script.also):
                if _takes_no_files(command):
                    verdict = self._entered(book, command, around)
                else:
                    verdict = self._in_command(book, command, around)
                if verdict is not None and (verdict.behavior == "deny" or book is self._books[1]):
                    return verdict
                softer = softer or verdict
        return softer

    def _redirected(self, book: Rulebook, redirect: Redirect, around: Around) -> Verdict | None:
        if redirect.writes is None or not redirect.target.hint:
            return None
        for path in around.places_of(redirect.target.hint):
            rule = self._paths.touching(book, path, edit=redirect.writes)
            if rule is not None:
                return Verdict.by(rule, f"{rule} matches the redirection to {redirect.target.text}.")
        return None

    def _entered(self, book: Rulebook, command: Command, around: Around) -> Verdict | None:
        """``cd protected && ls``: what follows works there without naming it."""
        for target in _goes_to(command):
            rule = None if target is None else self._word_rule(book, target, around, handles_files=True)
            if rule is not None and target is not None:
                return Verdict("ask", f"{target.text[:80]} is protected by {rule}.", rule, rule.source)
        return None

    def _in_command(self, book: Rulebook, command: Command, around: Around) -> Verdict | None:
        program = program_of(command.words)
        handles_files = program in programs.FILE_HANDLERS or (
            program in programs.RUN_OTHERS
            and any(program_name(word.hint) in programs.FILE_HANDLERS for word in command.words[1:])
        )
        reads_code = program not in programs.INERT and (program in programs.CODE_RUNNERS or not handles_files)
        quick = not handles_files and around.folders == _HERE
        softer: Verdict | None = None
        names_a_file = bool(command.words) and "/" in command.words[0].hint
        for word in command.words if names_a_file else command.words[1:]:
            if _OPTION.match(word.text) or (quick and self._is_plain(book, word)):
                continue
            rule = self._word_rule(book, word, around, handles_files=handles_files)
            if rule is not None and (rule.behavior == "ask" or handles_files):
                return Verdict.by(rule, f"{rule} matches {word.text}, an argument of {program}.")
            why = f"{word.text[:80]}, an argument of {program}, is protected by {rule}."
            if rule is None and reads_code:
                rule = self._in_code(book, word.hint)
                why = f"{word.text[:80]} mentions what {rule} protects."
            if rule is not None and softer is None:
                softer = Verdict("ask", why, rule, rule.source)
        return softer

    def _is_plain(self, book: Rulebook, word: Word) -> bool:
        """A fast positive check for most words: not a protected name, not a link that could lead to one, not code."""
        text = word.hint
        if word.value is None or "/" in text or book.may_name(text) or _CODE.search(text):
            return False
        return not any(map(self._places.is_link_here, path_texts(text)))

    def _word_rule(self, book: Rulebook, word: Word, around: Around, *, handles_files: bool) -> Rule | None:
        texts = [word.hint] if word.value is not None else filter(is_known, shapes(word.text, around.values))
        for text in texts:
            for path in path_texts(text):
                for there in around.places_of(path):
                    rule = self._paths.naming(book, there)
                    if rule is None and (handles_files or "/" in there or self._places.is_link_here(there)):
                        rule = self._paths.touching(book, there, edit=False)
                    if rule is not None:
                        return rule
        return None

    def _in_code(self, book: Rulebook, text: str) -> Rule | None:
        """A protected path that is named somewhere in a piece of code."""
        if not _CODE.search(text):
            return None
        for token in _TOKENS.findall(text)[:MAX_TOKENS]:
            if not _PLAIN.match(token) or book.names(token):
                rule = self._paths.naming(book, token) or self._paths.touching(book, token, edit=False)
                if rule is not None:
                    return rule
        return None

    # -- paths that are known only in part

    def hidden(self, layers: Layers, around: Around) -> Verdict | None:
        """A word that could be a protected path."""
        for script in layers.scripts:
            for redirect in script.redirects:
                relative = None in around.folders and not redirect.target.hint.startswith("/")
                if redirect.writes is not None and (redirect.target.value is None or relative):
                    return Verdict(
                        "ask", f"The target of {redirect.target.text} is known only at run time.", source="safety"
                    )
            unseen = [doubt for doubt in script.doubts if doubt not in SEEN_THROUGH]
            doubt = unseen[0] if unseen else script.refused
            if doubt is not None:
                return Verdict("ask", f"It contains {doubt}, which could reach a protected path.", source="safety")
            for command in (*script.commands, *script.also):
                if not command.words or _takes_no_files(command):
                    continue
                for word in command.words:
                    rule = self._could_name(word, around)
                    if rule is not None:
                        why = f"{word.text[:80]} could be what {rule} protects."
                        return Verdict("ask", why, rule, rule.source)
        if layers.hidden is not None:
            return Verdict("ask", f"It contains {layers.hidden}, which could reach a protected path.", source="safety")
        return None

    def _could_name(self, word: Word, around: Around) -> Rule | None:
        if "/proc/" in word.hint and _OTHER_DOOR.search(word.hint):
            return self._shapes[0][1]
        anywhere = None in around.folders
        if word.value is not None:
            if not anywhere:
                return None
            texts: Iterable[str] = (word.hint,)
        else:
            found = shapes(word.text, around.values)
            texts = (path for shape in found if anywhere or not is_known(shape) for path in path_texts(shape))
        for path in texts:
            for absolute in self._absolute(path, around.folders):
                rule = self._overlapping(fold(absolute))
                if rule is not None:
                    return rule
        return None

    def _absolute(self, path: str, folders: Sequence[str | None]) -> Iterator[str]:
        if path.startswith("/") or path[:1] == ANY:
            yield _tidy(path)
        else:
            for folder in folders:
                yield _tidy(f"{ANY}/{path}" if folder is None else f"{self._places.absolute(folder or '.')}/{path}")

    def _overlapping(self, shape: str) -> Rule | None:
        if not is_known(shape):
            for protected, rule in self._shapes:
                if overlap(shape, protected) or overlap(shape, f"{protected}/{ANY}"):
                    return rule
        return None

    # -- what the command says about itself

    def around(self, layers: Layers) -> Around:
        first = layers.scripts[0]
        if len(layers.scripts) == 1 and len(first.commands) == 1 and not first.loops:
            command = first.commands[0]
            if not command.assignments and _GOES_TO.isdisjoint([word.hint for word in command.words]):
                return self._here
        values, folders = self._variables(), list[str | None](_HERE)
        heads = {command.words[0].hint for script in layers.scripts for command in script.commands if command.words}
        if heads & programs.MOVERS:
            del values["PWD"]
        if heads & programs.SETS_VARIABLES:
            return Around([*folders, None] if heads & programs.MOVERS else folders, {})
        for script in layers.scripts:
            for name, listed in script.loops:
                values.setdefault(name, []).extend(self._known_values(listed, values))
            for command in script.commands:
                for assignment in command.assignments:
                    given = shapes(assignment.value.text, values)
                    values.setdefault(assignment.name, []).extend(given)
        for script in layers.scripts:
            for command in script.commands:
                self._move(command, folders, values)
        unknown = None in folders or len(folders) > MAX_FOLDERS
        known = list(dict.fromkeys(folder for folder in folders if folder is not None))[:MAX_FOLDERS]
        return Around([*known, *([None] if unknown else [])], values)

    @staticmethod
    def _known_values(words: Sequence[Word], values: dict[str, list[str]]) -> list[str]:
        return [shape for word in words for shape in shapes(word.text, values)]

    def _move(self, command: Command, folders: list[str | None], values: dict[str, list[str]]) -> None:
        for target in _goes_to(command):
            folders += self._next_folders(target, folders, values)
        if len(_destinations(command)) > 1:
            folders.append(None)  # ``cd old new`` goes elsewhere in zsh, nowhere in bash

    def _next_folders(
        self, target: Word | None, folders: Sequence[str | None], values: dict[str, list[str]]
    ) -> list[str | None]:
        found: list[str | None] = []
        for shape in [self._places.home] if target is None else shapes(target.text, values):
            if not is_known(shape) or shape.startswith("-"):
                return [None]
            found += [shape if shape.startswith("/") or not folder else f"{folder}/{shape}" for folder in folders]
        return found[:MAX_FOLDERS]


def path_texts(word: str) -> Iterable[str]:
    """The parts of ``word`` that may be a path, also without the blanks around it: so CLI 2.1.325 takes it."""
    if word[:1] not in "-@<>:" and not _SEPARATORS_OR_ENDS.search(word):
        return (word,)
    bare = word.strip()
    if bare != word:
        return dict.fromkeys((word, *path_texts(bare)))
    return _parts_of(word)


def _parts_of(word: str) -> Iterator[str]:
    found = [word] if word[:1] != "-" else []
    if word[:1] == "-" and word[1:2] != "-":
        found += [word[at:] for at in (2, 3, 4)]
    separators = [mark.end() for mark in _SEPARATORS.finditer(word)][:MAX_FOLDERS]
    found += [word[at:] for at in separators]
    found += [word[: at - 1] for at in separators if word[at - 1] == ":"]
    scheme = word.find("://")
    if scheme >= 0:
        found.append(word[scheme + 3 :])
    for path in dict.fromkeys(found):
        trimmed = path.lstrip(_MARKS)
        if trimmed:
            yield trimmed


def _tidy(path: str) -> str:
    """Without ``.`` and ``..``; what a gap may have held is a gap."""
    if "/../" in f"{path}/":
        before, _, after = path.rpartition("/..")
        if is_known(before):
            return os.path.normpath(before + "/..") + after
        return f"{ANY}{after}"
    return re.sub(r"/(\./)+|//+", "/", path)


def _goes_to(command: Command) -> Iterator[Word | None]:
    """Where ``cd``, ``pushd`` or ``-C`` leads; None is home."""
    words = command.words
    if not words:
        return
    if words[0].hint in programs.MOVERS:
        yield next(iter(_destinations(command)), None)
        return
    for option, value in pairwise(words):
        if option.hint in _GOES_TO:
            yield value
    for word in words[1:]:
        name, _, given = word.text.partition("=")
        if name in _GOES_TO and given:
            yield Word(given, None, given)


def _destinations(command: Command) -> list[Word]:
    """The operands of ``cd`` or ``pushd``."""
    words = command.words
    if not words or words[0].hint not in programs.MOVERS:
        return []
    return [word for word in words[1:] if not re.match(r"-[LPeqs@]+\Z|--\Z", word.hint)]


def _takes_no_files(command: Command) -> bool:
    program = program_of(command.words)
    if program == "git":
        if len(command.words) < 2 or command.words[1].hint not in programs.GIT_WITHOUT_FILES:
            return False
        return not any(_GIT_FILE.match(word.hint) for word in command.words)
    return program in programs.NO_FILES
