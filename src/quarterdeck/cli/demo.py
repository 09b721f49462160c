"""``quarterdeck demo``: a short conversation in the terminal, with the simulator as the CLI.

What a newcomer sees first: text as it streams, a tool that asks for permission, an edit that really happens (in a
scratch folder), and what it cost. Interactive on a terminal, answering itself elsewhere.
"""

from __future__ import annotations

import sys

from .roof import OK, Parser


def parser() -> Parser:
    built = Parser(
        "quarterdeck demo",
        description="Plays a short conversation with a simulated claude in a scratch folder: text as it streams, a "
        "tool that asks for permission, an edit that really happens, and what it cost. No model, no login. "
        "It asks you on a terminal and answers itself elsewhere.",
        examples=[
            ("quarterdeck demo", "three prompts, and you decide"),
            ("quarterdeck demo --yes", "without questions"),
        ],
        exits={0: "played to the end", 130: "interrupted by Ctrl-C"},
    )
    built.add_argument("--yes", action="store_true", help="allow everything without asking")
    return built


def main(argv: list[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    import asyncio

    from ._demo import play

    asyncio.run(play(ask=sys.stdin.isatty() and sys.stdout.isatty() and not arguments.yes))
    return OK
