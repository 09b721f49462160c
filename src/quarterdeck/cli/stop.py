"""``quarterdeck stop``: end a session's process."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck stop",
        description="End the processes of sessions. Conversations are kept, and the next prompt starts them again. "
        "SESSION is an id, a unique prefix of it, or a name.",
        examples=[("quarterdeck stop 3f2a", "the session whose id starts with 3f2a")],
        exits=EXITS,
    )
    built.add_argument("sessions", metavar="SESSION", nargs="+", help="the sessions")
    add_host_options(built, json="print JSON, one object per session")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted.steering import for_each

    return on_host(given, lambda host: for_each(host, given, "stop", done="stopped"))
