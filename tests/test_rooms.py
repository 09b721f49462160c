"""The budget of minutes in CONTRIBUTING.md: every room has one, and ``make test`` stays within half an hour."""

from __future__ import annotations

import re
from pathlib import Path

from rooms import budget_s, room_of

TESTS = Path(__file__).parent
CONTRIBUTING = TESTS.parent / "CONTRIBUTING.md"
WHOLE_MINUTES = 30


def test_every_room_has_a_budget() -> None:
    rooms = {room_of(path) for path in TESTS.rglob("test_*.py")}
    assert set(budget_s()) == rooms


def test_the_budget_is_half_an_hour() -> None:
    text = CONTRIBUTING.read_text()
    table = text[text.index("| what | minutes |") :].partition("\n\n")[0]
    minutes = [float(number) for number in re.findall(r"\| ([\d.]+) \|$", table, re.MULTILINE)]
    assert len(minutes) == len(budget_s()) + 2  # the rooms, lint, and the other Pythons
    assert sum(minutes) <= WHOLE_MINUTES
    assert f"`make test` may take {WHOLE_MINUTES} minutes" in text
