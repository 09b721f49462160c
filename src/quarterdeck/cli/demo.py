"""``quarterdeck demo``: what ``make run`` shows. ``quarterdeck run`` in a scratch folder, with a friendly prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .common import Parser


def parser() -> Parser:
    from .common import Parser
    from .terminal.arguments import EXITS

    built = Parser(
        "quarterdeck demo",
        description="Runs a friendly prompt in a scratch folder: text as it streams, a file that is read, an edit that "
        "asks for permission and really happens, and what it cost. With your claude where it is installed and signed "
        "in, else with the simulator, which needs no model and no login. It asks you on a terminal and answers itself "
        "elsewhere.",
        examples=[
            ("quarterdeck demo", "you decide"),
            ("quarterdeck demo --yes", "without questions"),
            ("quarterdeck demo --agent sim", "on the simulator in any case"),
        ],
        exits={**EXITS, 0: "played to the end"},
    )
    built.add_argument("--yes", action="store_true", help="allow what it does in the scratch folder without asking")
    built.add_argument("--agent", metavar="claude|sim|FILE", help="who plays (default: claude if signed in, else sim)")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .terminal.demo import demo

    return demo(given.agent, yes=given.yes)
