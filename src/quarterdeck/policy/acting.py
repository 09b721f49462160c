"""How much of a command a rule must spell out: everything up to the last word that changes what the program does.

A wildcard covers arguments. It does not cover an option that runs another program, code in another language, or a word
that names where to write: ``sed '1e id'``, ``uniq a OUT``, ``python3 -c …``, ``go test -exec id``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from . import git_options, programs
from .acting_options import acting_options
from .little_languages import harmless_awk, harmless_sed
from .options import Options, sort_words, values_of
from .program_names import program_name

_ONLY_ASKS: Final = frozenset({"--version", "--help", "-V", "-v", "-h", "--test"})
_MODULES: Final = programs.words(
    "pytest unittest mypy ruff black isort flake8 pylint pyright build tox coverage doctest"
)
"""What ``python -m`` may run under a wildcard: tools that run or look at the project's own code."""
_HARMLESS_PROPERTY: Final = re.compile(
    r"-D(test|it\.test|skipTests|skipITs|maven\.test\.skip|surefire\.[\w.]+|failIfNoTests)(=[\w.#*,+$-]*)?\Z"
)
_HARMLESS_MAKE: Final = re.compile(r"(V|VERBOSE|DEBUG|NDEBUG|RELEASE|COLOR|NO_COLOR|Q)=[A-Za-z0-9_.-]*\Z")
_MAKE_VARIABLE: Final = re.compile(r"[^- ][^ ]*=")
_PRINTF_SETS: Final = re.compile(r"%[^A-Za-z%]*[hlLjztq]*n")
_SQLITE_ACTS: Final = re.compile(
    r"(?:\A|\n)\s*\.(?!(?:tables?|schema|indexes|indices|headers?|databases|dump|show|mode|width|timeout|nullvalue)\b)\w"
    r"|writefile|readfile|edit\s*\(|load_extension|attach|fts3_tokenizer|into\s+'|vacuum\b[^;]*\binto\b",
    re.IGNORECASE,
)
_GLOB: Final = re.compile(r"[*?\[]")
_NUMERIC: Final = programs.words("-eq -ne -lt -le -gt -ge")
_STRATEGIES: Final = programs.words("ort recursive resolve octopus ours subtree")
_WORKSPACES: Final = programs.words("workspace workspaces foreach recursive multi m")
_MERGES: Final = programs.words("merge pull rebase revert cherry-pick")
_CURL_FILE: Final = re.compile(r"(-[A-Za-z]*)?@|[^/]*=[@<]|[^/]*%output|(-[A-Za-z#]*|--url=)?file:", re.IGNORECASE)
_GLOBBED_SCHEME: Final = re.compile(r"[^:/]*[{\[]")
_GO_COMMANDS: Final = programs.words("test build vet fmt mod list version env run doc get install clean work help bug")
_FIND_EXPRESSION: Final = programs.words(
    """
    -H -P -O0 -O1 -O2 -O3 -a -amin -and -anewer -atime -cmin -cnewer -ctime -daystart -depth -d -E -empty -executable
    -false -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -ls -maxdepth -mindepth
    -mmin -mount -mtime -name -newer -newermt -newerct -newerat -nogroup -noleaf -not -nouser -nowarn -o -or -path -perm
    -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true -type -uid -used -user
    -warn -wholename -writable -x -xdev -xtype -s
    """
)
_FIND_ALONE: Final = programs.words(
    """
    -H -P -O0 -O1 -O2 -O3 -a -and -daystart -depth -d -E -empty -executable -false -ls -mount -nogroup -noleaf -not
    -nouser -nowarn -o -or -print -print0 -prune -quit -readable -true -warn -writable -x -xdev -s
    """
)
"""The others have a value."""
_LOADS: Final = re.compile(r"\b(import|include|load|load_str|load_xml)\b|\bsystem\s*\(")
_NUMBER: Final = re.compile(r"-[0-9]+[A-Za-z]?\Z")
_FIND_VALUE: Final = programs.words(
    """-amin -atime -cmin -ctime -mmin -mtime -size -links -inum -uid -gid -perm -used -newermt -newerct -newerat"""
)


def words_to_name(argv: Sequence[str]) -> int:
    """How many words of ``argv`` a rule has to spell out; more than there are: no rule with a wildcard is enough."""
    program = program_name(argv[0])
    if program == "git":
        return max(1, _git(argv))
    if program == "python":
        named = _python_module(argv)
        if named is not None:
            return named
    sorted_words = sort_words(program, argv, until_operand=program in programs.INTERPRETERS)
    special = _SPECIAL.get(program)
    if sorted_words is None:
        reach = _listed(argv, program)
        return max(1, reach, special(argv, _NO_OPTIONS) if special else 0)
    reach = sorted_words.unknown
    if program in programs.INTERPRETERS:
        reach = max(reach, _interpreter(argv, sorted_words))
    if special is not None:
        reach = max(reach, special(argv, sorted_words))
    return max(1, reach)


_NO_OPTIONS: Final = Options((), (), (), (), 0)


def _where(argv: Sequence[str], acts: Callable[[str], bool]) -> int:
    """The number of words up to the last one that ``acts``."""
    for at in range(len(argv), 1, -1):
        if acts(argv[at - 1]):
            return at
    return 0


def _listed(argv: Sequence[str], program: str) -> int:
    """For programs of which only the acting options are known."""
    options = acting_options(program)
    if options is None:
        return 0
    return _where(argv, lambda word: word in options and not _HARMLESS_PROPERTY.match(word))


def _interpreter(argv: Sequence[str], options: Options) -> int:
    """Without a script it runs what it reads, with ``--version`` nothing. A script elsewhere has to be named."""
    script = options.operands[0] if options.operands else "-"
    if script != "-" and not script.startswith("/dev/"):
        return argv.index(script) + 1 if script.startswith("/") or ".." in script.split("/") else 0
    return 0 if len(argv) == 2 and argv[1] in _ONLY_ASKS else len(argv) + 1


def _python_module(argv: Sequence[str]) -> int | None:
    """``python -m pytest …`` is pytest; None for modules that are not known."""
    at = argv.index("-m") if "-m" in argv[:4] else 0
    if not at or len(argv) < at + 2 or argv[at + 1] not in _MODULES:
        return None
    front = sort_words("python", argv[:at])
    if front is None or front.unknown or front.operands:
        return None
    inner = words_to_name(argv[at + 1 :])
    return at + 1 + inner if inner > 1 else 1


def _sed(argv: Sequence[str], options: Options) -> int:
    scripts = values_of(options, ("-e", "--expression")) or list(options.operands[:1])
    lengths = values_of(options, ("-l", "--line-length"))  # for CLI 2.1.325 this is the script
    return len(argv) if not all(map(harmless_sed, scripts)) or not all(map(str.isdigit, lengths)) else 0


def _awk(argv: Sequence[str], options: Options) -> int:
    """Words with a dash behind ``--`` are operands for some versions and options for others."""
    behind = argv[argv.index("--") + 1 :] if "--" in argv else ()
    if any(word.startswith("-") for word in behind):
        return len(argv)
    return 0 if options.operands and harmless_awk(options.operands[0]) else len(argv)


def _jq(argv: Sequence[str], options: Options) -> int:
    """Both languages can load other files."""
    return _where(argv, lambda word: bool(_LOADS.search(word)))


def _second_is_written(argv: Sequence[str], options: Options) -> int:
    """Even a word that looks like an option: not all systems accept options after the first file."""
    first = argv.index(options.operands[0]) if options.operands else len(argv)
    return len(argv) if len(argv) > first + 1 else 0


def _find(argv: Sequence[str], options: Options) -> int:
    reach, before, starts = 0, "", True
    for at, word in enumerate(argv[1:], 2):
        starts = starts and not (word.startswith("-") or word in ("(", "!"))
        if _GLOB.search(word) and (starts or not before.startswith("-") or before in _FIND_ALONE):
            reach = at  # a folder to search, or none at all: ``find . -name x *``
        known = word in _FIND_EXPRESSION or (before in _FIND_VALUE and _NUMBER.match(word))
        if word.startswith("-") and not known:
            reach = at
        before = word
    return reach


def _date(argv: Sequence[str], options: Options) -> int:
    return len(argv) if any(not word.startswith("+") for word in options.operands) else 0


def _make(argv: Sequence[str], options: Options) -> int:
    return _where(
        argv, lambda word: bool(_MAKE_VARIABLE.match(word)) and word[0] != "-" and not _HARMLESS_MAKE.match(word)
    )


def _curl(argv: Sequence[str], options: Options) -> int:
    """A file may follow ``@`` or ``<``, and a URL with braces may be a different one: ``f{i}le:///etc/passwd``."""
    encoded = values_of(options, ("--data-urlencode", "--url-query"))
    forms = values_of(options, ("-F", "--form"))
    if any(mark in form for form in forms for mark in "@<") or any(
        _GLOBBED_SCHEME.match(url) for url in options.operands
    ):
        return len(argv)
    return _where(
        argv,
        lambda word: bool(_CURL_FILE.match(word.strip())) or any("@" in value and value in word for value in encoded),
    )


def _pytest(argv: Sequence[str], options: Options) -> int:
    """``@file`` holds more options; a report can be written anywhere."""
    reports = [value.partition(":")[2] for value in values_of(options, ("--cov-report",))]
    if any(target not in ("", "skip-covered") for target in reports):
        return len(argv)
    return _where(argv, lambda word: word.startswith("@"))


def _at_files(argv: Sequence[str], options: Options) -> int:
    """``@file`` holds more options."""
    return _where(argv, lambda word: word.startswith("@"))


def _images(argv: Sequence[str], options: Options) -> int:
    """``|program``, ``@file``, ``msl:script``"""
    return _where(argv, lambda word: re.match(r"[|@]|[A-Za-z][A-Za-z0-9-]*:", word) is not None)


def _tex(argv: Sequence[str], options: Options) -> int:
    return _where(argv, lambda word: word.startswith(("\\", "&")))


def _pandoc(argv: Sequence[str], options: Options) -> int:
    """Formats may be scripts."""
    return _where(argv, lambda word: ".lua" in word)


def _sqlite3(argv: Sequence[str], options: Options) -> int:
    return _where(argv, lambda word: bool(_SQLITE_ACTS.search(word)))


def _man(argv: Sequence[str], options: Options) -> int:
    """With a slash it is a file, and so are dots for CLI 2.1.325."""
    return _where(argv, lambda word: "/" in word or ".." in word)


def _go(argv: Sequence[str], options: Options) -> int:
    if len(argv) < 2 or argv[1] not in _GO_COMMANDS:
        return 2
    return len(argv) if argv[1] == "env" and any(word.lstrip("-") in ("w", "u") for word in argv[2:]) else 0


def _plus(argv: Sequence[str], options: Options) -> int:
    """Pagers and editors take ``+command``."""
    return _where(argv, lambda word: word.startswith("+"))


def _tar(argv: Sequence[str], options: Options) -> int:
    if len(argv) > 1 and argv[1][:1] != "-":
        spread = sort_words("tar", [argv[0], *(f"-{letter}" for letter in argv[1] if letter not in "fbCXHNLV")])
        if spread is None or spread.unknown:
            return len(argv)
    return _where(argv, lambda word: ":" in word)  # host:file starts a remote shell


def _computes(argv: Sequence[str], options: Options) -> int:
    """``printf %d 'a[$(id)]'`` runs ``id`` in zsh, ``test -v 'a[$(id)]'`` and ``printf -v`` in bash."""
    if argv[0] == "printf" and len(argv) > 1 and argv[1].startswith("-") and argv[1] != "--":
        return len(argv)
    if argv[0] in ("test", "[") and any(
        _compares_text(*three) for three in zip(argv[1:], argv[2:], argv[3:], strict=False)
    ):
        return len(argv)
    if argv[0] in ("test", "[") and any(left == "-t" and not right.isdigit() for left, right in pairwise(argv)):
        return len(argv)
    if argv[0] == "printf" and any(_PRINTF_SETS.search(word) for word in argv[1:]):
        return len(argv)  # printf x%n PATH sets PATH
    return len(argv) if any("$" in word or "`" in word for word in argv[1:]) else 0


def _compares_text(left: str, operator: str, right: str) -> bool:
    """``test x -eq y``: the shell computes what is no number."""
    return operator in _NUMERIC and not (left.lstrip("-").isdigit() and right.lstrip("-").isdigit())


def _ssh(argv: Sequence[str], options: Options) -> int:
    """ssh takes options behind the host as well."""
    reach = 2
    for at, word in enumerate(argv[2:], 3):
        if not word.startswith("-"):
            break
        reach = at
    return reach


def _runs_its_words(argv: Sequence[str], options: Options) -> int:
    """``npm exec``, ``yarn dlx``: what follows is another program."""
    program = program_name(argv[0])
    plain = [word for word in argv[1:] if not word.startswith("-")]
    while len(plain) > 1 and plain[0] in _WORKSPACES:  # ``yarn workspace x exec id``
        plain = plain[2:] if plain[0] == "workspace" else plain[1:]
    running = programs.RUNNING_WORDS[program]
    if len(plain) > 1 and argv[1].startswith("-") and plain[0] not in running and plain[1] in running:
        plain = plain[1:]  # ``pnpm --filter x exec id``: the option has a value
    if not plain or plain[0] not in running:
        return 0
    if len(plain) == 1 and plain[0] in programs.STARTERS:
        return 0
    at = argv.index(plain[0]) + 1
    inner = words_to_name(argv[at:]) if at < len(argv) and not argv[at].startswith("-") else 1
    return min(len(argv), at + inner)


def runner_words(argv: Sequence[str]) -> int:
    """``npx eslint …`` is eslint; ``npx -c …`` is anything."""
    at = 1
    while at < len(argv) and argv[at] in programs.RUNNER_OPTIONS:
        at += 1
    if at == len(argv):
        return 1
    if argv[at].startswith("-"):
        return len(argv)
    program = argv[at] if argv[at].startswith("@") else argv[at].partition("@")[0]
    inner = words_to_name([program or argv[at], *argv[at + 1 :]])
    return at + inner if inner > 1 else 1


_SPECIAL: Final[dict[str, Callable[[Sequence[str], Options], int]]] = {
    "sed": _sed,
    "awk": _awk,
    **dict.fromkeys(("jq", "yq"), _jq),
    **dict.fromkeys(("uniq", "xxd"), _second_is_written),
    "find": _find,
    "date": _date,
    "make": _make,
    "curl": _curl,
    "wget": _curl,
    "go": _go,
    **dict.fromkeys(("less", "more", "vim", "emacs", "nano"), _plus),
    "tar": _tar,
    "ssh": _ssh,
    "pytest": _pytest,
    **dict.fromkeys((*programs.COMPILERS, "ld", "ar", "mypy", "javac"), _at_files),
    **dict.fromkeys(("convert", "magick", "mogrify", "identify", "composite", "montage"), _images),
    **dict.fromkeys(("pdflatex", "latex", "xelatex", "lualatex", "tex", "luatex", "pdftex"), _tex),
    "pandoc": _pandoc,
    "sqlite3": _sqlite3,
    "man": _man,
    **dict.fromkeys(programs.COMPUTING_BUILTINS, _computes),
    **dict.fromkeys(programs.RUNNING_WORDS, _runs_its_words),
}


def git_subcommand(argv: Sequence[str]) -> int:
    """Where git's subcommand stands, behind its own options."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in programs.GIT_GLOBAL_WITH_VALUE else 1
    return min(at, len(argv))


def _git(argv: Sequence[str]) -> int:
    """Options in front of the subcommand act on every subcommand: ``git -c core.pager=x log``."""
    at = git_subcommand(argv)
    reach = _where(argv[:at], lambda word: word not in git_options.HARMLESS_GLOBALS)
    if at >= len(argv):
        return reach
    rest = argv[at:]
    options = sort_words(f"git {rest[0]}", rest)
    if options is None:
        return max(reach, at + 1, _listed(argv, "git"))
    unknown = at + options.unknown if options.unknown else 0
    operands = options.operands
    if operands and operands[0] in git_options.RUNS_OTHERS.get(rest[0], ()):
        unknown = max(unknown, at + rest.index(operands[0]) + 1)
    if rest[0] == "config" and not _only_shows(operands):
        unknown = max(unknown, min(len(argv), at + rest.index(operands[0]) + 2))
    strategies = values_of(options, ("-s", "--strategy")) if rest[0] in _MERGES else []
    if not _STRATEGIES.issuperset(strategies):
        unknown = len(argv)  # git-merge-NAME
    if any("::" in word or "/../" in f"{word}/" for word in operands):
        unknown = len(argv)  # ext::program, src/../x
    return max(reach, unknown)


def _only_shows(operands: Sequence[str]) -> bool:
    """``git config user.name`` shows it, ``git config core.pager less`` sets it."""
    if len(operands) < 2 or operands[0] in ("get", "list"):
        return True
    key = operands[1] if operands[0] == "set" and len(operands) > 1 else operands[0]
    return key in git_options.HARMLESS_KEYS
