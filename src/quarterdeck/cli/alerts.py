"""``quarterdeck alerts``: who is notified of what."""

from __future__ import annotations

from .common import Parser
from .common.parser import absolute
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import count, span

KINDS = ("approval", "crashed", "finished", "budget", "limited")


def parser() -> Parser:
    built = Parser(
        "quarterdeck alerts",
        description="List, add and remove alerts: a webhook or a command on the host's machine, notified when a "
        "request is pending, a session crashes or finishes, or a budget or rate limit is reached.",
        examples=[
            ("quarterdeck alerts list", "with their numbers"),
            ("quarterdeck alerts add --on approval --after 5m --url https://example.org/hook", "a signed webhook"),
            ("quarterdeck alerts add --on crashed --command /usr/local/bin/page-me", "it reads JSON on standard input"),
            ("quarterdeck alerts remove 2", "by its number"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    listing = commands.add_parser(
        "list",
        help="list the alerts",
        description="List the alerts, with their numbers.",
        examples=[("quarterdeck alerts list --json", "as they are stored")],
        exits=EXITS,
    )
    add = commands.add_parser(
        "add",
        help="add an alert",
        description="Add an alert. Webhooks do not follow redirects and reach private addresses only if you allow "
        "them.",
        examples=[
            ("quarterdeck alerts add --on finished --session review --url https://example.org/hook", "one session")
        ],
        exits=EXITS,
    )
    add.add_argument("--on", action="append", choices=KINDS, required=True, help="what to notify of (repeatable)")
    target = add.add_mutually_exclusive_group(required=True)
    target.add_argument("--url", metavar="URL", help="send it to this webhook")
    target.add_argument("--command", metavar="WORD", nargs="+", help="run this program, by its absolute path")
    add.add_argument(
        "--after", metavar="SPAN", type=span, default=0.0, help="only requests pending for this long, e.g. 5m"
    )
    add.add_argument("--session", metavar="SESSION", help="only this session")
    add.add_argument("--cwd", metavar="DIR", type=absolute, help="only sessions in this folder and below")
    add.add_argument(
        "--private-host", metavar="HOST", action="append", default=[], help="allow this private address or network"
    )
    remove = commands.add_parser(
        "remove",
        help="remove alerts",
        description="Remove alerts by their numbers.",
        examples=[("quarterdeck alerts remove 1 2", "two of them")],
        exits=EXITS,
    )
    remove.add_argument("numbers", metavar="NUMBER", nargs="+", type=count, help="as quarterdeck alerts list shows it")
    for command, run in ((listing, "list_alerts"), (add, "add_alert"), (remove, "remove_alerts")):
        add_host_options(command)
        command.set_defaults(run=run)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import upkeep

    return on_host(given, lambda host: getattr(upkeep, given.run)(host, given))
