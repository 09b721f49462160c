"""``make coverage``: run the tests with coverage, subprocesses included; a table per room and a page for each file.

Arguments are handed on to pytest: ``python tests/coverage_report.py tests/wire -n 2`` looks at one room.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "quarterdeck"
FOLDER = ROOT / "build" / "coverage"


def coverage(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "coverage", *words], cwd=ROOT, check=False).returncode


def per_room(report: Path) -> str:
    """Statements, how many were reached, and the share, for each room of the package."""
    statements: defaultdict[str, int] = defaultdict(int)
    reached: defaultdict[str, int] = defaultdict(int)
    for name, file in json.loads(report.read_text())["files"].items():
        parts = (ROOT / name).relative_to(PACKAGE).parts
        for room in (parts[0] if len(parts) > 1 else ".", "all"):
            statements[room] += file["summary"]["num_statements"]
            reached[room] += file["summary"]["covered_lines"]
    lines = [f"{'room':12}{'statements':>12}{'reached':>10}{'share':>8}"]
    for room in sorted(statements, key=lambda room: (room == "all", room)):
        share = reached[room] / max(statements[room], 1)
        lines.append(f"{room:12}{statements[room]:12,}{reached[room]:10,}{share:8.1%}")
    return "\n".join(lines)


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    coverage("erase")
    code = coverage("run", "-m", "pytest", *(sys.argv[1:] or ["-n", "auto"]))
    report = FOLDER / "coverage.json"
    for words in (["combine", "--quiet"], ["json", "--quiet", "-o", str(report)], ["html", "--quiet"]):
        if failed := coverage(*words):
            return failed
    print(per_room(report))
    print(f"\nline by line: {FOLDER / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
