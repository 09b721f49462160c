"""``quarterdeck deny``: refuse what a session asks."""

from __future__ import annotations

from .common import Parser
from .hosted.batches import add_batch_options, check_batch
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck deny",
        description="Refuse what a session asks: a permission, a plan, a question. APPROVAL is an id as quarterdeck "
        "approvals lists it, or a unique beginning of it.",
        examples=[
            ("quarterdeck deny 8c1f --message 'use make test instead'", "and say what to do instead"),
            ("quarterdeck deny 8c1f --stop", "and end the turn"),
            ("quarterdeck deny --session review", "everything that session asks"),
        ],
        exits=EXITS,
    )
    built.add_argument("approvals", metavar="APPROVAL", nargs="*", help="what to refuse")
    built.add_argument("--message", "-m", metavar="TEXT", help="tell Claude why, or what to do instead")
    built.add_argument("--stop", action="store_true", help="end the turn, too")
    add_batch_options(built)
    add_host_options(built, json="print JSON, one approval per line")
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    given = reader.parse_args(argv)
    check_batch(reader, given)
    from .hosted.deciding import deny

    return on_host(given, lambda host: deny(host, given))
