"""The ``quarterdeck`` command. Each subcommand is imported only when it is called.

``quarterdeck.cli.common`` says what a command module must define, and what it can use.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is a large part of the start-up time of ``tap``
    from .common.look import Look

GROUPS: dict[str, dict[str, str]] = {
    "use Claude Code": {
        "run": "run one prompt and answer its questions",
        "chat": "have a conversation",
        "demo": "try it in a scratch folder, with claude or the simulator",
        "acp": "run as an editor's agent, over the Agent Client Protocol",
    },
    "use a host": {
        "serve": "run a host: sessions with a web page and an API",
        "ps": "list and watch sessions",
        "attach": "follow and steer a session in the terminal",
        "send": "send a prompt to a session",
        "approvals": "list pending requests, or answer them with keys",
        "approve": "approve a request",
        "deny": "deny a request",
        "answer": "answer a session's questions",
        "interrupt": "stop a session's turn",
        "stop": "end a session's process",
        "wait": "wait until a session is done",
        "log": "show what happened in a session",
        "export": "export a session as a document",
        "usage": "show tokens and cost",
        "audit": "show who decided or changed what",
        "token": "create, list and revoke tokens",
        "service": "run the host as a system service",
    },
    "more for a host": {
        "queue": "list, edit, reorder, schedule and remove queued prompts",
        "event": "add an event to a session's log",
        "upload": "upload files for a session",
        "search": "search the sessions",
        "import": "import a session that another host exported",
        "preset": "show and set presets: named sets of options",
        "diff": "show what a session changed",
        "worktree": "list, create and remove git worktrees",
        "adopt": "turn a conversation from a terminal into a session",
        "grants": "list and revoke remembered rules",
        "budget": "show and set what sessions may spend",
        "alerts": "manage alerts (webhooks and commands)",
        "limits": "show the rate limits of the accounts",
        "call": "call any operation by name",
    },
    "manage": {
        "sessions": "list, search, show, rename, tag, delete, fork and export sessions",
        "doctor": "check the CLI, the login and the environment",
        "policy": "explain, check and test permission rules",
    },
    "test and debug": {
        "sim": "a simulated claude: no model, no login",
        "model": "a scripted model for the real claude",
        "tap": "record the traffic between a program and its claude",
        "trace": "show a recording",
        "replay": "play back a recording as if it were the CLI",
    },
    "set up": {
        "completion": "print a shell completion script",
    },
}

COMMANDS: dict[str, str] = {name: purpose for group in GROUPS.values() for name, purpose in group.items()}
"""Name → purpose. Each is ``quarterdeck.cli.NAME`` with a ``parser()`` and a ``main(argv) -> int``."""

OK, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 0, 2, 130, 141
"""As in ``common.exits``; importing that would slow ``tap`` down."""


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    name = words[0] if words else "--help"
    if name == "help" and words[1:] and words[1] in COMMANDS:
        words = [words[1], "--help"]
        name = words[0]
    if hasattr(sys.stdout, "reconfigure"):  # without UTF-8, print "?" rather than fail
        sys.stdout.reconfigure(errors="replace")
    try:
        if name in COMMANDS:
            return _run(name, words[1:])
        return _top_level(name)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return BROKEN_PIPE


def _run(name: str, words: list[str]) -> int:
    try:
        code: int = import_module(f".{name}", __name__).main(words)
        sys.stdout.flush()  # notice a closed pipe here, not at interpreter exit
    except Exception as error:
        from .common.exits import ReportedError

        if not isinstance(error, ReportedError):
            raise
        return error.print(name)
    return code


def _top_level(name: str) -> int:
    if name in ("-h", "--help", "help"):
        from .common.look import Look

        print(overview(Look.of(sys.stdout)))
        sys.stdout.flush()
        return OK
    if name in ("-V", "--version", "version"):
        from quarterdeck import __version__

        print(f"quarterdeck {__version__}")
        return OK
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    print(f"quarterdeck: unknown command {name!r}{hint}", file=sys.stderr)
    print("  Run quarterdeck --help for a list of commands.", file=sys.stderr)
    return USAGE_ERROR


def overview(look: Look) -> str:
    """The list of commands."""
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
        "Run quarterdeck COMMAND --help for options and examples.",
        "Run quarterdeck --version for the version.",
    ]
    return "\n".join(lines)


def silence_stdout() -> None:
    """The reader of our output is gone: keep the interpreter from reporting that at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
