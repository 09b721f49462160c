"""``quarterdeck token``: who may use a host."""

from __future__ import annotations

from .common import Parser
from .common.paths import absolute
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import span

SCOPES = ("read", "approve", "operate", "admin")


def parser() -> Parser:
    built = Parser(
        "quarterdeck token",
        description="Make, list and revoke the tokens with which people and programs use a host. Each scope includes "
        "those before it: read looks, approve decides, operate starts and steers sessions, admin does everything.",
        examples=[
            ("quarterdeck token create phone --scope approve --expires 30d", "for a month"),
            ("quarterdeck token list", "who may do what"),
            ("quarterdeck token revoke phone", "at once"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    create = commands.add_parser(
        "create",
        help="make a token",
        description="Make a token. Its secret is printed once, and kept nowhere.",
        examples=[
            (
                "export QUARTERDECK_TOKEN=$(quarterdeck token create ci --scope operate --folder /srv/repo)",
                "for a script",
            )
        ],
        exits=EXITS,
    )
    create.add_argument("name", metavar="NAME", help="who it is for")
    create.add_argument("--scope", choices=SCOPES, default="read", help="what it may do (default: read)")
    create.add_argument("--expires", metavar="SPAN", type=span, help="how long it lasts, e.g. 12h or 30d")
    create.add_argument(
        "--folder",
        metavar="DIR",
        action="append",
        default=[],
        type=absolute,
        help="only sessions below this folder (repeatable)",
    )
    create.add_argument("--may-bypass", action="store_true", help="may use the mode bypassPermissions")
    listing = commands.add_parser(
        "list",
        help="list the tokens",
        description="List the tokens, without their secrets.",
        examples=[("quarterdeck token list --all", "those that were revoked, too")],
        exits=EXITS,
    )
    listing.add_argument("--all", action="store_true", help="revoked tokens, too")
    listing.add_argument("--quiet", "-q", action="store_true", help="print only ids")
    revoke = commands.add_parser(
        "revoke",
        help="end a token",
        description="End tokens. Whoever is connected with one is cut off.",
        examples=[("quarterdeck token revoke phone", "by its name")],
        exits=EXITS,
    )
    revoke.add_argument("tokens", metavar="TOKEN", nargs="+", help="its id, a unique beginning of it, or its name")
    for command, run in ((create, "create_token"), (listing, "list_tokens"), (revoke, "revoke_tokens")):
        add_host_options(command)
        command.set_defaults(run=run)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import accounts

    return on_host(given, lambda host: getattr(accounts, given.run)(host, given))
