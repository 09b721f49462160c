"""``quarterdeck search``: full-text search in a host's sessions."""

from __future__ import annotations

from .common import Parser
from .common.parser import absolute
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import count


def parser() -> Parser:
    built = Parser(
        "quarterdeck search",
        description="Search the names, prompts and answers of a host's sessions, including archived ones, best match "
        "first. All words must match; the last may be a prefix. For sessions that did not run on a host, use "
        "quarterdeck sessions search.",
        examples=[
            ("quarterdeck search race condition", "both words"),
            ("quarterdeck search migrat --session review", "in one session"),
        ],
        exits=EXITS,
    )
    built.add_argument("words", metavar="WORD", nargs="+", help="what to look for")
    built.add_argument("--session", metavar="SESSION", help="only in this session")
    built.add_argument("--cwd", metavar="DIR", type=absolute, help="only in sessions of this folder and below")
    built.add_argument("--limit", metavar="N", type=count, default=20, help="at most N (default: 20)")
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.finding import search

    return on_host(given, lambda host: search(host, given))
