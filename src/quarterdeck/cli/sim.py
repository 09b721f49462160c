"""``quarterdeck sim``: the simulator, with the flags of ``claude``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

SUMMARY = "a claude that is not a model: takes its flags, speaks its protocol, plays a scenario"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Only for the list of commands: the flags are the CLI's own, and ``main`` reads them."""
    parser = subparsers.add_parser("sim", help=SUMMARY, description=SUMMARY, add_help=False)
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="the flags of claude, and --scenario FILE")


def main(argv: Sequence[str]) -> int:
    from quarterdeck.testing.sim.process import main as run

    return run(argv)
