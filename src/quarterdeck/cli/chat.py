"""``quarterdeck chat``: many turns with Claude Code in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.cli.common import Parser


def parser() -> Parser:
    from quarterdeck.cli.terminal.arguments import chat_parser

    return chat_parser()


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_intermixed_args(argv)
    from quarterdeck.cli.terminal.run import check_installed

    check_installed()
    from quarterdeck.cli.terminal.chat import chat

    return chat(given)
