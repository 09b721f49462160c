"""``PYTHONPATH=tests python -m conformance``: run the scenarios and report what each CLI did."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quarterdeck.client import CanUseToolShadowedWarning
from quarterdeck.testing.install import NEWEST, SUPPORTED

from .report import Outcomes, as_json, failures, merged, save
from .runner import SIMULATOR, Outcome, Target, own_cli, play_all, real_cli, simulator
from .scenario import Scenario, all_scenarios


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 when the newest CLI, the simulator and the official SDKs pass whatever they were put to."""
    arguments = _parser().parse_args(argv)
    chosen = [one for one in all_scenarios().values() if not arguments.only or _matches(one, arguments.only)]
    if not chosen:
        sys.stderr.write(f"no scenario is called like {arguments.only}; --list shows them\n")
        return 2
    if arguments.list:
        for one in chosen:
            sys.stdout.write(f"{one.id:40} {one.group:22} {one.title}\n")
        return 0
    # Scenarios fail on purpose, and give callbacks that must not be called: that is what they are about
    for name in ("quarterdeck", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    warnings.simplefilter("ignore", CanUseToolShadowedWarning)
    started = time.monotonic()
    outcomes = asyncio.run(play_all(chosen, _targets(arguments), on_outcome=_progress))
    peers = json.loads(arguments.peers.read_bytes()) if arguments.peers else []
    document = as_json(chosen, outcomes, newest=NEWEST, peers=peers)
    if arguments.write:
        document = _with_earlier(document, outcomes, arguments.write / "compatibility.json")
        save(document, arguments.write)
    if arguments.json:
        sys.stdout.write(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    failed = failures(document)
    took = time.monotonic() - started
    sys.stderr.write(f"{len(chosen)} scenarios in {took:.0f} s; {len(failed)} must be mended\n")
    for failure in failed:
        sys.stderr.write(f"  {failure}\n")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--versions", nargs="+", default=[*SUPPORTED, SIMULATOR], help="of the CLI, or 'simulator'")
    parser.add_argument("--cli", type=Path, help="a CLI of your own, in place of --versions")
    parser.add_argument("--only", nargs="+", default=[], help="scenarios whose id or group contains one of these")
    parser.add_argument("--list", action="store_true", help="show the scenarios and end")
    parser.add_argument("--json", action="store_true", help="write the results to stdout as JSON")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="renew compatibility.md and .json there")
    parser.add_argument("--peers", type=Path, metavar="FILE", help="results of tests/conformance_peers/run.py to add")
    return parser


def _with_earlier(document: dict[str, Any], outcomes: Outcomes, file: Path) -> dict[str, Any]:
    """Together with what the files say that are there: a run of one version renews only that column."""
    if not file.exists():
        return document
    earlier = json.loads(file.read_bytes())
    all_outcomes = merged(earlier, outcomes, order=[*SUPPORTED, SIMULATOR])
    peers = document["peers"] or earlier["peers"]
    return as_json(all_scenarios().values(), all_outcomes, newest=NEWEST, peers=peers)


def _matches(scenario: Scenario, words: Sequence[str]) -> bool:
    return any(word in scenario.id or word in scenario.group for word in words)


def _targets(arguments: argparse.Namespace) -> list[Target]:
    if arguments.cli is not None:
        return [own_cli(arguments.cli.resolve(), str(arguments.cli))]
    return [simulator() if name == SIMULATOR else real_cli(name) for name in arguments.versions]


def _progress(scenario: Scenario, target: Target, outcome: Outcome) -> None:
    detail = f": {outcome.detail}" if outcome.detail else ""
    sys.stderr.write(f"{target.name:10} {scenario.id:40} {outcome.seconds:5.1f} s  {outcome.status}{detail}\n")


if __name__ == "__main__":
    sys.exit(main())
