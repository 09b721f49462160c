"""``quarterdeck approvals``: what the sessions of a host wait for."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host

STATES = ("pending", "decided", "delivered", "applied", "undeliverable", "withdrawn", "stranded")
KINDS = ("permission", "questions", "plan_review", "elicitation", "dialog")


def parser() -> Parser:
    built = Parser(
        "quarterdeck approvals",
        description="List the pending requests of a host's sessions: permissions, questions, plans. With --watch, "
        "answer them one by one with keys: y allows, a always allows, e edits, n denies, j goes to the "
        "next.",
        examples=[
            ("quarterdeck approvals --watch", "answer requests as they arrive"),
            ("quarterdeck approvals", "list pending requests"),
            ("quarterdeck approvals --session review --state applied", "list what a session was allowed"),
            ("quarterdeck approvals --json | jq -r .summary", "in a script"),
        ],
        exits=EXITS,
    )
    built.add_argument("--watch", action="store_true", help="answer requests with keys as they arrive")
    built.add_argument("--session", metavar="SESSION", help="only requests of this session")
    built.add_argument(
        "--kind",
        metavar="KIND",
        action="append",
        choices=KINDS,
        default=[],
        help="only requests of this kind (repeatable)",
    )
    built.add_argument(
        "--state",
        metavar="STATE",
        action="append",
        choices=STATES,
        default=[],
        help="only requests in this state (default: pending; repeatable)",
    )
    built.add_argument("--quiet", "-q", action="store_true", help="print only ids")
    add_host_options(built, json="print JSON, one approval per line")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    if given.watch:
        from .hosted.triage import triage

        return triage(given)
    from .hosted.deciding import list_them

    return on_host(given, lambda host: list_them(host, given))
