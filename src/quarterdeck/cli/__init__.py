"""The ``quarterdeck`` command: one roof over the tools, each loaded only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS: dict[str, str] = {
    "demo": "play a short conversation in the terminal, no model needed",
    "sim": "a claude that is not a model: play a scenario as the CLI",
    "tap": "record what a program and its claude say to each other",
    "trace": "show a recording to a person",
    "replay": "act as the CLI of a recording",
    "policy": "explain, check and test permission rules",
}
"""Name → what it is for. Each is ``quarterdeck.cli.NAME`` with a ``main(argv) -> int``."""

USAGE_ERROR = 2


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    name = words[0] if words else "--help"
    if name in ("-h", "--help", "help"):
        print(usage())
        return 0
    if name in ("-V", "--version"):
        from quarterdeck import __version__

        print(f"quarterdeck {__version__}")
        return 0
    if name not in COMMANDS:
        print(f"quarterdeck: there is no command {name!r}\n\n{usage()}", file=sys.stderr)
        return USAGE_ERROR
    try:
        code: int = import_module(f".{name}", __name__).main(words[1:])
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _leave_quietly()
        return 141
    return code


def usage() -> str:
    rows = "\n".join(f"  {name:8} {purpose}" for name, purpose in COMMANDS.items())
    return (
        "usage: quarterdeck COMMAND …\n\n"
        "The control plane for Claude Code sessions.\n\n"
        f"{rows}\n\n"
        "quarterdeck COMMAND --help tells more. quarterdeck --version prints the version."
    )


def _leave_quietly() -> None:
    """Whoever read our output has gone: keep the interpreter from complaining about it at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
