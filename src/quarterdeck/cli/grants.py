"""``quarterdeck grants``: rules that people asked a host to remember."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck grants",
        description="List and revoke the rules that a host remembers because someone answered “always”.",
        examples=[
            ("quarterdeck grants list", "list active rules"),
            ("quarterdeck grants revoke 3f2a", "running sessions ask again from now on"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    listing = commands.add_parser(
        "list",
        help="list the grants",
        description="List the grants: the rule, where it applies, and who granted it.",
        examples=[("quarterdeck grants list --all", "include revoked grants")],
        exits=EXITS,
    )
    listing.add_argument("--all", action="store_true", help="include revoked grants")
    revoke = commands.add_parser(
        "revoke",
        help="revoke grants",
        description="Revoke grants, also for sessions that are running.",
        examples=[("quarterdeck grants revoke 3f2a", "by a unique prefix of its id")],
        exits=EXITS,
    )
    revoke.add_argument("grants", metavar="GRANT", nargs="+", help="its id, or a unique prefix of it")
    for command, run in ((listing, "list_grants"), (revoke, "revoke_grants")):
        add_host_options(command)
        command.set_defaults(run=run)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import upkeep

    return on_host(given, lambda host: getattr(upkeep, given.run)(host, given))
