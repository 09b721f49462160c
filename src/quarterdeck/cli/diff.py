"""``quarterdeck diff``: what a session changed in its folder."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck diff",
        description="Show what changed in a session's folder since the session was created, including commits. SESSION "
        "is an id, a unique prefix of it, or a name.",
        examples=[
            ("quarterdeck diff review", "with colour on a terminal"),
            ("quarterdeck diff review | git apply -R", "undo it"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.workspaces import show_diff

    return on_host(given, lambda host: show_diff(host, given))
