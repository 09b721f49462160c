"""``quarterdeck deny``: refuse what a session asks."""

from __future__ import annotations

from .common import Parser
from .hosted.batches import add_batch_options, check_batch
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck deny",
        description="Deny a request: a permission, a plan or a question. APPROVAL is an id listed by quarterdeck "
        "approvals, or a unique prefix of it.",
        examples=[
            ("quarterdeck deny 8c1f --message 'use make test instead'", "say what to do instead"),
            ("quarterdeck deny 8c1f --stop", "deny and stop the turn"),
            ("quarterdeck deny --session review", "deny all requests of a session"),
        ],
        exits=EXITS,
    )
    built.add_argument("approvals", metavar="APPROVAL", nargs="*", help="the requests to deny")
    built.add_argument("--message", "-m", metavar="TEXT", help="tell Claude why, or what to do instead")
    built.add_argument("--stop", action="store_true", help="also stop the turn")
    add_batch_options(built)
    add_host_options(built, json="print JSON, one approval per line")
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    given = reader.parse_args(argv)
    check_batch(reader, given)
    from .hosted.deciding import deny

    return on_host(given, lambda host: deny(host, given))
