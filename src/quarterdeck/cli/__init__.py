"""The ``quarterdeck`` command: the tools, each loaded only when it is called.

What a command module must have, and what it gets from ``common``, stands in ``quarterdeck.cli.common``.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is a large part of the start-up time of ``tap``
    from .common.look import Look

GROUPS: dict[str, dict[str, str]] = {
    "talk to Claude Code": {
        "run": "run one prompt, and answer what it asks on the way",
        "chat": "talk, many turns",
        "demo": "try it in a scratch folder, with claude or with the simulator",
    },
    "look after it": {
        "sessions": "list, search, show, rename, tag, delete, fork and export stored sessions",
        "doctor": "check the CLI, the login and the environment, and say what to do",
        "policy": "explain, check and test permission rules",
    },
    "test and debug": {
        "sim": "a claude that is not a model: play a scenario as the CLI",
        "tap": "record what a program and its claude say to each other",
        "trace": "show a recording to a person",
        "replay": "act as the CLI of a recording",
    },
    "set up": {
        "completion": "print the completion script of a shell",
    },
}

COMMANDS: dict[str, str] = {name: purpose for group in GROUPS.values() for name, purpose in group.items()}
"""Name → what it is for. Each is ``quarterdeck.cli.NAME`` with a ``parser()`` and a ``main(argv) -> int``."""

OK, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 0, 2, 130, 141
"""As in ``common.exits``, which costs an import that ``tap`` does not need."""


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    name = words[0] if words else "--help"
    if name == "help" and words[1:] and words[1] in COMMANDS:
        words = [words[1], "--help"]
        name = words[0]
    if hasattr(sys.stdout, "reconfigure"):  # a locale without UTF-8: a letter too few is better than an error
        sys.stdout.reconfigure(errors="replace")
    try:
        if name in COMMANDS:
            return _run(name, words[1:])
        return _without_command(name)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return BROKEN_PIPE


def _run(name: str, words: list[str]) -> int:
    try:
        code: int = import_module(f".{name}", __name__).main(words)
        sys.stdout.flush()  # a reader that went away is noticed here, not at the end of the interpreter
    except Exception as error:
        from .common.trouble import Trouble

        if not isinstance(error, Trouble):
            raise
        print(error.lines(f"quarterdeck {name}"), file=sys.stderr)
        return error.code
    return code


def _without_command(name: str) -> int:
    if name in ("-h", "--help", "help"):
        from .common.look import Look

        print(usage(Look.of(sys.stdout)))
        sys.stdout.flush()
        return OK
    if name in ("-V", "--version", "version"):
        from quarterdeck import __version__

        print(f"quarterdeck {__version__}")
        return OK
    print(f"quarterdeck: there is no command {name!r}{_meant(name)}", file=sys.stderr)
    print("  quarterdeck --help lists the commands.", file=sys.stderr)
    return USAGE_ERROR


def _meant(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def usage(look: Look) -> str:
    """The list of commands, as wide as the look says and in its colours."""
    from textwrap import wrap

    column = max(map(len, COMMANDS)) + 4
    lines = [
        f"{look.paint('bold', 'usage:')} quarterdeck COMMAND …",
        "",
        "The control plane for Claude Code sessions.",
    ]
    for title, group in GROUPS.items():
        lines += ["", look.paint("bold", f"{title}:")]
        for name, purpose in group.items():
            first, *rest = wrap(purpose, max(min(look.width, 100) - column, 20))
            lines.append(f"  {look.paint('cyan', name)}{' ' * (column - 2 - len(name))}{first}")
            lines += [" " * column + line for line in rest]
    lines += [
        "",
        look.paint("bold", "examples:"),
        '  quarterdeck run "what is in this folder?"',
        "  quarterdeck sessions search 'race condition'",
        "  quarterdeck doctor",
        "",
        "quarterdeck COMMAND --help tells more, with the exit codes.",
        "quarterdeck --version prints the version.",
    ]
    return "\n".join(lines)


def _leave_quietly() -> None:
    """Whoever read our output has gone: keep the interpreter from complaining about it at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
