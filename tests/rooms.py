"""The time each room's tests took, shown at the end of a run beside the budget in CONTRIBUTING.md.

Shown, not asserted: a busy machine must not fail a test.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import soak

ROOT = Path(__file__).parent
BUDGET = re.compile(r"^\| `tests/([\w.*]+)` \| ([\d.]+) \|", re.MULTILINE)


def budget_s() -> dict[str, float]:
    """Seconds for each room, two workers at work."""
    return {
        room: 60 * float(minutes) for room, minutes in BUDGET.findall((ROOT.parent / "CONTRIBUTING.md").read_text())
    }


def room_of(path: Path) -> str:
    """The folder below ``tests``; files beside the folders are a room of their own."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else "*.py"


class RoomTimes:
    """A pytest plugin: adds up the reports of all workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._spent_s: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._spent_s[room_of(self._config.rootpath / report.location[0])] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if soak.ON:
            terminalreporter.line(f"QUARTERDECK_SEED={soak.SEED} repeats this run")
        if len(self._spent_s) < 2:
            return
        workers = self._config.getoption("numprocesses", None) or 1
        budget = budget_s()
        terminalreporter.section(f"minutes per room ({workers} at once; budget for two)")
        for room, spent_s in sorted(self._spent_s.items(), key=lambda item: -item[1]):
            minutes = f"{spent_s / workers / 60:6.2f}"
            allowed = f" of {budget[room] / 60:g}" if room in budget else ""
            terminalreporter.line(f"{minutes}{allowed:8} {room}")
        total = sum(self._spent_s.values()) / workers / 60
        terminalreporter.line(f"{total:6.2f} of {sum(budget.values()) / 60:g}  all")
