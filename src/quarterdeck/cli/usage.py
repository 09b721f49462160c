"""``quarterdeck usage``: what the sessions of a host have used."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import moment


def parser() -> Parser:
    built = Parser(
        "quarterdeck usage",
        description="Show tokens and cost of a host's sessions by day, model, session or folder, with a chart, and "
        "the remaining budgets.",
        examples=[
            ("quarterdeck usage", "by day"),
            ("quarterdeck usage --by model --from 7d", "by model, in the last week"),
            ("quarterdeck usage --by day --by model --json", "in a script"),
        ],
        exits=EXITS,
    )
    built.add_argument(
        "--by",
        action="append",
        choices=("day", "model", "session", "cwd"),
        help="day (default), model, session, cwd: the folder (repeatable)",
    )
    built.add_argument("--from", dest="since", metavar="WHEN", type=moment, help="start: a date, or an age such as 7d")
    built.add_argument("--to", metavar="WHEN", type=moment, help="end: a date or an age")
    add_host_options(built, json="print JSON, one row per line")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.accounts import show_usage

    return on_host(given, lambda host: show_usage(host, given))
