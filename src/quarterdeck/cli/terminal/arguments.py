"""Options and exit codes that ``quarterdeck run`` and ``quarterdeck chat`` share."""

from __future__ import annotations

import argparse

from quarterdeck.cli.common import BROKEN_PIPE, FAILED, INTERRUPTED, OK, USAGE_ERROR

NOT_STARTED = 3
EXITED_EARLY = 4
TERMINATED = 143
MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
AGENTS = "claude (the installed Claude Code), sim (the simulator), or the path of a claude executable"
EXITS = {
    OK: "success",
    FAILED: "the run failed or reached a limit",
    USAGE_ERROR: "invalid arguments, or a file cannot be read",
    NOT_STARTED: "Claude Code was not found or did not start",
    EXITED_EARLY: "Claude Code exited before the end of the turn",
    INTERRUPTED: "interrupted with Esc or Ctrl-C",
    BROKEN_PIPE: "output pipe closed",
    TERMINATED: "terminated by SIGTERM (129: SIGHUP)",
}


def add_session_options(parser: argparse.ArgumentParser) -> None:
    rights = parser.add_argument_group("permissions")
    rights.add_argument("--policy", metavar="FILE", help="rules from a file in the format of Claude Code's settings")
    for behavior, example in (("allow", "Bash(make test)"), ("deny", "Read(.env)")):
        purpose = f"{behavior} without asking, e.g. '{example}' (repeatable)"
        rights.add_argument(f"--{behavior}", action="append", default=[], metavar="RULE", help=purpose)
    rights.add_argument("--mode", choices=MODES, help="the permission mode")
    rights.add_argument(
        "--unattended",
        choices=("deny",),
        help="never ask; deny what no rule allows (the default without a terminal)",
    )
    session = parser.add_argument_group("session")
    session.add_argument("--cwd", metavar="DIR", help="work in this folder")
    session.add_argument("--model", metavar="NAME", help="the model")
    resume = "resume a session: its id, a unique prefix, or its title; without ID, choose one"
    session.add_argument("--resume", nargs="?", const="", metavar="ID", help=resume)
    session.add_argument("--continue", dest="continue_", action="store_true", help="resume the latest session here")
    session.add_argument("--fork", action="store_true", help="with --resume or --continue: work on a copy")
    session.add_argument("--max-turns", type=_positive, metavar="N", help="stop after N model calls")
    session.add_argument("--max-budget", type=_amount, metavar="USD", help="stop at this cost")
    prompt = session.add_mutually_exclusive_group()
    prompt.add_argument("--system-prompt", metavar="TEXT", help="replace Claude Code's system prompt")
    prompt.add_argument("--system-prompt-file", metavar="FILE", help="the same, from a file")
    session.add_argument("--mcp-config", metavar="FILE", help="MCP servers in the format of .mcp.json")
    program = parser.add_argument_group("program")
    program.add_argument(
        "--agent",
        default="claude",
        metavar="claude|sim|FILE",
        help="the installed claude (default), the simulator, or a path",
    )
    where = "start the session on a host: its URL or state folder; without URL, $QUARTERDECK_HOST or your own host"
    program.add_argument("--host", nargs="?", const="", metavar="URL", help=where)
    program.add_argument("--preset", metavar="NAME", help="with --host: start from this preset")
    tools = "with --host: give it tools to start sessions of its own, up to N at the same time"
    program.add_argument("--host-tools", metavar="N", type=_positive, help=tools)
    program.add_argument("--token-file", metavar="FILE", help="with --host: read the token from this file")
    ca_file = "with --host: trust the certificates in this PEM file, too"
    program.add_argument("--ca-file", metavar="FILE", help=ca_file)
    program.add_argument("--record", metavar="FILE", help="record the session for quarterdeck trace and replay")


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text!r}")
    return number


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"must be an amount such as 0.50, not {text!r}")
    return amount
