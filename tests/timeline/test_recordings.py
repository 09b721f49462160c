"""The timeline of every recorded conversation is the one that was reviewed."""

from __future__ import annotations

from functools import cache

import pytest

from conversations import Recording, all_recordings
from quarterdeck.client.cost import CostLedger
from quarterdeck.timeline import Event, fold
from quarterdeck.timeline.events import TextAdded, TextCompleted, ThinkingAdded, ThinkingCompleted, ToolEnded, TurnEnded
from quarterdeck.wire import ResultMessage, decode

from .rendering import SNAPSHOTS, render, timeline_of

VERSIONS = sorted(path.stem for path in SNAPSHOTS.glob("*.txt"))
SIZE_LIMIT_BYTES = 1_500_000


@cache
def told() -> list[tuple[Recording, list[Event]]]:
    """Every recording with its timeline."""
    return [(recording, timeline_of(recording)) for recording in all_recordings()]


def reviewed(version: str) -> dict[str, str]:
    """Scenario → text."""
    parts = (SNAPSHOTS / f"{version}.txt").read_text().split("## ")[1:]
    return {name: text.rstrip("\n") for name, _, text in (part.partition("\n") for part in parts)}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_timelines_are_as_reviewed(version: str) -> None:
    """If one has changed: ``PYTHONPATH=tests python -m timeline.rendering``, and read what ``git diff`` says."""
    known = reviewed(version)
    for recording, events in told():
        if recording.header.cli == version:
            assert render(events).rstrip("\n") == known.pop(recording.header.scenario), recording.id
    assert known == {}


def test_every_version_has_its_snapshots_and_they_stay_readable() -> None:
    assert {recording.header.cli for recording, _ in told()} == set(VERSIONS)
    assert sum(path.stat().st_size for path in SNAPSHOTS.iterdir()) < SIZE_LIMIT_BYTES


def _pieces(events: list[Event]) -> dict[str, str]:
    """Block → what a face has printed of it."""
    said: dict[str, str] = {}
    for event in events:
        if isinstance(event, TextAdded | ThinkingAdded):
            said[event.id] = said.get(event.id, "") + event.text
        elif isinstance(event, TextCompleted | ThinkingCompleted):
            said[event.id] = said.get(event.id, "") + event.rest
    return said


def test_in_every_recording_each_block_is_told_once_and_whole() -> None:
    for recording, events in told():
        done = [event for event in events if isinstance(event, TextCompleted | ThinkingCompleted)]
        assert len({event.id for event in done}) == len(done), recording.id
        assert _pieces(events) == {event.id: event.text for event in done}, recording.id


def test_in_every_recording_each_call_ends_once() -> None:
    for recording, events in told():
        ended = [event.id for event in events if isinstance(event, ToolEnded)]
        assert len(set(ended)) == len(ended), recording.id


def test_in_every_recording_the_turns_add_up_to_the_total() -> None:
    for recording, events in told():
        turns = [event.turn for event in events if isinstance(event, TurnEnded)]
        for turn in turns[-1:]:
            assert sum(turn.cost_usd for turn in turns) == pytest.approx(turn.total_usd), recording.id


def test_in_every_recording_the_cost_is_what_the_clients_ledger_says() -> None:
    for recording, _ in told():
        ledger = CostLedger()
        results = [line for line in map(decode, recording.lines("out")) if isinstance(line, ResultMessage)]
        for result in results:
            ledger.add(result)
        timeline, _ = fold((0.0, "out", line) for line in recording.lines("out"))
        cost = timeline.state.cost
        assert cost.total_usd == pytest.approx(ledger.total_usd), recording.id
        assert cost.reported_usd == ledger.reported_usd, recording.id
        by_model = {model: used.cost_usd for model, used in ledger.by_model.items()}
        assert {model: used.cost_usd for model, used in cost.by_model.items()} == pytest.approx(by_model), recording.id
