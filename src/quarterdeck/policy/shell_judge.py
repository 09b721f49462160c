"""May this shell command run? Each part is judged on its own; the strictest answer is the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from . import programs
from .command_guard import CommandGuard
from .command_rules import CommandRules
from .commands import Unit, make_unit
from .decision import Verdict, strictest
from .file_guard import FileGuard
from .file_words import file_words
from .nested import Layers, program_of, read_layers
from .path_guard import Around, PathGuard
from .path_judge import looks_expanded
from .paths import is_disguised
from .program_names import program_name
from .rules import Rule
from .shell import IN_BACKGROUND, MAX_LENGTH, Command, Redirect, Script

if TYPE_CHECKING:
    from .path_judge import PathJudge
    from .paths import Places
    from .rulebook import Rulebook

_NO_PROGRAM = re.compile(r"\A-\Z|[^A-Za-z0-9_.+@:/-]")
_ONLY_SHOWS = frozenset({"--version", "--help", "-v", "-V"})
_QUOTES = ("'", '"')
_EXPANDS = re.compile("[$`]")
_OTHER_HOME = re.compile(r"~(?!/|\Z)")
"""2.1.325 asks about ``~name`` as a word even where it is quoted and no path."""
_ODD_BRACES = re.compile(r"\$\{[^}]*\{|\{[^}]*\$(?:\[|\(\()")
"""Braces in the value of a variable, numbers computed in braces: 2.1.325 asks, in quotes too."""
_ODD_NUMBER = re.compile(r"\$\$[{(\[]")
"""``$$`` before a bracket: 2.1.325 asks in every mode, in quotes and comments too."""
_ODD_TARGET = re.compile(r"[<>]\|?[ \t]*[0-9]+[<>]")
"""A file named by digits alone, where they may as well be the descriptor of the next redirection."""
_WALK_HERE = programs.words("ls rg find")
_GREPS = programs.words("grep egrep fgrep zgrep")
_RECURSES = re.compile(r"-[A-Za-z]*[rR]|--(dereference-)?recursive\Z")
_HARMLESS_TARGETS = frozenset({"/dev/null"})
_NO_FILE = frozenset({"-", ""})
_ODD_BEGINNINGS = ("", "-", "@", "%", "+", "\\")
"""2.1.325 does not create files with such names on its own."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_./ ,@%+=:()&'~^-]+\Z")
"""Nor with others: ``d[1]``, ``#x``, ``é``. These characters were tried."""


class CommandPart(msgspec.Struct, frozen=True):
    """One part of a command as a person sees it, and the decision about it."""

    text: str
    verdict: Verdict


class ShellJudge:
    def __init__(self, allow: Rulebook, deny: Rulebook, ask: Rulebook, paths: PathJudge, places: Places) -> None:
        self._allow, self._deny, self._ask, self._paths = allow, deny, ask, paths
        self._commands = CommandGuard(deny.commands, ask.commands)
        self._files = FileGuard(paths, places)
        self._protected = PathGuard(deny, ask, paths, places)

    def judge(self, script: Script, *, everything: Verdict | None) -> tuple[Verdict, list[CommandPart], list[Unit]]:
        """``everything`` is the verdict that allows whatever no deny or ask rule speaks of (a bare rule, the mode)."""
        units = [make_unit(command) for command in script.commands]
        if script.refused is not None:
            verdict = self._refused(script)
            return verdict, [CommandPart(script.text, verdict)], units
        layers = read_layers(script)
        around = self._protected.around(layers) if self._protected else None
        stopped = self._stopped(layers, around)
        if stopped is None and "$$" in script.text and _ODD_NUMBER.search(script.text):
            stopped = Verdict("ask", "It contains $$ before a bracket.", source="safety")
        if stopped is not None:
            return stopped, [CommandPart(script.text, stopped)], units
        if everything is not None:
            verdict = self._hidden(layers, around) or self._out_of_bounds(layers, everything) or everything
            return verdict, [CommandPart(script.text, verdict)], units
        if len(units) == 1 and not script.redirects and not script.doubts and not script.here:
            parts = [CommandPart(script.text, self._judge_unit(units[0], script.text, moved=False))]
        else:
            parts = list(self._parts(script, units)) or [CommandPart(script.text, _runs_nothing(script))]
        verdict = strictest([part.verdict for part in parts])
        if verdict.behavior == "allow":
            verdict = self._hidden(layers, around) or self._files.removes_too_much(layers) or verdict
        return verdict, parts, units

    def _refused(self, script: Script) -> Verdict:
        for book in (self._deny, self._ask):
            rule = book.commands.match(script.text.strip()) if len(script.text) <= MAX_LENGTH else None
            if rule is not None:
                return Verdict.by(rule, f"{rule} matches it.")
        return Verdict("ask", f"It was not analysed, because it contains {script.refused}.", source="limit")

    # -- deny and ask

    def _stopped(self, layers: Layers, around: Around | None) -> Verdict | None:
        """A deny or ask rule that matches for certain; ``around`` is None where no rule protects a path."""
        denied, asked = self._commands.stopped(layers) if self._commands else (None, None)
        if around is not None:
            denied = denied or self._protected.stopped(layers, self._deny, around)
            if denied is None or denied.behavior == "ask":
                asked = asked or self._protected.stopped(layers, self._ask, around)
        if denied is not None and denied.behavior == "deny":
            return denied
        return asked or denied

    def _hidden(self, layers: Layers, around: Around | None) -> Verdict | None:
        """Where it would be allowed, what cannot be read may still hide what a deny or ask rule forbids."""
        verdict = self._commands.hidden(layers) if self._commands else None
        if verdict is None and around is not None:
            verdict = self._protected.hidden(layers, around)
        return verdict

    def _out_of_bounds(self, layers: Layers, everything: Verdict) -> Verdict | None:
        for redirect in layers.scripts[0].redirects:
            if redirect.writes and self._paths.is_sensitive(redirect.target.hint):
                return Verdict("ask", f"{redirect.target.text} can make other programs run commands.", source="safety")
            if redirect.writes and everything.source != "mode" and is_disguised(redirect.target.hint):
                return Verdict(
                    "ask", f"{redirect.target.text} may name a different file on some systems.", source="safety"
                )
            if redirect.writes and everything.source != "mode" and self._files.leads_out(redirect.target.hint):
                return Verdict("ask", f"{redirect.target.text} leads out of the working folders.", source="safety")
        verdict = self._files.removes_too_much(layers)
        if verdict is None and everything.source != "mode":
            verdict = self._files.changes_what_runs(layers)
            if verdict is None and IN_BACKGROUND in layers.scripts[0].doubts and _only_reads(layers.scripts[0]):
                verdict = Verdict("ask", "It only reads, and does so in the background.", source="safety")
            if verdict is None and _ODD_BRACES.search(layers.scripts[0].text):
                verdict = Verdict("ask", "It contains a variable or a number with braces.", source="safety")
        return verdict

    # -- allow

    def _parts(self, script: Script, units: Sequence[Unit]) -> Iterator[CommandPart]:
        spelled = self._spelled_out(script)
        moves = [unit.argv[1:] for unit in units if unit.argv[:1] == ("cd",)]
        moved = bool(moves)
        walks = len(units) > 1 and bool(self._deny.reads) and any(not self._paths.is_here(*to[:1]) for to in moves)
        if len(moves) > 1:
            why = "The folder after several cd commands depends on links."
            yield CommandPart(script.text, Verdict("ask", why, source="safety"))
        if len(units) > 1 and (made := self._files.makes_repository(units, script.redirects)) is not None:
            yield CommandPart(script.text, made)
        fed = len(units) > 1 or bool(script.here or script.redirects)
        for unit in units:
            text = " ".join(word.text for word in unit.command.words) or script.text
            if fed and unit.argv and program_name(unit.argv[0]) in programs.READ_ORDERS:
                why = f"{unit.argv[0]} may take commands from its input."
                yield CommandPart(text, Verdict("ask", why, source="safety"))
            if walks and _walks_here(unit.argv):
                why = "It goes through a folder in which deny rules for paths may cover something."
                yield CommandPart(text, Verdict("ask", why, source="safety"))
            if spelled is not None and unit.blocked is None:
                yield CommandPart(text, Verdict.by(spelled, f"{spelled} allows exactly this."))
            else:
                yield CommandPart(text, self._judge_unit(unit, script.text, moved=moved and len(units) > 1))
        for redirect in script.redirects:
            verdict = self._judge_redirect(redirect, moved=moved)
            if verdict is not None and redirect.target.hint.isdigit() and _ODD_TARGET.search(script.text):
                verdict = Verdict("ask", f"{redirect.target.text} may be a file or a descriptor.", source="safety")
            if verdict is not None:
                yield CommandPart(f"{redirect.operator} {redirect.target.text}", verdict)
        for doubt in script.doubts:
            yield CommandPart(
                script.text, Verdict("ask", f"It contains {doubt}, which no rule can allow.", source="safety")
            )

    def _spelled_out(self, script: Script) -> Rule | None:
        """A rule that is the whole command, word for word."""
        text = script.text.strip()
        rule = self._allow.commands.match(text) if len(script.commands) > 1 else None
        return rule if rule is not None and rule.content == text else None

    def _judge_unit(self, unit: Unit, source: str, *, moved: bool) -> Verdict:
        if unit.blocked is not None:
            return Verdict("ask", f"No rule can allow this: {unit.blocked}.", source="safety")
        if not unit.argv:
            if "|" in source:
                return Verdict("ask", "It sets a variable in a pipe.", source="safety")
            return Verdict("allow", "It only sets a harmless variable.")
        if moved and program_name(unit.argv[0]) == "git":
            return Verdict("ask", "git after cd may run commands from that folder's configuration.", source="safety")
        rule = allowing(self._allow.commands, unit, source)
        if rule is not None:
            return self._reaching_out(unit, moved=moved) or Verdict.by(rule, f"{rule} allows it.")
        return (self._built_in(unit, moved=moved) if _is_bare(unit) else None) or self._unmatched(unit)

    def _reaching_out(self, unit: Unit, *, moved: bool) -> Verdict | None:
        """Why a command that is allowed may not have these files."""
        named = file_words(unit.argv)
        for name in named.runs if not moved else ():
            if name not in _NO_FILE and not self._paths.is_inside(name):
                return Verdict("ask", f"{name[:80]} leads out of the working folders.", source="safety")
        for name in named.perhaps:
            if name not in _NO_FILE and not self._paths.may_be_reached(name):
                return Verdict("ask", f"{name[:80]} leads out of the working folders.", source="safety")
        if moved and program_name(unit.argv[0]) in programs.FILE_CHANGERS:
            return Verdict("ask", "The files it changes depend on the folder.", source="safety")
        if not named.reads and not named.writes:
            return None
        if moved and any(not name.startswith("/") for name in (*named.reads, *named.writes)):
            return Verdict("ask", "The files it covers depend on the folder's contents at run time.", source="safety")
        for edit, names in ((False, named.reads), (True, named.writes)):
            for name in names:
                verdict = self._paths.out_of_reach(name, edit=edit) if name not in _NO_FILE else None
                if verdict is not None:
                    return verdict
        return None

    def _unmatched(self, unit: Unit) -> Verdict:
        for text, needed in unit.texts:
            near = self._allow.commands.match(text)
            if near is not None and near.content == text:
                return Verdict("ask", f"{near} has different spaces or quotes.", near)
            if near is not None:
                return Verdict("ask", f"{near} does not include {text[:needed]!r}, which decides what runs.", near)
        return Verdict("ask", "No rule allows it.")

    def _built_in(self, unit: Unit, *, moved: bool) -> Verdict | None:
        head, *rest = unit.argv
        if head == "cd":  # 2.1.325 asks about ``timeout 5 cd src``, which is no cd
            return self._change_folder(rest) if len(unit.command.words) == len(unit.argv) else None
        if head == "git":
            wanted = programs.READ_ONLY_GIT.get(rest[0]) if rest else None
            fine = wanted is not None and wanted.issuperset(rest[1:])
            return Verdict("allow", "It only reads.", source="mode") if fine else None
        if head in programs.READ_ONLY:
            return self._read_only(head, rest, moved=moved)
        plain = unit.command.words[-len(unit.argv)].text == head  # 2.1.325 asks about 'touch' x
        plain = plain and len(unit.command.words) == len(unit.argv)  # and about timeout 5 touch x
        if (
            head in programs.FILE_MAKERS
            and self._paths.accepts_edits
            and plain
            and not moved
            and not unit.command.assignments
        ):
            return self._make_files(programs.FILE_MAKERS[head], rest)
        return None

    def _change_folder(self, rest: list[str]) -> Verdict | None:
        plain = len(rest) == 1 and rest[0] and rest[0][0] not in "-+" and not _EXPANDS.search(rest[0])
        plain = plain and not _OTHER_HOME.match(rest[0])
        if plain and self._paths.is_inside(rest[0]):
            return Verdict("allow", "It stays in the working folders.", source="mode")
        return None

    def _read_only(self, head: str, rest: list[str], *, moved: bool) -> Verdict | None:
        letters, reads = programs.READ_ONLY[head]
        names = _operands(rest, letters)
        if (
            names is None
            or (names and head in ("uname", "pwd", "whoami", "date"))
            or (head == "which" and any(map(_NO_PROGRAM.search, names)))
        ):
            return None
        if head == "du" and not names:
            return None  # 2.1.325 asks about some of these
        if head in programs.PATTERN_FIRST:
            if any(map(looks_expanded, names[:1])):
                return None  # 2.1.325 asks about such a pattern
            names = names[1:]
        if not reads:
            if any(map(_OTHER_HOME.match, names)):
                return None
            return Verdict("allow", "It only prints.", source="mode")
        if moved and names:
            return None
        verdicts = [self._paths.judge_path(name, edit=False) for name in names]
        verdicts.append(Verdict("allow", "It only reads in the working folders.", source="mode"))
        return strictest(verdicts)

    def _make_files(self, letters: str, rest: list[str]) -> Verdict | None:
        names = _operands(rest, letters)
        if not names or any(
            self._paths.is_working_folder(name)
            or name[:1] in _ODD_BEGINNINGS
            or name[:1] in _QUOTES
            or not _PLAIN_NAME.match(name)
            for name in names
        ):
            return None
        return strictest([self._paths.judge_path(name, edit=True) for name in names])

    def _judge_redirect(self, redirect: Redirect, *, moved: bool) -> Verdict | None:
        target = redirect.target
        if redirect.writes is None or target.value in _HARMLESS_TARGETS:
            return None
        if target.value is None:
            return Verdict("ask", f"The target of {target.text} is known only at run time.", source="safety")
        if target.value.startswith(("/dev/tcp/", "/dev/udp/")):
            return Verdict("ask", f"{target.text} opens a network connection.", source="safety")
        if ".." in target.value.split("/") or (moved and not target.value.startswith("/")):
            return Verdict("ask", f"The target of {target.text} depends on the folder at run time.", source="safety")
        return self._paths.judge_path(target.value, edit=redirect.writes)


def _walks_here(argv: Sequence[str]) -> bool:
    """``ls``, ``rg x``, ``grep -r x``: what names no folder is about the present one."""
    program = program_name(argv[0]) if argv else ""
    walks = program in _WALK_HERE or (program in _GREPS and any(map(_RECURSES.match, argv[1:])))
    return walks and not file_words(argv).reads


def _only_reads(script: Script) -> bool:
    """CLI 2.1.325 asks about such commands in the background, even where every command is allowed; in a pipe about
    each of them."""
    found = [_may_only_read(command) for command in script.commands if command.words]
    return any(found) if "|" in script.text else all(found)


def _may_only_read(command: Command) -> bool:
    words = command.words
    if words[0].hint in ("builtin", "command", "timeout", "noglob"):
        return any(program_name(word.hint) in programs.MOSTLY_READ for word in words[1:])
    return program_of(words) in programs.MOSTLY_READ or words[-1].hint in _ONLY_SHOWS


def _is_bare(unit: Unit) -> bool:
    """Without a wrapper, or behind ``timeout 5``: CLI 2.1.325 asks about ``nice ls``."""
    wrapper = unit.command.words[: len(unit.command.words) - len(unit.argv)]
    return not wrapper or (len(wrapper) == 2 and wrapper[0].hint == "timeout")


def _runs_nothing(script: Script) -> Verdict:
    if script.text.lstrip().startswith("["):
        return Verdict("allow", "It only tests something.", source="mode")
    return Verdict("ask", "There is no command in it.", source="safety")


def _operands(words: list[str], letters: str) -> list[str] | None:
    """The words that are not options; None if an option is not in ``letters``."""
    names: list[str] = []
    for word in words:
        if not word.startswith("-") or word == "-":
            names.append(word)
        elif word.startswith("--") or not set(word[1:]) <= set(letters):
            return None
    return names


def allowing(rules: CommandRules, unit: Unit, source: str) -> Rule | None:
    """The rule that allows ``unit``: it matches, and spells out all that decides what is run.

    An exact rule must stand in the source as it is, blank for blank: so does CLI 2.1.325.
    """
    for text, named in unit.texts:
        rule = rules.covering(text, named, exact=text in source)
        if rule is not None:
            return rule
    return None
