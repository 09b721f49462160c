"""``quarterdeck doctor``: what keeps sessions from running on this machine, and how to fix it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from quarterdeck.cli.common import FAILED, OK, Look, Parser

if TYPE_CHECKING:
    from .findings import DoctorFinding

DESCRIPTION = """\
Checks everything a session needs: the CLI, its version and how compatible it is, the login, the environment and the
machine. Each finding is ok, a warning or a problem, and says what to do about it.

Secrets are neither read nor shown; for keys and credentials the doctor only checks whether they exist. It changes
nothing and sends no prompt to a model."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck doctor",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck doctor", "check everything"),
            ("quarterdeck doctor --start", "also start the CLI, complete the handshake and stop it"),
            ("quarterdeck doctor --cli ~/old/claude", "check another CLI"),
            ("quarterdeck doctor --json | jq '.findings[] | select(.level != \"ok\")'", "in a script"),
        ],
        exits={OK: "no problems (there may be warnings)", FAILED: "at least one problem", 2: "invalid arguments"},
    )
    built.add_argument("--cli", metavar="FILE", help="the claude to check; sim is the simulator")
    built.add_argument(
        "--start", action="store_true", help="also start the CLI, complete the handshake and stop it (up to a minute)"
    )
    built.add_argument("--json", action="store_true", help="print JSON")
    built.add_argument("--quiet", "-q", action="store_true", help="show only warnings and problems")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .findings import as_json, lines

    findings = examine(given.cli, start=given.start, env=os.environ)
    if given.json:
        print(json.dumps(as_json(findings), indent=2))
    else:
        print("\n".join(lines(findings, Look.of(sys.stdout), quiet=given.quiet)))
    return FAILED if any(finding.level == "problem" for finding in findings) else OK


def examine(cli: str | None, *, start: bool, env: Mapping[str, str]) -> list[DoctorFinding]:
    """Every check, in the order in which a person would try them."""
    from .agent import SIMULATOR, look_for_cli, start_check, version_of
    from .compatibility import compare, simulator
    from .environment import environment
    from .login import login
    from .machine import machine, python

    found, words = look_for_cli(cli, env)
    findings = [found]
    version = None
    if words is not None:
        answered, version = version_of(words, env)
        findings.append(answered)
        if version is not None:
            findings.append(simulator() if cli == SIMULATOR else compare(version))
        if start:
            findings.append(start_check(words))
    if cli != SIMULATOR:  # which needs no login
        findings += login(words, version, env)
    return [*findings, *environment(env), *machine(env), *python()]
