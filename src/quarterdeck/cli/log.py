"""``quarterdeck log``: what happened in a session of a host."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck log",
        description="Show what happened in a session of a host: prompts, answers, tool calls with their diffs and "
        "results, decisions. SESSION is an id, a unique prefix of it, or a name.",
        examples=[
            ("quarterdeck log review --follow", "keep following"),
            ("quarterdeck log review --raw | jq .type", "Claude Code's own lines"),
            ("quarterdeck log review --json", "the events, one frame per line"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    built.add_argument("--follow", "-f", action="store_true", help="keep following until Ctrl-C")
    built.add_argument("--raw", action="store_true", help="the lines to and from Claude Code, unchanged")
    add_host_options(built, json="print JSON, one frame per line")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.session_log import show_log

    return on_host(given, lambda host: show_log(host, given))
