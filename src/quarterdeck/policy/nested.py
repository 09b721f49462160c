"""Code inside code: what a command will hand to a shell, read as a script of its own, for deny and ask rules.

``bash -c '…'``, ``eval``, here-documents for a shell, ``find -exec``, ``xargs``, ``env -S``, aliases, variables that
programs run, numbers that are computed from text. What is read errs on the side of too much. Where code is run that
cannot be read, ``Layers.hidden`` says so, and the command is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

import msgspec

from . import git_options, programs
from .acting import git_subcommand
from .program_names import program_name
from .shell import MAX_LENGTH, Assignment, Command, Script, read_script
from .words import Word

MAX_DEPTH = 4
"""Deeper nesting is asked about."""
MAX_SCRIPTS = 40
MAX_SHELLS = 8
"""A command with more of them among its words counts as one that reads code from its input."""
MAX_BUILT = 4
"""How many commands built by ``find`` and ``xargs`` are followed, each with ten times as many words."""

_MARKS: Final = re.compile(r"[ \t\n;|&$`({\\'\"]")
_MARKS_IN_LINE: Final = re.compile(r"[\t\n;|&$`({\\'\"=]")
"""The same in a whole command with blanks between its words; also assignments."""
_STANDARD_INPUT: Final = re.compile(r"-\Z|/dev/(stdin|fd/[0-9]+)\Z|/proc/self/fd/[0-9]+\Z")
_RUN_LATER: Final = re.compile(
    r"(GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT|TRACE)|BASH_ENV|ENV\Z|PROMPT_COMMAND|PS[0-4]\Z|ZDOTDIR|BASH_FUNC|SHELLOPTS"
    r"|BASHOPTS|LD_|DYLD_|NODE_OPTIONS|PYTHON(START|BREAK|INSPECT)|PERL5|RUBYOPT|LESSOPEN|LESSCLOSE|.*PAGER|.*EDITOR|VISUAL"
    r"|BROWSER|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|SHELL\Z|.*ASKPASS|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|ZSH_|FPATH|fpath|IFS\Z)"
)
"""Variables whose value some program runs, or that bring other code into one."""
_SHOWS_ONLY: Final = frozenset({"", "cat", "true", ":", "less", "0", "1"})
"""Values of such variables that run nothing else."""
_UNKNOWN_WORD: Final = Word("$…", None, "")
_INTO_XARGS: Final = re.compile(r"\|\s*xargs\b")
_WIDENING: Final = frozenset({"-o", "-or", "!", "-not", "-printf", "-fprintf", "-exec", "-execdir", ","})
"""With these, ``find`` may print names other than the given one."""
_BUILDERS: Final = frozenset({"xargs", "find", "fd"})
"""What they run is built from their arguments, and is a separate command here."""
_TAKES_CODE: Final = (
    programs.EVALUATORS
    | programs.HIDE_CODE
    | programs.SHELLS
    | _BUILDERS
    | {"git", "ssh", "su", "chroot", "parallel", "at", "batch", "crontab"}
)
"""What they run may consist of plain words, or come from elsewhere."""
_PRINTERS: Final = frozenset({"echo", "printf", "print", "yes"})
_XARGS_WITH_VALUE: Final = frozenset("nPLsdEaI")


class Layers(msgspec.Struct, frozen=True):
    """A script and all that are in it; ``hidden`` is why these may not be all; ``flat``: one command that runs none."""

    scripts: tuple[Script, ...]
    hidden: str | None = None
    flat: bool = False


def read_layers(script: Script) -> Layers:
    """``script`` and everything it gives to a shell to run, as far as that can be read."""
    words = _only_words(script)
    if words and not may_run_others(words):
        return Layers((script,), flat=True)
    if words and not _may_hold_code(words, script.text):
        return Layers((script,))
    return _NestedReader().read(script)


def _only_words(script: Script) -> Sequence[Word]:
    """The words of a script that is a single command and nothing else."""
    if len(script.commands) != 1 or script.doubts or script.also or script.here or script.quoted:
        return ()
    command = script.commands[0]
    return () if command.assignments else command.words


def _may_hold_code(words: Sequence[Word], text: str) -> bool:
    """A fast negative check for a single program with plain words: ``make lint``, ``npx tsc``, ``docker ps``."""
    if _MARKS_IN_LINE.search(text) or words[0].hint in _TAKES_CODE or program_of(words) in _TAKES_CODE:
        return True
    return any(program_name(word.hint) in programs.SHELLS for word in words[1:])


def may_run_others(words: Sequence[Word]) -> bool:
    """Whether its arguments may be commands."""
    program = program_of(words)
    if program == "git":
        return _git_runs_others([word.hint for word in words])
    return program in programs.RUN_OTHERS


def program_of(words: Sequence[Word]) -> str:
    return program_name(words[0].hint) if words else ""


def _git_runs_others(argv: Sequence[str]) -> bool:
    at = git_subcommand(argv)
    return at > 1 or (at < len(argv) and argv[at] in git_options.RUN_CODE)


class _NestedReader:
    """Goes through the layers from the outside in. Text is read only up to the length of one command in all."""

    def __init__(self) -> None:
        self.characters = MAX_LENGTH
        self.buildable = MAX_BUILT
        self.found: list[Script] = []
        self.hidden: str | None = None

    def read(self, script: Script) -> Layers:
        todo = [(script, 0)]
        while todo and len(self.found) < MAX_SCRIPTS:
            current, depth = todo.pop(0)
            self.found.append(current)
            for code in dict.fromkeys(self._codes(current)):
                if depth >= MAX_DEPTH:
                    self._hide("code nested too deeply")
                    break
                self.characters -= len(code)
                if self.characters < 0:
                    self._hide("too much nested code")
                    break
                todo.append((read_script(code), depth + 1))
            built = tuple(islice(self._built(current), self.buildable + 1))
            self.buildable -= len(built)
            if self.buildable < 0:
                self._hide("too much nested code")
                self.buildable = 0
            elif built:
                todo.append((Script("", built), depth + 1))
        if todo:
            self._hide("too much nested code")
        return Layers(tuple(self.found), self.hidden)

    def _hide(self, why: str) -> None:
        self.hidden = self.hidden or why

    def _codes(self, script: Script) -> Iterator[str]:
        """Texts in ``script`` that something may run."""
        for command in (*script.commands, *script.also):
            yield from self._assigned(command.assignments)
            yield from self._in_words(command.words, script)
        if script.quoted and (script.computes or any(_computes(command) for command in script.commands)):
            self._hide("a number or name computed from text")
            yield from (f': "{text}"' for text in script.quoted)

    def _assigned(self, assignments: Sequence[Assignment]) -> Iterator[str]:
        for assignment in assignments:
            if assignment.name not in programs.SAFE_VARIABLES:
                yield assignment.value.hint
            if _RUN_LATER.match(assignment.name) and assignment.value.value not in _SHOWS_ONLY:
                self._hide(f"the variable {assignment.name}, which can make a program run something else")

    def _in_words(self, words: Sequence[Word], script: Script) -> Iterator[str]:
        if not words or not may_run_others(words) or program_of(words) in _BUILDERS:
            return
        program, values = program_of(words), [word.hint for word in words[1:]]
        if words[0].hint in programs.HIDE_CODE:
            self._hide(f"{words[0].hint}, which makes code run later")
        if any(
            _RUN_LATER.match(value) and value.partition("=")[2] not in _SHOWS_ONLY for value in values if "=" in value
        ):
            self._hide("a variable that can make a program run something else")
        shells = list(islice(_shells_in(words), MAX_SHELLS + 1))
        if len(shells) > MAX_SHELLS or any(self._reads_input(program_of(rest), rest) for rest in shells):
            yield from script.here
            yield from _printed(script)
            if not script.here or _is_changed_on_the_way(script):
                self._hide(f"what {program} reads from its input")
        pieces = [*values, *(value.partition("=")[2].lstrip("!") for value in values if "=" in value)]
        pieces += [value[at:] for value in values if value[:1] == "-" and value[1:2] != "-" for at in (2, 3, 4)]
        evaluates = words[0].hint in programs.EVALUATORS
        yield from (piece for piece in pieces if piece and (evaluates or _MARKS.search(piece)))
        if evaluates or program == "ssh":
            yield " ".join(values)
        if program == "git":
            yield from self._git(values)

    def _git(self, values: Sequence[str]) -> Iterator[str]:
        """``git -c alias.p=push p``"""
        for at, option in enumerate(values):
            apart = option in ("-c", "--config-env")
            setting = "".join(values[at + 1 : at + 2]) if apart else option[2:] if option[:2] == "-c" else ""
            key, _, value = setting.partition("=")
            if setting and not git_options.HARMLESS_CONFIG.match(key.lower()):
                self._hide("configuration for git, which can make it run something else")
                rest = values[at + 2 if apart else at + 1 :]
                yield value[1:] if value.startswith("!") else f"git {value} {' '.join(rest)}"

    @staticmethod
    def _reads_input(program: str, words: Sequence[Word]) -> bool:
        """A shell, or ``source``, whose orders come from a pipe, a here-document or a descriptor."""
        operands = [word for word in words[1:] if not word.hint.startswith("-") or word.hint == "-"]
        options = [word.hint for word in words[1:] if word.hint.startswith("-") and not word.hint.startswith("--")]
        if program in programs.SHELLS:
            if any("c" in option for option in options):
                return False
            return not operands or any("s" in option for option in options) or _is_input(operands[0])
        if words[0].hint in ("source", "."):
            return bool(operands) and _is_input(operands[0])
        if program in ("ssh", "su", "chroot", "parallel"):
            return len(operands) < (2 if program in ("ssh", "chroot") else 1)
        return program in ("at", "batch", "crontab")

    def _built(self, script: Script) -> Iterator[Command]:
        """Commands that are put together when it runs; what is added is unknown."""
        added = _UNKNOWN_WORD
        for command in script.commands:
            program = program_of(command.words)
            if program == "xargs":
                yield from _from_xargs(command.words, added)
            elif program in _BUILDERS:
                yield from _from_find(command.words)
            added = _found_by(command.words) if _is_piped(script) and program == "find" else _UNKNOWN_WORD


def _shells_in(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The command itself, and from each shell on that it may run."""
    yield words
    for at, word in enumerate(words[1:], 1):
        if program_name(word.hint) in programs.SHELLS:
            yield words[at:]


def _is_input(word: Word) -> bool:
    return bool(_STANDARD_INPUT.match(word.hint)) or word.text.startswith(("<(", "=("))


def _is_changed_on_the_way(script: Script) -> bool:
    """Whether a here-document may reach a shell as another text: ``rev <<< sl | sh``."""
    others = [command.words for command in script.commands if program_of(command.words) not in programs.SHELLS]
    return "|" in script.text and not all(_passes_on(words) for words in others)


def _passes_on(words: Sequence[Word]) -> bool:
    program = program_of(words)
    return program in _PRINTERS or program == "tee" or (program == "cat" and len(words) == 1)


def _computes(command: Command) -> bool:
    return bool(command.words) and command.words[0].hint in programs.COMPUTING_BUILTINS | programs.EVALUATORS


def _printed(script: Script) -> Iterator[str]:
    """What ``echo`` and the like may send to a shell later in the pipe."""
    for command in script.commands:
        if program_of(command.words) in _PRINTERS:
            values = [word.hint for word in command.words[1:]]
            yield " ".join(values)
            yield from values


def _is_piped(script: Script) -> bool:
    """Whether all that ``xargs`` reads comes from the command in front of it."""
    return script.text.count("xargs") == 1 and bool(_INTO_XARGS.search(script.text)) and not script.redirects


def _found_by(words: Sequence[Word]) -> Word:
    """What ``find`` finds: files of a name, where only one is asked for."""
    hints = [word.hint for word in words]
    named = [value for option, value in pairwise(hints) if option in ("-name", "-iname")]
    narrow = len(named) == 1 and not any(hint in _WIDENING for hint in hints)
    return Word(f"*/{named[0]}", None, "") if narrow else _UNKNOWN_WORD


def _from_xargs(words: Sequence[Word], added: Word) -> Iterator[Command]:
    """``xargs`` adds words at the end, or replaces the text given to ``-I``."""
    at, replaced = 1, ""
    while at < len(words) and words[at].hint.startswith("-"):
        option = words[at].hint
        if option[1:2] in ("I", "i", "J"):
            following = words[at + 1].hint if at + 1 < len(words) else ""
            replaced = option[2:] or ("{}" if option[1:2] == "i" else following)
        at += 2 if len(option) == 2 and option[1] in _XARGS_WITH_VALUE else 1
    rest = [added if replaced and replaced in word.hint else word for word in words[at:]]
    if rest:
        yield Command(tuple(rest) if replaced else (*rest, added))


def _from_find(words: Sequence[Word]) -> Iterator[Command]:
    for at, word in enumerate(words):
        if word.hint in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
            found, rest = _found_by(words[:at]), list[Word]()
            for following in words[at + 1 :]:
                if following.hint in (";", "+") or len(rest) == MAX_BUILT * 10:
                    break
                rest.append(found if "{" in following.hint else following)
            if rest:
                yield Command(tuple(rest))
