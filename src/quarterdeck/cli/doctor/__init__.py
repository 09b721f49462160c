"""``quarterdeck doctor``: what stands between this machine and a running session, and what to do about it."""

from __future__ import annotations

import json
import os
import sys

from quarterdeck.cli.common import FAILED, OK, Look, Parser

DESCRIPTION = """\
Looks at everything a session needs: the CLI and its version, how it compares with those that were measured, the login,
this environment, this machine. Each finding is fine (ok), worth knowing (warning) or in the way (problem), with what to
do about it.

Nothing secret is read or shown: of keys and credentials only whether they are there. Nothing is changed and no model is
asked."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck doctor",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck doctor", "look at everything"),
            ("quarterdeck doctor --start", "and really start the CLI, say hello to it, and end it"),
            ("quarterdeck doctor --cli ~/old/claude", "another CLI than the one that is found"),
            ("quarterdeck doctor --json | jq '.findings[] | select(.level != \"ok\")'", "for machines"),
        ],
        exits={OK: "no problem; there may be warnings", FAILED: "at least one problem", 2: "the command line is wrong"},
    )
    built.add_argument("--cli", metavar="FILE", help="the claude to look at; sim is the simulator")
    built.add_argument("--start", action="store_true", help="start it, make the handshake and end it (within a minute)")
    built.add_argument("--json", action="store_true", help="write JSON")
    built.add_argument("--quiet", "-q", action="store_true", help="only warnings and problems")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .examine import examine
    from .report import as_json, lines

    findings = examine(given.cli, start=given.start, env=os.environ)
    if given.json:
        print(json.dumps(as_json(findings), indent=2))
    else:
        print("\n".join(lines(findings, Look.of(sys.stdout), quiet=given.quiet)))
    return FAILED if any(finding.level == "problem" for finding in findings) else OK
