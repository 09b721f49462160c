"""``quarterdeck import``: take in a session that another host has exported."""  # noqa: N999  # named as what it is

from __future__ import annotations

from .common import Parser
from .common.parser import absolute
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck import",
        description="Import a session exported as NDJSON. It is archived: you can read and search it, but not continue "
        "it, because the conversation is on the other machine.",
        examples=[
            ("quarterdeck import review.ndjson", "its id is printed"),
            (
                "quarterdeck export review --format ndjson | quarterdeck import - --host http://127.0.0.1:9000",
                "copy it",
            ),
        ],
        exits=EXITS,
    )
    built.add_argument("file", metavar="FILE", help="the file; - reads standard input")
    built.add_argument("--name", metavar="NAME", help="rename it")
    built.add_argument("--cwd", metavar="DIR", type=absolute, help="record this folder instead of the original one")
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.finding import import_file

    return on_host(given, lambda host: import_file(host, given))
