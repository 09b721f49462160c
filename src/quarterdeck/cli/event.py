"""``quarterdeck event``: write an event of your own to a session's log."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck event",
        description="Add an event to a session's log: a CI result, a deployment, a webhook. With --prompt, also send "
        "the session a prompt, marked as external text. SESSION is an id, a unique prefix of it, or a "
        "name.",
        examples=[
            ("quarterdeck event review ci.finished status=failed run:=41", "with data"),
            ("quarterdeck event review ci.finished status=failed --prompt 'CI failed: fix the tests'", "and a prompt"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    built.add_argument("type", metavar="TYPE", help="what happened, e.g. ci.finished")
    built.add_argument("data", metavar="FIELD", nargs="*", help="NAME=VALUE, NAME:=JSON, or - for standard input")
    built.add_argument("--prompt", metavar="TEXT", help="also send this prompt to the session")
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.calling import read_fields
    from .hosted.workspaces import add_event

    data = read_fields(given.data)
    return on_host(given, lambda host: add_event(host, given, data))
