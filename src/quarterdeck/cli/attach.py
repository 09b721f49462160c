"""``quarterdeck attach``: follow and steer a session of a host in the terminal."""

from __future__ import annotations

import shlex

from .common import OK, Parser
from .hosted.connecting import EXITS, add_host_options


def parser() -> Parser:
    built = Parser(
        "quarterdeck attach",
        description="Follow a session of a host, answer its requests, and talk to it, with the keys of quarterdeck "
        "chat. Ctrl-D detaches; the session keeps running. You can attach several terminals to one "
        "session. SESSION is an id, a unique prefix of it, or a name.",
        examples=[
            ("quarterdeck attach review", "by name"),
            ("quarterdeck attach 3f2a --host https://deck.example", "on another machine"),
        ],
        exits={**EXITS, OK: "detached with /quit or Ctrl-D"},
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    add_host_options(built, json=None)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .terminal.run import check_installed, check_terminal

    check_installed(instead="; quarterdeck log --follow works without it")
    log = f"quarterdeck log {shlex.quote(given.session)} --follow"
    check_terminal(instead=log, plain=log)
    from .hosted.attaching import attach

    return attach(given)
