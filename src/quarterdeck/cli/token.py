"""``quarterdeck token``: manage access to a host."""

from __future__ import annotations

from .common import Parser
from .common.parser import absolute
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import span

SCOPES = ("read", "approve", "operate", "admin")


def parser() -> Parser:
    built = Parser(
        "quarterdeck token",
        description="Create, list and revoke tokens, which people and programs use to access a host. Each scope "
        "includes the ones before it: read can look, approve can decide, operate can start and steer "
        "sessions, admin can do everything.",
        examples=[
            ("quarterdeck token create phone --scope approve --expires 30d", "valid for a month"),
            ("quarterdeck token list", "list tokens and their scopes"),
            ("quarterdeck token revoke phone", "takes effect at once"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    create = commands.add_parser(
        "create",
        help="create a token",
        description="Create a token. Its secret is printed once and not stored.",
        examples=[
            (
                "export QUARTERDECK_TOKEN=$(quarterdeck token create ci --scope operate --folder /srv/repo)",
                "for a script",
            )
        ],
        exits=EXITS,
    )
    create.add_argument("name", metavar="NAME", help="who uses it")
    create.add_argument("--scope", choices=SCOPES, default="read", help="what it allows (default: read)")
    create.add_argument("--expires", metavar="SPAN", type=span, help="how long it is valid, e.g. 12h or 30d")
    create.add_argument(
        "--folder",
        metavar="DIR",
        action="append",
        default=[],
        type=absolute,
        help="only sessions below this folder (repeatable)",
    )
    create.add_argument("--may-bypass", action="store_true", help="allow the bypassPermissions mode")
    listing = commands.add_parser(
        "list",
        help="list the tokens",
        description="List the tokens, without their secrets.",
        examples=[("quarterdeck token list --all", "include revoked tokens")],
        exits=EXITS,
    )
    listing.add_argument("--all", action="store_true", help="include revoked tokens")
    listing.add_argument("--quiet", "-q", action="store_true", help="print only ids")
    revoke = commands.add_parser(
        "revoke",
        help="revoke a token",
        description="Revoke tokens. Their connections are closed.",
        examples=[("quarterdeck token revoke phone", "by name")],
        exits=EXITS,
    )
    revoke.add_argument("tokens", metavar="TOKEN", nargs="+", help="its id, a unique prefix of it, or its name")
    for command, run in ((create, "create_token"), (listing, "list_tokens"), (revoke, "revoke_tokens")):
        add_host_options(command)
        command.set_defaults(run=run)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import accounts

    return on_host(given, lambda host: getattr(accounts, given.run)(host, given))
