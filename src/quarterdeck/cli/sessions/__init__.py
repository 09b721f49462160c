"""``quarterdeck sessions``: the conversations that Claude Code has stored on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from quarterdeck.cli.common import BROKEN_PIPE, FAILED, INTERRUPTED, OK, USAGE_ERROR, Parser, ReportedError

FORMATS = ("markdown", "html", "ndjson")
EXITS = {OK: "success", FAILED: "no such session, or it could not be changed", USAGE_ERROR: "invalid arguments"}
DESCRIPTION = """\
List, search, show, change and export the sessions that Claude Code has stored on this machine: those of this folder
(and of the other worktrees of its repository), or all with --all. Without a command, sessions are listed.

ID is a session id or its title. A unique prefix is enough."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck sessions",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck sessions", "sessions of this folder, newest first"),
            ("quarterdeck sessions search 'race condition' --all", "find text in the sessions of all folders"),
            ("quarterdeck sessions show 3f2a", "the session whose id starts with 3f2a"),
            ("quarterdeck sessions export 3f2a --format html --out talk.html", "a page to share"),
        ],
        exits={**EXITS, INTERRUPTED: "interrupted with Ctrl-C", BROKEN_PIPE: "output pipe closed"},
    )
    commands = built.add_commands(required=False)
    _add_reading(commands)
    _add_changing(commands)
    for name, command in commands.choices.items():
        if name != "export":
            command.add_argument("--json", action="store_true", help="print JSON, one object per line")
        place = command.add_mutually_exclusive_group()
        place.add_argument("--project", metavar="DIR", help="only sessions of this folder and its worktrees")
        place.add_argument("--all", action="store_true", help="sessions of all folders")
        agent = "whose sessions: claude's (default) or the simulator's, which are kept apart"
        command.add_argument("--agent", choices=("claude", "sim"), default="claude", help=agent)
    return built


def _add_reading(commands: argparse._SubParsersAction[Parser]) -> None:
    added = _add(
        commands,
        "list",
        "list sessions, newest first (the default)",
        "List sessions, newest first.",
        [
            ("quarterdeck sessions list --all --limit 0", "every session on this machine"),
            ("quarterdeck sessions list --json | jq -r .session_id", "in a script"),
        ],
        run="listing.show_list",
        takes_id=False,
    )
    limit = "at most N, 0 for all (default: 30; with --json or --quiet: all)"
    added.add_argument("--limit", "-n", metavar="N", type=_count, help=limit)
    added.add_argument("--tag", metavar="TAG", help="only sessions with this tag")
    added.add_argument("--quiet", "-q", action="store_true", help="print only ids")
    added = _add(
        commands,
        "search",
        "search the text of sessions",
        "Search prompts, answers, thinking, tool calls and results, including those of sub-agents.",
        [
            ("quarterdeck sessions search deadlock", "in the sessions of this folder"),
            ("quarterdeck sessions search --all --case-sensitive TODO --json", "everywhere, in a script"),
        ],
        run="listing.show_hits",
        takes_id=False,
        exits={OK: "found", FAILED: "nothing found", USAGE_ERROR: "invalid arguments"},
    )
    added.add_argument("text", metavar="TEXT", help="the text to search for")
    added.add_argument("--case-sensitive", action="store_true", help="match upper and lower case exactly")
    added.add_argument("--limit", "-n", metavar="N", type=_count, default=50, help="at most N, 0 for all (default: 50)")
    added = _add(
        commands,
        "show",
        "show a conversation",
        "Show a conversation: prompts, answers, tool calls with their diffs and results, and the work of sub-agents. "
        "Long results are cut. Escape sequences are shown, not executed.",
        [
            ("quarterdeck sessions show 3f2a --last 10", "how it ended"),
            ("FORCE_COLOR=1 quarterdeck sessions show 3f2a --full | less -R", "all of it, in a pager"),
        ],
        run="show.show",
    )
    added.add_argument("--last", metavar="N", type=_count, help="only the last N parts")
    added.add_argument("--full", action="store_true", help="do not cut results and thinking")
    added = _add(
        commands,
        "export",
        "export as Markdown, HTML or NDJSON",
        "Export a session for people (markdown; html, a single file without scripts) or for programs (ndjson: the "
        "transcript byte for byte).",
        [
            ("quarterdeck sessions export 3f2a > talk.md", "Markdown, with tool calls folded"),
            ("quarterdeck sessions export 3f2a --format html --out talk.html", "an HTML page"),
        ],
        run="export.export",
    )
    added.add_argument("--format", choices=FORMATS, default="markdown", help="markdown (default), html or ndjson")
    added.add_argument("--out", "-o", metavar="FILE", help="write to a new file (default: standard output)")
    added.add_argument("--force", action="store_true", help="overwrite the file")


def _add_changing(commands: argparse._SubParsersAction[Parser]) -> None:
    added = _add(
        commands,
        "rename",
        "set the title",
        "Set the title of a session. Claude Code shows it, too.",
        [("quarterdeck sessions rename 3f2a 'The checkout bug'", "give it a memorable title")],
        run="change.rename",
    )
    added.add_argument("title", metavar="TITLE", help="the new title")
    added = _add(
        commands,
        "tag",
        "set or remove the tag",
        "Set the tag of a session, or remove it. A session has at most one tag.",
        [
            ("quarterdeck sessions tag 3f2a release", "list them with: sessions list --tag release"),
            ("quarterdeck sessions tag 3f2a --remove", "remove the tag"),
        ],
        run="change.tag",
    )
    added.add_argument("tag", metavar="TAG", nargs="?", help="the tag")
    added.add_argument("--remove", action="store_true", help="remove the tag")
    added = _add(
        commands,
        "fork",
        "copy a session",
        "Copy a session to a new id, completely or up to a message. The original does not change.",
        [
            ("quarterdeck sessions fork 3f2a", "then: quarterdeck run --resume NEW_ID …"),
            ("quarterdeck sessions fork 3f2a --title 'another way'", "with its own title"),
        ],
        run="change.fork",
    )
    title = "the title of the copy (default: the old one, marked as a fork)"
    added.add_argument("--title", metavar="TITLE", help=title)
    added.add_argument("--up-to", metavar="UUID", help="the last message to copy; show --json prints the ids")
    added = _add(
        commands,
        "delete",
        "delete a session permanently",
        "Delete a session and its sub-agents permanently. Asks for confirmation on a terminal.",
        [
            ("quarterdeck sessions delete 3f2a", "asks first"),
            ("quarterdeck sessions delete 3f2a --yes", "in a script"),
        ],
        run="change.delete",
        exits={**EXITS, FAILED: "no such session, not confirmed, or it could not be deleted"},
    )
    added.add_argument("--yes", "-y", action="store_true", help="do not ask")


def _add(
    commands: argparse._SubParsersAction[Parser],
    name: str,
    purpose: str,
    description: str,
    examples: list[tuple[str, str]],
    *,
    run: str,
    takes_id: bool = True,
    exits: Mapping[int, str] = EXITS,
) -> Parser:
    """A command; ``run`` is the function that does it, imported when called: ``"module.function"``."""
    added = commands.add_parser(name, help=purpose, description=description, examples=examples, exits=exits)
    added.set_defaults(run=run)
    if takes_id:
        added.add_argument("id", metavar="ID", help="session id, unique prefix, or title")
    return added


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words = ["list", *words]
    arguments = parser().parse_args(words)
    module, function = arguments.run.split(".")
    run: Callable[[argparse.Namespace], int] = getattr(import_module(f".{module}", __name__), function)
    from quarterdeck.client.transcripts import TranscriptError

    from .find import sessions_of

    try:
        with sessions_of(arguments.agent):
            return run(arguments)
    except TranscriptError as error:
        raise ReportedError(str(error), "Run quarterdeck sessions list --all to list all sessions.") from error
