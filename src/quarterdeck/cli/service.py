"""``quarterdeck service``: start the host with the machine."""

from __future__ import annotations

from .common import FAILED, OK, USAGE_ERROR, Parser

EXITS = {OK: "success", FAILED: "the service manager reported an error", USAGE_ERROR: "invalid arguments"}


def parser() -> Parser:
    built = Parser(
        "quarterdeck service",
        description="Run the host as a service: a systemd user service on Linux, a launchd agent on macOS. Sessions "
        "continue when the service is restarted.",
        examples=[
            ("quarterdeck service install", "start it now, and whenever you log in"),
            ("quarterdeck service install -- --listen 127.0.0.1:9000", "with options of quarterdeck serve"),
            ("quarterdeck service remove", "stop it and remove it"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    install = commands.add_parser(
        "install",
        help="start the host now and at every login",
        description="Install the service and start it. It saves your current PATH, so that the host finds claude, git "
        "and node; install it again when your PATH changes. On Linux, user services end when you log "
        "out unless you run loginctl enable-linger.",
        examples=[("quarterdeck service install --print", "show what would be written")],
        exits=EXITS,
    )
    install.add_argument("serve", metavar="OPTION", nargs="*", help="options of quarterdeck serve, after --")
    install.add_argument("--print", action="store_true", help="print the file and change nothing")
    install.add_argument("--no-start", action="store_true", help="only write the file")
    remove = commands.add_parser(
        "remove",
        help="stop and remove the service",
        description="Stop the service and remove its file. The state folder is kept.",
        examples=[("quarterdeck service remove", "stop it and remove it")],
        exits=EXITS,
    )
    for name, command in (("install", install), ("remove", remove)):
        command.set_defaults(run=name)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import services

    return services.install(given) if given.run == "install" else services.remove()
