"""The words of a command that name files, and which of them are read or written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

import msgspec

from . import programs
from .acting import git_subcommand
from .options import known, sort_words
from .program_names import program_name

_RUNS_FILES: Final = programs.INTERPRETERS | {"make", "pytest"}
_FIND_STARTS: Final = re.compile(r"-[HLPEXdsx]+\Z|-[OD]")
_FIND_FILES: Final = re.compile(r"-(a|c)?newer|-newer..\Z|-samefile\Z|-i?(path|wholename|lname)\Z")
_PRINTS_LINES: Final = re.compile(r" *[0-9]+(,[0-9]+)?p(;[0-9]+(,[0-9]+)?p)* *\Z")
_ONLY_PRINTS: Final = re.compile(r"-[nErz]+\Z|--(quiet|silent|posix)?\Z")
_EXPANDED: Final = re.compile(r"[^-].*[$`]|[$`=]|~(?!/|\Z)", re.DOTALL)
_SORT_OUTPUT: Final = re.compile(r"--o[a-z]*=")
_ELSEWHERE: Final = re.compile(r"[^-].*[$`*?{}]|[$`*?{}=/~]|(.*/)?\.\.(/|\Z)", re.DOTALL)
_VALUES_APART: Final = programs.words("find fd jq yq tr dd rsync scp chmod chown chgrp zip unzip")
_GREP_VALUES: Final = programs.words(
    """
    -A -B -C -e -f -m --include --exclude --exclude-dir --after-context --before-context --context --max-count --regexp
    --file
    """
)
_VALUES_BEFORE: Final = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), _GREP_VALUES),
    "rg": _GREP_VALUES | programs.words("-g -r -t -T --glob --max-depth --replace --type --type-not"),
    "sed": programs.words("-e -f -l --expression --file"),
    "awk": programs.words("-F -v -f --field-separator --assign"),
    "cut": programs.words("-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter"),
}
"""Values of options are no files for CLI 2.1.325: of the first ones anywhere, of these in front of the operands, as far
as it knows that the option has a value. Of other programs it takes every word for one."""
_PATTERN_GIVEN: Final = re.compile(r"-[A-Za-z]*[ef]|--(regexp|file|expression|from-file)")


class FileWords(msgspec.Struct, frozen=True):
    """``runs`` are scripts and targets: they belong to the project, wherever in it the program is started. ``perhaps``
    are words that CLI 2.1.325 takes for files, whatever they are."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()


def file_words(argv: Sequence[str]) -> FileWords:
    """The files that ``argv`` names, as far as the program is known."""
    program = program_name(argv[0])
    options = sort_words(program, argv, until_operand=program in programs.INTERPRETERS)
    reads, writes = (options.reads, options.writes) if options else ((), ())
    if program == "tar":
        return _archive(argv, reads, (*writes, *file_operands(argv)))
    if program == "git":
        return _of_git(argv[git_subcommand(argv) :])
    if program == "wget":
        return FileWords(reads, (*writes, *(_saved_as(url) for url in (options.operands if options else ()))))
    if program == "sqlite3":
        return FileWords((), tuple(word for word in argv[1:] if word.startswith(("/", "../", "~/"))))
    if program == "python" and "-m" in argv[:4]:
        module = argv[argv.index("-m") + 1 :]
        return file_words(module) if module[:1] == ["pytest"] or module[:1] == ("pytest",) else FileWords()
    if program in programs.NAME_THEIR_OUTPUT:
        return FileWords((), tuple(_after(argv, "-o")))
    if program in programs.FORMATTERS:
        return FileWords(runs=tuple(word for word in _not_options(argv[1:]) if "=" not in word))
    if program in programs.FILE_CHANGERS or (program == "sed" and not _prints_lines(argv)):
        return FileWords(reads, (*writes, *file_operands(argv), *_values_elsewhere(program, argv)))
    if program in programs.FILE_READERS:
        found = (*reads, *file_operands(argv), *_values_elsewhere(program, argv), *_late_options(program, argv))
        written = (*writes, *_outputs(program, argv, options.operands if options else ()))
        return FileWords(found, written, perhaps=tuple(_others(program, argv)))
    runs = options.operands if options and program in _RUNS_FILES else ()
    if program in programs.INTERPRETERS:  # a script that is plainly elsewhere must be named by the rule: see ``acting``
        runs = tuple(word for word in runs[:1] if not word.startswith("/") and ".." not in word.split("/"))
    if program == "pytest":
        runs = tuple(word.partition("::")[0] for word in runs)
    return FileWords(reads, writes, tuple(word for word in runs if "=" not in word))


def _outputs(program: str, argv: Sequence[str], operands: Sequence[str]) -> Sequence[str]:
    """Files that programs which mostly read are told to write."""
    if program == "sort":
        named = [word.partition("=")[2] for word in argv if _SORT_OUTPUT.match(word)]
        return [*_after(argv, "-o"), *(word[2:] for word in argv if word.startswith("-o") and word != "-o"), *named]
    return operands[1:] if program in ("uniq", "xxd") else ()


def _of_git(rest: Sequence[str]) -> FileWords:
    """Words that are clearly elsewhere, and files named by options."""
    if not rest:
        return FileWords()
    spec = known(f"git {rest[0]}")
    options = sort_words(f"git {rest[0]}", rest) if spec is not None and spec.names_files else None
    outside = tuple(
        word.removeprefix("file://") for word in rest[1:] if word.startswith(("/", "../", "file://")) or word == ".."
    )
    named = rest[1:] if rest[0] == "diff" else _paths_of_git_grep(rest) if rest[0] == "grep" else ()
    expanded = tuple(filter(_EXPANDED.match, named))
    reads, writes = (options.reads, options.writes) if options else ((), ())
    return FileWords((*outside, *reads, *expanded), writes, perhaps=tuple(_not_options(named)) if named else ())


def _paths_of_git_grep(rest: Sequence[str]) -> Sequence[str]:
    """What follows its pattern."""
    if any(_PATTERN_GIVEN.match(word) for word in rest[1:]):
        return rest[1:]
    only = rest.index("--") if "--" in rest else len(rest)  # from there on every word is one
    operands = [at for at, word in enumerate(rest) if at > only or (at and (word == "-" or not word.startswith("-")))]
    return rest[operands[0] + 1 :] if operands else ()


def _saved_as(url: str) -> str:
    """The name under which ``wget`` saves what it fetches."""
    return unquote(re.split("[?#]", url)[0].rpartition("/")[2])


def _archive(argv: Sequence[str], reads: tuple[str, ...], others: tuple[str, ...]) -> FileWords:
    """An archive is written unless it is listed or unpacked; old-style letters make no difference to what is inside."""
    letters = argv[1].lstrip("-") if len(argv) > 1 and not argv[1].startswith("--") else ""
    makes = not any(letter in letters for letter in "xt") and not any(word in ("--extract", "--list") for word in argv)
    moves_to = (*_after(argv, "-C"), *_after(argv, "--directory="), *_after(argv, "--directory"))
    if len(argv) > 2 and not argv[1].startswith("-") and "f" in letters:
        reads = (*reads, *argv[2 : 3 if letters.count("f") == sum(map(letters.count, "fbCXHNLV")) else None])
    return FileWords(others, (*reads, *moves_to)) if makes else FileWords((*reads, *others), moves_to)


def _prints_lines(argv: Sequence[str]) -> bool:
    """``sed -n 3,7p``: whatever else it does, and with any other option, it may change a file, for CLI 2.1.325."""
    options = [word for word in argv[1:] if word.startswith("-")]
    quiet = any(re.match(r"-[A-Za-z]*n|--quiet\Z|--silent\Z", word) for word in options)
    script = next((word for word in argv[1:] if not word.startswith("-")), "")
    return quiet and all(map(_ONLY_PRINTS.match, options)) and _PRINTS_LINES.match(script) is not None


def _after(argv: Sequence[str], option: str) -> list[str]:
    found = [argv[at + 1] for at, word in enumerate(argv[:-1]) if word == option]
    return found + [word[len(option) :] for word in argv[1:] if word.startswith(option) and word != option]


def file_operands(argv: Sequence[str]) -> list[str]:
    """The words of a command in ``FILE_READERS`` or ``FILE_CHANGERS`` that name files, without options."""
    program = program_name(argv[0])
    if program == "find":
        return _find_starts(argv)
    options = sort_words(program, argv)
    names = (
        list(options.operands) if options else [word for word in argv[1:] if not word.startswith("-") or word == "-"]
    )
    if program == "dd":
        return [name.partition("=")[2] for name in names]
    if program == "tr":
        sets = 1 if any(re.match(r"-[A-Za-z]*d|--del", word) for word in argv[1:]) else 2
        behind = argv[argv.index(names[0]) :] if names else ()  # 2.1.325 knows no options there
        return [*names[sets:], *_not_options(behind[sets:])]
    if program in ("rsync", "scp"):
        return [name for name in names if ":" not in name]
    if program not in programs.PATTERN_FIRST or any(_PATTERN_GIVEN.match(word) for word in argv[1:]):
        return names
    return names[1:]


def _values_elsewhere(program: str, argv: Sequence[str]) -> Sequence[str]:
    """Values of options that look like a path which is not plainly in the project: another version of the program may
    take them for one."""
    if program in _VALUES_APART:
        return ()
    start = 1
    if program in _VALUES_BEFORE:
        start = _first_operand(program, argv)
    elif program in programs.FILE_CHANGERS:
        return [word for word in argv[1:] if not word.startswith("-")]
    expands = program in _VALUES_BEFORE
    return [
        word for word in argv[start:] if _ELSEWHERE.match(word) or (expands and ("$" in word or "`" in word))
    ]  # ``rg x --context='$y'``


def _others(program: str, argv: Sequence[str]) -> Sequence[str]:
    """Values of options and of tests: a link may lead out of the project, whatever the program does with them."""
    if program == "find":
        return [value for test, value in pairwise(argv) if _FIND_FILES.match(test)]
    if program in _VALUES_APART:
        return ()
    start = _first_operand(program, argv) if program in _VALUES_BEFORE else 1
    return _not_options(argv[start:])


def _late_options(program: str, argv: Sequence[str]) -> Sequence[str]:
    """Options behind an operand: CLI 2.1.325 takes them for files, and asks where one looks like something expanded."""
    if program in _VALUES_APART:
        return ()
    operand = next((at for at, word in enumerate(argv[1:], 1) if not word.startswith("-")), len(argv))
    return [word for word in argv[operand:] if word.startswith("-") and ("$" in word or "`" in word)]


def _not_options(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _first_operand(program: str, argv: Sequence[str]) -> int:
    """Where the words begin that count as files: behind the first that is no value of an option known to have one."""
    with_value = _VALUES_BEFORE[program]
    for at in range(1, len(argv)):
        if not argv[at].startswith("-") and argv[at - 1] not in with_value:
            return at + 1
    return len(argv)


def _find_starts(argv: Sequence[str]) -> list[str]:
    """``find`` takes folders until its expression begins."""
    names: list[str] = []
    for word in argv[1:]:
        if _FIND_STARTS.match(word):
            continue
        if word.startswith("-") or word in ("(", "!", ")", ","):
            break
        names.append(word)
    return names
