"""How a version compares with those that were measured.

``docs/compatibility.json`` is not in the wheel, so what the doctor needs of it is kept beside this module. After
``make conformance``, this brings it up to date::

    python -m quarterdeck.cli.doctor.compatibility docs/compatibility.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from quarterdeck.client.launch_versions import UNKNOWN_FLAGS
from quarterdeck.wire.versions import Version, parse_version

from .finding import Finding

SUMMARY = Path(__file__).with_name("compatibility.json")
UPDATE = "claude update, or install the newest anew"
SIMULATOR = "simulator"
OLDEST: Version = (2, 0, 77)
"""The oldest that our own tests start."""


def summary(report: dict[str, Any]) -> dict[str, Any]:
    """Of the whole report: for each CLI how many scenarios pass, and what it does otherwise."""
    versions: dict[str, dict[str, Any]] = {}
    for scenario in report["scenarios"]:
        for name, outcome in scenario["outcomes"].items():
            counts = versions.setdefault(name, {"scenarios": 0, "pass": 0, "differs": [], "not there": []})
            counts["scenarios"] += 1
            if outcome["status"] == "pass":
                counts["pass"] += 1
            else:
                counts["differs" if outcome["status"] == "differs" else "not there"].append(scenario["title"])
    return {"newest": report["newest"], "versions": versions}


def simulator(known: dict[str, Any] | None = None) -> Finding:
    """The simulator takes part in the measurements, too."""
    row = (known or json.loads(SUMMARY.read_text(encoding="utf-8")))["versions"][SIMULATOR]
    what = f"{row['pass']} of {row['scenarios']} measured behaviours are as on the real CLI it plays"
    return _finding("ok", what, "", SIMULATOR, SIMULATOR, {"not_there": row["not there"]})


def compare(version: str, known: dict[str, Any] | None = None) -> Finding:
    measured = known or json.loads(SUMMARY.read_text(encoding="utf-8"))
    own = parse_version(version) or (0, 0, 0)
    by_version = {found: name for name in measured["versions"] if (found := parse_version(name)) is not None}
    newest = parse_version(measured["newest"]) or (0, 0, 0)
    if own > newest:
        what = (
            f"newer than {measured['newest']}, the newest that was measured; what is new in it passes through untouched"
        )
        return _finding("warning", what, "update quarterdeck if something looks wrong", version, None, {})
    nearest = max((one for one in by_version if one <= own), default=None)
    missing = sorted(flag for flag, last in UNKNOWN_FLAGS.items() if own <= last)
    if nearest is None:
        oldest = "" if own >= OLDEST else f", and older than {'.'.join(map(str, OLDEST))}, the oldest that is tested"
        what = f"older than the versions whose behaviour was measured{oldest}; {len(missing)} options are missing in it"
        return _finding("warning", what, UPDATE, version, None, {"missing_flags": missing})
    row = measured["versions"][by_version[nearest]]
    like = "" if nearest == own else f" on {by_version[nearest]}, the nearest that was measured"
    what = f"{row['pass']} of {row['scenarios']} measured behaviours are as on {measured['newest']}{like}"
    details = {"differs": row["differs"], "not_there": row["not there"], "missing_flags": missing}
    if row["pass"] == row["scenarios"]:
        return _finding("ok", what, "", version, by_version[nearest], details)
    what += f"; {len(row['not there'])} are missing, {len(row['differs'])} differ (--json lists them)"
    return _finding("warning", what, UPDATE, version, by_version[nearest], details)


def _finding(level: Any, what: str, do: str, version: str, like: str | None, details: dict[str, Any]) -> Finding:
    known = {"version": version, "measured": like, **details}
    return Finding("Claude Code", "cli-compatibility", level, what, do, known)


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    SUMMARY.write_text(json.dumps(summary(found), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
