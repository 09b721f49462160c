"""``quarterdeck sim``: the simulator, with the flags of ``claude``.

The simulator itself parses the flags, so ``quarterdeck sim …`` can replace ``claude …`` anywhere. Only ``quarterdeck
sim --help`` is answered here, in the style of the other commands; otherwise no parser is imported, so that the
simulator starts fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .common import Parser


def parser() -> Parser:
    """For help, completion and the reference; the simulator parses the actual arguments."""
    from argparse import SUPPRESS

    from quarterdeck.testing.sim.flags import MANY, OPTIONAL, OTHER_NAMES, SWITCHES, VALUES

    from .common import Parser

    known = sorted((SWITCHES | VALUES | OPTIONAL | MANY) - {"--scenario", "--help"})
    built = Parser(
        "quarterdeck sim",
        usage="quarterdeck sim [--scenario FILE] [flags of claude] [PROMPT]",
        description="A simulated claude: takes its flags, speaks its protocol, asks for permissions and plays a "
        "scenario. Without a scenario it is a simple assistant that reads and edits files in the working directory.",
        examples=[
            ("quarterdeck sim -p 'Read notes.txt'", "call it like claude"),
            ("quarterdeck run --agent sim 'Read notes.txt'", "use it instead of claude in another command"),
            ("quarterdeck sim --scenario refused.yaml -p hello", "play a scenario"),
        ],
        exits={0: "success", 1: "the run failed, or a flag is invalid (as with claude)", 2: "invalid scenario"},
        epilog="Flags of claude that a simulator has no use for are accepted and ignored, so that any SDK can start "
        f"it:\n\n{', '.join(known)}",
    )
    built.add_argument(
        "--scenario", metavar="FILE", help="the scenario, YAML or JSON (or set QUARTERDECK_SIM_SCENARIO)"
    )
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
    import os

    from quarterdeck.testing.sim.process import main as run
    from quarterdeck.testing.simulated import APART_VARIABLE

    return run(argv, {APART_VARIABLE: "1", **os.environ})
