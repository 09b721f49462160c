"""``quarterdeck run``: one prompt, followed and answered in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.cli.common import Parser


def parser() -> Parser:
    from quarterdeck.cli.terminal.arguments import run_parser

    return run_parser()


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_intermixed_args(argv)
    from quarterdeck.cli.terminal.run import run

    return run(given)
