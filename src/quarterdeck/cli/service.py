"""``quarterdeck service``: start the host with the machine."""

from __future__ import annotations

from .common import FAILED, OK, USAGE_ERROR, Parser

EXITS = {OK: "success", FAILED: "the service manager refused", USAGE_ERROR: "invalid arguments"}


def parser() -> Parser:
    built = Parser(
        "quarterdeck service",
        description="Have the host started for you: as a systemd user service on Linux, as a launchd agent on macOS. "
        "Sessions go on when it is restarted, for their processes are not the service's to end.",
        examples=[
            ("quarterdeck service install", "start it now, and whenever you log in"),
            ("quarterdeck service install -- --listen 127.0.0.1:9000", "with options of quarterdeck serve"),
            ("quarterdeck service remove", "stop it, and start it no more"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    install = commands.add_parser(
        "install",
        help="start the host now and at every login",
        description="Write the service and start it. Your present PATH is kept in it, so that the host finds what you "
        "find: claude, git, node. Install it again when that changes. On Linux user services end when you log out, "
        "unless you let them linger: loginctl enable-linger.",
        examples=[("quarterdeck service install --print", "show what would be written")],
        exits=EXITS,
    )
    install.add_argument("serve", metavar="OPTION", nargs="*", help="options of quarterdeck serve, after --")
    install.add_argument("--print", action="store_true", help="print the file; change nothing")
    install.add_argument("--no-start", action="store_true", help="write the file only")
    remove = commands.add_parser(
        "remove",
        help="stop the host, and start it no more",
        description="Stop the service and remove its file. The state folder stays.",
        examples=[("quarterdeck service remove", "the whole of it")],
        exits=EXITS,
    )
    for name, command in (("install", install), ("remove", remove)):
        command.set_defaults(run=name)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import services

    return services.install(given) if given.run == "install" else services.remove()
