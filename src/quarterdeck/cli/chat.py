"""``quarterdeck chat``: a conversation with Claude Code in the terminal."""

from __future__ import annotations

from quarterdeck.cli.common import OK, Parser
from quarterdeck.cli.terminal.arguments import EXITS, add_session_options


def parser() -> Parser:
    built = Parser(
        "quarterdeck chat",
        description="Have a conversation with Claude Code. Type while it works to steer it. Alt-Enter inserts a new "
        "line, Tab completes /commands and @files, /help lists the commands.",
        examples=[
            ("quarterdeck chat", "start a conversation about the current folder"),
            ("quarterdeck chat --continue", "continue the latest one"),
            ("quarterdeck chat --agent sim", "with the simulator: no model, no cost"),
        ],
        exits={**EXITS, OK: "exited with /quit or Ctrl-D"},
    )
    built.add_argument("prompt", nargs="*", metavar="PROMPT", help="the first prompt")
    add_session_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_intermixed_args(argv)
    from quarterdeck.cli.terminal.run import check_installed, check_terminal

    check_installed(instead="; quarterdeck run works without it")
    check_terminal()
    if given.host is not None:
        from quarterdeck.cli.hosted.starting import chat as chat_on_host

        return chat_on_host(given)
    from quarterdeck.cli.terminal.chat import chat

    return chat(given)
