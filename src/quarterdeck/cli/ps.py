"""``quarterdeck ps``: the sessions of a host."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host

STATES = ("running", "waiting", "idle", "starting", "compacting", "limited", "stopped", "parked", "crashed")


def parser() -> Parser:
    built = Parser(
        "quarterdeck ps",
        description="List the sessions of a host: what each one is doing, for how long, what it has cost, and whether "
        "it needs an answer. On a terminal the list updates live; press q or Ctrl-C to exit.",
        examples=[
            ("quarterdeck ps", "watch them"),
            ("quarterdeck ps --once --state waiting", "print the sessions that need an answer"),
            ("quarterdeck ps --json | jq -r 'select(.pending_approvals > 0) | .id'", "in a script"),
        ],
        exits=EXITS,
    )
    built.add_argument("--once", action="store_true", help="print the list and exit")
    built.add_argument("--all", action="store_true", help="include archived sessions")
    built.add_argument(
        "--state",
        metavar="STATE",
        action="append",
        choices=STATES,
        default=[],
        help="only sessions in this state (repeatable)",
    )
    built.add_argument(
        "--tag", metavar="TAG", action="append", default=[], help="only sessions with this tag (repeatable)"
    )
    built.add_argument("--quiet", "-q", action="store_true", help="print only ids")
    add_host_options(built, json="print JSON, one session per line")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.listing import list_them

    return on_host(given, lambda host: list_them(host, given))
