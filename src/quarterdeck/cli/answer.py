"""``quarterdeck answer``: answer a session's questions."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck answer",
        description="Answer a session's questions, one ANSWER per question: the number of a choice, several numbers "
        "separated by commas if the question allows it, or your own words. Without ANSWER, show the "
        "questions. For a plan, ANSWER says what should change. For a form of an MCP server, give "
        "NAME=VALUE for each field.",
        examples=[
            ("quarterdeck answer 8c1f", "show the questions"),
            ("quarterdeck answer 8c1f 2", "the second choice"),
            ("quarterdeck answer 8c1f 1,3 'in Swedish'", "two questions"),
        ],
        exits=EXITS,
    )
    built.add_argument("approval", metavar="APPROVAL", help="the request's id, as listed by quarterdeck approvals")
    built.add_argument("answers", metavar="ANSWER", nargs="*", help="the answers")
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_intermixed_args(argv)
    from .hosted.deciding import answer

    return on_host(given, lambda host: answer(host, given))
