"""The arguments of ``quarterdeck run`` and ``quarterdeck chat``: what to do, with which rights, in which session."""

from __future__ import annotations

import argparse

from quarterdeck.cli.common import BROKEN_PIPE, FAILED, INTERRUPTED, OK, USAGE_ERROR, Parser

NOT_STARTED = 3
BROKEN_OFF = 4
TERMINATED = 143
MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
OUTPUTS = ("pretty", "text", "json", "stream-json")
EXITS = {
    OK: "the run succeeded",
    FAILED: "Claude Code says that it failed: its result is an error, or a limit was reached",
    USAGE_ERROR: "the command line is wrong, or a file that it names",
    NOT_STARTED: "Claude Code was not found or did not start",
    BROKEN_OFF: "Claude Code ended in the middle",
    INTERRUPTED: "interrupted by Ctrl-C",
    BROKEN_PIPE: "the reader of the output went away",
    TERMINATED: "ended by SIGTERM (129: by SIGHUP)",
}


def run_parser() -> Parser:
    parser = Parser(
        "quarterdeck run",
        description="Run one prompt in Claude Code and follow it. What it asks on the way (permissions, questions, "
        "plans) is asked here; Ctrl-C interrupts the turn, a second one leaves.",
        examples=[
            ('quarterdeck run "what is in this folder?"', "a question about the folder you are in"),
            ("git diff | quarterdeck run - 'review this change'", "a prompt with standard input behind it"),
            ("quarterdeck run --allow 'Bash(make test)' 'make the tests pass'", "one command may run without asking"),
            ("quarterdeck run --output json --deny Bash 'summarise README.md' | jq .result", "in a script"),
            ("quarterdeck run --agent sim 'edit a to b in notes.txt'", "without a model, on the simulator"),
        ],
        exits=EXITS,
    )
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to do; - or nothing reads standard input")
    parser.add_argument("--prompt-file", metavar="FILE", help="read the prompt from a file")
    parser.add_argument("--image", action="append", default=[], metavar="FILE", help="show it an image (repeatable)")
    out = parser.add_argument_group("output")
    out.add_argument(
        "--output",
        choices=OUTPUTS,
        default="pretty",
        help="pretty: for people (default); text: the answer alone; json: the result; stream-json: every message",
    )
    out.add_argument("--json", action="store_true", help="print all that the CLI writes, line by line, as it is")
    out.add_argument("--partial", action="store_true", help="with --json or stream-json: the pieces of messages, too")
    add_session_options(parser)
    return parser


def chat_parser() -> Parser:
    parser = Parser(
        "quarterdeck chat",
        description="Talk with Claude Code, many turns. What you type while it works steers it. Alt-Enter begins a new "
        "line, Tab completes /commands and @files, /help lists the commands.",
        examples=[
            ("quarterdeck chat", "a new conversation about the folder you are in"),
            ("quarterdeck chat --continue", "go on with the last one"),
            ("quarterdeck chat --agent sim", "without a model, on the simulator"),
        ],
        exits={**EXITS, OK: "you have left with /quit or Ctrl-D"},
    )
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="the first thing to say")
    add_session_options(parser)
    return parser


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """What both commands take."""
    rights = parser.add_argument_group("permissions")
    rights.add_argument("--policy", metavar="FILE", help="rules from a file in the format of Claude Code's settings")
    rights.add_argument("--allow", action="append", default=[], metavar="RULE", help="e.g. 'Bash(make test)'")
    rights.add_argument("--deny", action="append", default=[], metavar="RULE", help="e.g. 'Read(.env)'")
    rights.add_argument("--mode", choices=MODES, help="the permission mode")
    rights.add_argument(
        "--unattended",
        choices=("deny",),
        help="ask nobody: what no rule allows is denied (the default where there is no terminal)",
    )
    session = parser.add_argument_group("session")
    session.add_argument("--cwd", metavar="DIR", help="work in this folder")
    session.add_argument("--model", metavar="NAME", help="which model")
    session.add_argument(
        "--resume", nargs="?", const="", metavar="ID", help="go on with this session; without an ID, choose one"
    )
    session.add_argument("--continue", dest="continue_", action="store_true", help="go on with the latest session here")
    session.add_argument("--fork", action="store_true", help="with --resume or --continue: in a copy of it")
    session.add_argument("--max-turns", type=_positive, metavar="N", help="stop after so many calls of the model")
    session.add_argument("--max-budget", type=_amount, metavar="USD", help="stop when it has cost so much")
    prompt = session.add_mutually_exclusive_group()
    prompt.add_argument("--system-prompt", metavar="TEXT", help="in place of Claude Code's own")
    prompt.add_argument("--system-prompt-file", metavar="FILE", help="the same, from a file")
    session.add_argument("--mcp-config", metavar="FILE", help="MCP servers, in the format of .mcp.json")
    program = parser.add_argument_group("program")
    program.add_argument(
        "--agent",
        default="claude",
        metavar="claude|sim|FILE",
        help="the installed claude (default), the simulator, or a path",
    )
    program.add_argument("--record", metavar="FILE", help="record the conversation, for quarterdeck trace and replay")


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, not {text!r}")
    return number


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"expected an amount such as 0.50, not {text!r}")
    return amount
