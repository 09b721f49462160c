"""``quarterdeck sessions``: the conversations that Claude Code has kept on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from quarterdeck.cli.common import FAILED, OK, USAGE_ERROR, Parser, Trouble

FORMATS = ("markdown", "html", "ndjson")
EXITS = {OK: "done", FAILED: "no such session, or it could not be changed", USAGE_ERROR: "the command line is wrong"}
DESCRIPTION = """\
Lists, searches, shows, changes and exports the sessions that Claude Code has kept on this machine, those of this folder
(and of the other work trees of its repository) first. Without a command it lists.

Wherever an ID is wanted, the beginning of one does if no other begins so; so does the title, as the list shows it."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck sessions",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck sessions", "those of this folder, the newest first"),
            ("quarterdeck sessions search 'race condition' --all", "who said that, in any folder"),
            ("quarterdeck sessions show 3f2a", "the conversation whose id begins so"),
            ("quarterdeck sessions export 3f2a --format html --out talk.html", "a page to send to somebody"),
        ],
        exits={**EXITS, 130: "interrupted by Ctrl-C", 141: "the reader of the output went away"},
    )
    commands = built.add_commands(required=False)
    for add in (_add_list, _add_search, _add_show, _add_export, _add_rename, _add_tag, _add_fork, _add_delete):
        command = add(commands)
        place = command.add_mutually_exclusive_group()
        place.add_argument("--project", metavar="DIR", help="only sessions of this folder and its work trees")
        place.add_argument("--all", action="store_true", help="sessions of every folder")
    return built


def _add_list(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "list",
        help="the sessions, the newest first (the default)",
        description="Lists sessions, the newest first.",
        examples=[
            ("quarterdeck sessions list --all --limit 0", "every session of this machine"),
            ("quarterdeck sessions list --json | jq -r .session_id", "for machines: one JSON object for each line"),
        ],
        exits=EXITS,
    )
    added.add_argument(
        "--limit", "-n", metavar="N", type=_count, help="at most N, 0 for all (default: 30; all by --json)"
    )
    added.add_argument("--tag", metavar="TAG", help="only sessions with this tag")
    added.add_argument("--json", action="store_true", help="one JSON object for each session")
    added.add_argument("--quiet", "-q", action="store_true", help="only the ids")
    return _does(added, "listing", "show_list")


def _add_search(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "search",
        help="find what was said",
        description="Finds a text in all that was said, thought, called and answered, sub-agents too.",
        examples=[
            ("quarterdeck sessions search deadlock", "in the sessions of this folder"),
            ("quarterdeck sessions search --all --case-sensitive TODO --json", "everywhere, for machines"),
        ],
        exits={OK: "found", FAILED: "found nothing", USAGE_ERROR: "the command line is wrong"},
    )
    added.add_argument("text", metavar="TEXT", help="what to look for, as it is written")
    added.add_argument("--case-sensitive", action="store_true", help="upper and lower case differ")
    added.add_argument("--limit", "-n", metavar="N", type=_count, default=50, help="at most N, 0 for all (default: 50)")
    added.add_argument("--json", action="store_true", help="one JSON object for each message found")
    return _does(added, "listing", "show_hits")


def _add_show(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "show",
        help="the conversation",
        description="Shows a conversation as it stands: prompts, answers, tool calls with their diffs and results, and "
        "what sub-agents did. Long results are cut. Escape sequences in it have no effect.",
        examples=[
            ("quarterdeck sessions show 3f2a --last 10", "how it ended"),
            ("FORCE_COLOR=1 quarterdeck sessions show 3f2a --full | less -R", "all of it, page by page"),
        ],
        exits=EXITS,
    )
    _add_id(added)
    added.add_argument("--last", metavar="N", type=_count, help="only the last N parts")
    added.add_argument("--full", action="store_true", help="results and thoughts whole")
    added.add_argument("--json", action="store_true", help="one JSON object for each part")
    return _does(added, "show", "show")


def _add_export(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "export",
        help="write it as Markdown, HTML or NDJSON",
        description="Writes a session for people (markdown; html, one file without scripts) or for machines (ndjson: "
        "the transcript byte for byte).",
        examples=[
            ("quarterdeck sessions export 3f2a > talk.md", "Markdown, tool calls folded"),
            ("quarterdeck sessions export 3f2a --format html --out talk.html", "a page"),
        ],
        exits=EXITS,
    )
    _add_id(added)
    added.add_argument("--format", choices=FORMATS, default="markdown", help="markdown, html or ndjson (markdown)")
    added.add_argument("--out", "-o", metavar="FILE", help="a new file (default: standard output)")
    added.add_argument("--force", action="store_true", help="overwrite the file")
    return _does(added, "export", "export")


def _add_rename(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "rename",
        help="give it a title",
        description="Gives a session a title, which Claude Code shows too.",
        examples=[("quarterdeck sessions rename 3f2a 'The checkout bug'", "a name to find it by")],
        exits=EXITS,
    )
    _add_id(added)
    added.add_argument("title", metavar="TITLE", help="the new title")
    added.add_argument("--json", action="store_true", help="write JSON")
    return _does(added, "change", "rename")


def _add_tag(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "tag",
        help="give it a tag, or take it away",
        description="Gives a session a tag in place of the one it has, or takes it away.",
        examples=[
            ("quarterdeck sessions tag 3f2a release", "to be found by: sessions list --tag release"),
            ("quarterdeck sessions tag 3f2a --remove", "no tag"),
        ],
        exits=EXITS,
    )
    _add_id(added)
    added.add_argument("tag", metavar="TAG", nargs="?", help="the tag")
    added.add_argument("--remove", action="store_true", help="take the tag away")
    added.add_argument("--json", action="store_true", help="write JSON")
    return _does(added, "change", "tag")


def _add_fork(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "fork",
        help="copy it, to go on another way",
        description="Copies a session under a new id, whole or up to a message. The session itself stays as it is.",
        examples=[
            ("quarterdeck sessions fork 3f2a", "then: quarterdeck run --resume NEW_ID …"),
            ("quarterdeck sessions fork 3f2a --title 'another way'", "with a title of its own"),
        ],
        exits=EXITS,
    )
    _add_id(added)
    added.add_argument(
        "--title", metavar="TITLE", help="the title of the copy (default: the old one, marked as a fork)"
    )
    added.add_argument("--up-to", metavar="UUID", help="the last message to copy, as show --json names it")
    added.add_argument("--json", action="store_true", help="write JSON")
    return _does(added, "change", "fork")


def _add_delete(commands: argparse._SubParsersAction[Parser]) -> Parser:
    added = commands.add_parser(
        "delete",
        help="remove it for good",
        description="Removes a session and its sub-agents from the disk, for good. Asks first on a terminal.",
        examples=[
            ("quarterdeck sessions delete 3f2a", "asks first"),
            ("quarterdeck sessions delete 3f2a --yes", "in a script"),
        ],
        exits={**EXITS, FAILED: "no such session, not confirmed, or it could not be removed"},
    )
    _add_id(added)
    added.add_argument("--yes", "-y", action="store_true", help="do not ask")
    added.add_argument("--json", action="store_true", help="write JSON")
    return _does(added, "change", "delete")


def _add_id(command: Parser) -> None:
    command.add_argument("id", metavar="ID", help="the session: its id, the beginning of it, or its title")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of things, such as 20")
    return int(text)


def _does(command: Parser, module: str, function: str) -> Parser:
    command.set_defaults(run=(module, function))
    return command


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words = ["list", *words]
    arguments = parser().parse_args(words)
    module, function = arguments.run
    run: Callable[[argparse.Namespace], int] = getattr(import_module(f".{module}", __name__), function)
    from quarterdeck.client.transcripts import TranscriptError

    try:
        return run(arguments)
    except TranscriptError as error:
        raise Trouble(str(error), "quarterdeck sessions list --all shows what there is") from error
