"""``quarterdeck upload``: give a session a file."""

from __future__ import annotations

from pathlib import Path

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck upload",
        description="Copy files to the host's machine for a session to read, and print their paths there. SESSION is "
        "an id, a unique prefix of it, or a name.",
        examples=[
            ("quarterdeck upload review screenshot.png", "print where it is now"),
            ('quarterdeck send review "look at $(quarterdeck upload review log.txt)"', "and mention it in a prompt"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    built.add_argument("files", metavar="FILE", nargs="+", type=Path, help="the files")
    add_host_options(built, json="print JSON, one object per file")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.workspaces import upload

    return on_host(given, lambda host: upload(host, given))
