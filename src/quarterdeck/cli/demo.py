"""``quarterdeck demo``: ``quarterdeck run`` or a host in a scratch folder; ``make run`` calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .common import Parser


def parser() -> Parser:
    from .common import Parser
    from .terminal.arguments import EXITS

    built = Parser(
        "quarterdeck demo",
        description="Run a prepared prompt in a scratch folder: it streams text, reads a file, asks for permission to "
        "edit it, and shows the cost. Uses your claude if it is installed and logged in, otherwise the simulator (no "
        "model, no login). Without a terminal it answers its own questions.",
        examples=[
            ("quarterdeck demo", "you answer its questions"),
            ("quarterdeck demo --serve", "a host with two sessions"),
            ("quarterdeck demo --yes", "without questions"),
            ("quarterdeck demo --agent sim", "always use the simulator"),
        ],
        exits=EXITS,
    )
    built.add_argument(
        "--serve",
        action="store_true",
        help="show a host instead: two sessions, one with a request for you, in the terminal and on a web page",
    )
    built.add_argument("--yes", action="store_true", help="allow edits in the scratch folder without asking")
    built.add_argument(
        "--agent", metavar="claude|sim|FILE", help="which agent to use (default: claude if logged in, else sim)"
    )
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    if given.serve:
        import sys

        from .hosted.demonstration import demonstrate

        somebody = sys.stdin.isatty() and sys.stdout.isatty() and not given.yes
        return demonstrate(given.agent or "sim", ask=somebody)
    from .terminal.demo import demo

    return demo(given.agent, yes=given.yes)
