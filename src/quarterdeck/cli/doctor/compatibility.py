"""How a version of the CLI compares with the tested ones.

``docs/compatibility.json`` is not in the wheel, so a summary of it is kept beside this module. Update it after
``make conformance``::

    python -m quarterdeck.cli.doctor.compatibility docs/compatibility.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from quarterdeck.client.launch_versions import UNKNOWN_FLAGS
from quarterdeck.wire.versions import parse_version

from .findings import DoctorFinding

SUMMARY = Path(__file__).with_name("compatibility.json")
UPDATE = "Update the CLI: claude update"
SIMULATOR = "simulator"


def summary(report: dict[str, Any]) -> dict[str, Any]:
    """For each CLI of the report: how many scenarios pass, and which do not."""
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


def simulator(known: dict[str, Any] | None = None) -> DoctorFinding:
    """The simulator is tested like a CLI."""
    row = (known or json.loads(SUMMARY.read_text(encoding="utf-8")))["versions"][SIMULATOR]
    what = f"Matches the real CLI in {row['pass']} of {row['scenarios']} behaviours."
    return _finding("ok", what, "", SIMULATOR, SIMULATOR, {"not_there": row["not there"]})


def compare(version: str, known: dict[str, Any] | None = None) -> DoctorFinding:
    measured = known or json.loads(SUMMARY.read_text(encoding="utf-8"))
    own = parse_version(version) or (0, 0, 0)
    by_version = {found: name for name in measured["versions"] if (found := parse_version(name)) is not None}
    newest = parse_version(measured["newest"]) or (0, 0, 0)
    if own > newest:
        what = (
            f"{version} is newer than {measured['newest']}, the newest tested version. Unknown messages pass through."
        )
        return _finding("warning", what, "Update quarterdeck if something looks wrong.", version, None, {})
    nearest = max((one for one in by_version if one <= own), default=None)
    missing = sorted(flag for flag, last in UNKNOWN_FLAGS.items() if own <= last)
    if nearest is None:
        oldest = by_version[min(by_version)]
        what = f"{version} is older than {oldest}, the oldest tested version. It lacks {len(missing)} options."
        return _finding("warning", what, UPDATE, version, None, {"missing_flags": missing})
    row = measured["versions"][by_version[nearest]]
    tested = by_version[nearest]
    matches = f"matches {row['pass']} of {row['scenarios']} behaviours"
    what = f"{version} {matches} of {measured['newest']}."
    if nearest != own:
        what = f"{version} is untested. The nearest tested version, {tested}, {matches}."
    details = {"differs": row["differs"], "not_there": row["not there"], "missing_flags": missing}
    if row["pass"] == row["scenarios"]:
        return _finding("ok", what, "", version, tested, details)
    what += f" {len(row['not there'])} are missing, {len(row['differs'])} differ (see --json)."
    return _finding("warning", what, UPDATE, version, tested, details)


def _finding(level: Any, what: str, do: str, version: str, like: str | None, details: dict[str, Any]) -> DoctorFinding:
    known = {"version": version, "measured": like, **details}
    return DoctorFinding("Claude Code", "cli-compatibility", level, what, do, known)


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    SUMMARY.write_text(json.dumps(summary(found), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
