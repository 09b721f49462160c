"""``quarterdeck audit``: who decided or changed what."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import count, moment


def parser() -> Parser:
    built = Parser(
        "quarterdeck audit",
        description="Show who decided or changed what on a host, when, and through which interface, newest first.",
        examples=[
            ("quarterdeck audit --session review", "for one session"),
            ("quarterdeck audit --who alice --from 1d --limit 0", "everything one person did since yesterday"),
        ],
        exits=EXITS,
    )
    built.add_argument("--session", metavar="SESSION", help="only about this session")
    built.add_argument("--who", metavar="NAME", help="only by this person or token")
    built.add_argument("--from", dest="since", metavar="WHEN", type=moment, help="start: a date, or an age such as 7d")
    built.add_argument("--limit", "-n", metavar="N", type=count, default=50, help="at most N, 0 for all (default: 50)")
    add_host_options(built, json="print JSON, one entry per line")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.accounts import show_audit

    return on_host(given, lambda host: show_audit(host, given))
