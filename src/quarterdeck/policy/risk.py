"""Risks in a request. They inform the person who is asked; they decide nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from . import programs
from .decision import NO_RISK, RISK_LEVELS, Risk, RiskLevel
from .program_names import program_name
from .programs import words
from .rules import EDIT_TOOLS

SECRETS = re.compile(
    r"(?:^|[\s/='\"])(?:\.env(?:\.[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|credentials(?:\.json)?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|key|p12|pfx|kdbx)|\.(?:ssh|aws|gnupg|kube|docker)(?=[/\s'\"]|$)|shadow)"
    r"(?=[/\s'\"]|$)"
)
_PRIVILEGE = words("sudo doas su pkexec runuser chown chmod chgrp setcap visudo usermod passwd mount")
_DELETE = words("rm rmdir unlink shred truncate wipe srm")
_NETWORK = words("curl wget ssh scp sftp rsync nc ncat netcat telnet ftp socat dig nslookup ping mosh aws gcloud az gh")
INSTALLERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), words("i install add ci update upgrade exec dlx")),
    **dict.fromkeys(("pip", "pip3", "pipx", "uv", "conda", "poetry"), words("install add sync upgrade")),
    **dict.fromkeys(("apt", "apt-get", "yum", "dnf", "apk", "brew", "snap", "gem", "cargo", "go"),
                    words("install add upgrade get update")),
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx"), frozenset[str]()),
}  # fmt: skip
_FEARED = (
    _PRIVILEGE
    | _DELETE
    | _NETWORK
    | INSTALLERS.keys()
    | programs.OPAQUE
    | programs.INLINE_CODE.keys()
    | {"git", "find", "eval", "source", "."}
)
_GIT_NETWORK = words("push pull fetch clone ls-remote submodule")
_FORCE = frozenset({"--force", "-f", "--force-with-lease", "--mirror", "--delete", "-d"})
_EXECUTING = dict.fromkeys(("find",), words("-exec -execdir -ok -okdir")) | dict.fromkeys(
    ("fd", "fdfind"), words("-x -X --exec --exec-batch")
)
_ENDS_EXECUTED = frozenset({";", "\\;", "';'", '";"', "+"})
_MAX_WRAPPED = 10
_RECURSIVE = re.compile(r"-[a-zA-Z]*[rRf]|--recursive\Z|--force\Z")


def of_commands(text: str, commands: Iterable[Sequence[str]]) -> list[tuple[RiskLevel, str]]:
    """The risks in a shell command, given the words of each command in it."""
    found: list[tuple[RiskLevel, str]] = []
    for words_of_one in commands:
        todo = [words_of_one] if words_of_one else []
        for _ in range(_MAX_WRAPPED):
            if not todo:
                break
            argv = todo.pop()
            of_program(argv, found)
            todo += [list(argv[begin:end]) for begin, end in executed(argv)] or _wrapped(argv)
    if ("/" in text or "." in text or "_" in text) and SECRETS.search(text):
        found.append(("high", "secrets"))
    if "/dev/tcp" in text or "/dev/udp" in text:
        found.append(("high", "network"))
    return found


def of_program(argv: Sequence[str], found: list[tuple[RiskLevel, str]]) -> None:
    """Add the fears in one program with its arguments."""
    program = program_name(argv[0])
    if program not in _FEARED:
        return
    if program in _PRIVILEGE:
        found.append(("high", "privilege"))
    if program in _DELETE:
        forced = any(_RECURSIVE.match(word) for word in argv[1:])
        found.append(("high" if forced else "medium", "delete"))
    elif program == "find" and "-delete" in argv:
        found.append(("high", "delete"))
    if program in _NETWORK:
        found.append(("medium", "network"))
    elif program == "git":
        _of_git(argv, found)
    if program in INSTALLERS and (not INSTALLERS[program] or not INSTALLERS[program].isdisjoint(argv[1:])):
        found.append(("medium", "package install"))
    inline = programs.INLINE_CODE.get(program, ())
    if program in programs.SHELLS or program in ("eval", "source", ".") or any(word in inline for word in argv[1:]):
        found.append(("medium", "runs code given as text"))


def executed(argv: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the commands are that ``find`` and ``fd`` run for each file: begin and end in ``argv``."""
    flags = _EXECUTING.get(program_name(argv[0]), frozenset())
    for at, word in enumerate(argv[:-1]):
        if word in flags:
            begin = at + 1
            ends = (end for end in range(begin + 1, len(argv)) if argv[end] in _ENDS_EXECUTED)
            yield begin, next(ends, len(argv))


def _wrapped(argv: Sequence[str]) -> list[list[str]]:
    """What a wrapper runs, roughly: its words without options and assignments."""
    if program_name(argv[0]) not in programs.OPAQUE:
        return []
    run = [word for word in argv[1:] if word[:1] != "-" and "=" not in word]
    return [run] if run else []


def _of_git(argv: Sequence[str], found: list[tuple[RiskLevel, str]]) -> None:
    given = set(argv[1:])
    if "push" in given:
        forced = not _FORCE.isdisjoint(given) or any(word.startswith("+") for word in given)
        found.append(("high", "git force push") if forced else ("medium", "git push"))
    if "clean" in given or ("reset" in given and "--hard" in given):
        found.append(("high", "delete"))
    if not _GIT_NETWORK.isdisjoint(given):
        found.append(("medium", "network"))


def of_path(tool: str, paths: Iterable[str], *, inside: bool) -> list[tuple[RiskLevel, str]]:
    """The risks of a path request."""
    found: list[tuple[RiskLevel, str]] = []
    if any(SECRETS.search(path) for path in paths):
        found.append(("high", "secrets"))
    if not inside:
        writes = tool in EDIT_TOOLS
        found.append(("high", "overwrite outside the project") if writes else ("low", "read outside the project"))
    elif tool in EDIT_TOOLS:
        found.append(("low", "changes a file"))
    return found


def combine(found: Iterable[tuple[RiskLevel, str]]) -> Risk:
    """The highest level, and each reason once."""
    listed = list(found)
    if not listed:
        return NO_RISK
    level = max((level for level, _ in listed), key=RISK_LEVELS.index)
    return Risk(level, tuple(dict.fromkeys(reason for _, reason in listed)))
