"""``quarterdeck adopt``: conversations that were started in a terminal become sessions of a host."""

from __future__ import annotations

from .common import Parser
from .common.parser import absolute
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck adopt",
        description="Turn a transcript on the host's machine into a session of the host, so that it can be watched and "
        "continued from anywhere. Without TRANSCRIPT, list them. Transcripts in use are refused.",
        examples=[
            ("quarterdeck adopt --cwd .", "transcripts of this folder"),
            ("quarterdeck adopt --search 'race condition'", "transcripts that mention it"),
            ("quarterdeck adopt 09451568", "by a prefix of its id"),
        ],
        exits=EXITS,
    )
    built.add_argument("transcript", nargs="?", metavar="TRANSCRIPT", help="its id, a unique prefix, or its title")
    built.add_argument("--cwd", metavar="DIR", type=absolute, help="list only transcripts of this folder")
    built.add_argument("--search", metavar="TEXT", default="", help="list only transcripts that contain this text")
    add_host_options(built, json="print JSON, one object per transcript")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.workspaces import adopt

    return on_host(given, lambda host: adopt(host, given))
