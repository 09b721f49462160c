"""``quarterdeck limits``: where the accounts of a host stand."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck limits",
        description="Show the rate limits of a host's accounts: how much of each window is used, and when it resets.",
        examples=[("quarterdeck limits", "a line per window"), ("quarterdeck limits --json", "for a script")],
        exits=EXITS,
    )
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.upkeep import show_limits

    return on_host(given, lambda host: show_limits(host, given))
