"""``quarterdeck sim``: the simulator, with the flags of ``claude``.

The flags are the CLI's own and the simulator reads them, so that ``quarterdeck sim …`` can stand wherever ``claude …``
does. Only ``quarterdeck sim --help`` alone is answered here, in the style of the other commands, and only then is a
parser of ours imported: the simulator has to start fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .common import Parser


def parser() -> Parser:
    """For help, completion and the reference; the command line itself is read by the simulator."""
    from argparse import SUPPRESS

    from quarterdeck.testing.sim.flags import MANY, OPTIONAL, OTHER_NAMES, SWITCHES, VALUES

    from .common import Parser

    known = sorted((SWITCHES | VALUES | OPTIONAL | MANY) - {"--scenario", "--help"})
    built = Parser(
        "quarterdeck sim",
        usage="quarterdeck sim [--scenario FILE] [flags of claude] [PROMPT]",
        description="A claude that is not a model: takes its flags, speaks its protocol, asks for permissions, and "
        "plays a scenario. Without one it is a friendly assistant that reads and edits files of the working directory.",
        examples=[
            ("quarterdeck sim -p 'Read notes.txt'", "as one would call claude"),
            ("quarterdeck run --agent sim 'Read notes.txt'", "in place of claude, behind another command"),
            ("quarterdeck sim --scenario refused.yaml -p hello", "play a scenario"),
        ],
        exits={0: "as claude", 1: "as claude: the run failed, or a flag is wrong", 2: "the scenario is wrong"},
        epilog="Flags of claude that mean nothing to a simulator are taken all the same, so that any SDK can start it. "
        f"These are known:\n\n{', '.join(known)}",
    )
    built.add_argument("--scenario", metavar="FILE", help="what to play: YAML or JSON (or QUARTERDECK_SIM_SCENARIO)")
    others: dict[str, list[str]] = {}
    for other, name in OTHER_NAMES.items():
        others.setdefault(name, []).append(other)
    for name in known:
        names = [*others.get(name, ()), name]
        if name in SWITCHES:
            built.add_argument(*names, action="store_true", help=SUPPRESS)
        else:
            count = "?" if name in OPTIONAL else "*" if name in MANY else None
            built.add_argument(*names, metavar="VALUE", nargs=count, help=SUPPRESS)
    return built


def main(argv: Sequence[str]) -> int:
    if list(argv) in (["--help"], ["-h"]):
        parser().print_help()
        return 0
    from quarterdeck.testing.sim.process import main as run

    return run(argv)
