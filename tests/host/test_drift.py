"""What Claude Code says that this version does not know is kept raw, told once per kind, and counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from host.kit import Place, all_frames, frames_until, next_turn, told
from looping import for_each
from quarterdeck.host import Host
from quarterdeck.host.drift import FIRST, Drift
from quarterdeck.host.events import DriftNoticed, RawLine
from quarterdeck.host.requests import Nothing, ReadEvents
from quarterdeck.wire import decode

ODD_CLI = Path(__file__).parent / "odd_cli.py"
NEWS = {"type": "novelty", "what": 1}
SYSTEM = {"type": "system", "subtype": "novelty", "session_id": "s", "uuid": "u"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def names(events: list[DriftNoticed]) -> list[tuple[str, str]]:
    return [(event.what, event.name) for event in events]


async def counts(host: Host) -> Any:
    return (await host.get_metrics(Nothing())).details["drift"]


async def test_an_unknown_message_is_kept_raw_told_once_and_counted_also_after_a_restart(place: Place) -> None:
    place.claude.play([{"emit": NEWS}, {"emit": SYSTEM}, "One."], [{"emit": NEWS}, "Two."], [{"emit": NEWS}, "Three."])
    async with place.opened() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        await next_turn(host, session.id)
        noticed = told(await all_frames(host, session.id), DriftNoticed)
        assert names(noticed) == [("message", "novelty"), ("subtype", "system/novelty")]
        raw = told((await host.read_events(ReadEvents(session_id=session.id, view="raw"))).frames, RawLine)
        kept = [one for line in raw if (one := json.loads(line.line))["type"] == "novelty"]
        assert [{name: one[name] for name in NEWS} for one in kept] == [NEWS, NEWS]
        assert await counts(host) == {"message novelty": 2, "subtype system/novelty": 1}
    async with place.opened() as host:
        assert told(await next_turn(host, session.id), DriftNoticed) == []


async def test_a_version_and_a_field_never_seen_are_told_once_and_stay_in_the_line(place: Place) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "Hi.", "mood": "good"}], "model": "m"}
    line = {"type": "assistant", "message": said, "novel": {"a": 1}}
    odd = {"init": {"claude_code_version": "9.9.9"}, "lines": [line]}
    news = [("version", "9.9.9"), ("field", "assistant.message.content[].mood"), ("field", "assistant.novel")]
    agents = {"claude": [sys.executable, str(ODD_CLI), json.dumps(odd)]}
    async with place.opened(agents=agents) as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        await next_turn(host, session.id)
        noticed = told(await all_frames(host, session.id), DriftNoticed)
        assert sorted(names(noticed)) == sorted(news)
        raw = told((await host.read_events(ReadEvents(session_id=session.id, view="raw"))).frames, RawLine)
        kept = [one for one in map(json.loads, (line.line for line in raw)) if one["type"] == "assistant"]
        assert [(one["novel"], one["message"]["content"][0]["mood"]) for one in kept] == [({"a": 1}, "good")] * 2
        assert await counts(host) == {f"{what} {name}": 2 for what, name in news}
    async with place.opened(agents=agents) as host:
        assert told(await next_turn(host, session.id), DriftNoticed) == []
        another = await place.created(host)
        assert told(await frames_until(host, another.id, "idle"), DriftNoticed) == []


ODD = [
    ("message", "novelty", NEWS),
    ("subtype", "system/novelty", SYSTEM),
    ("field", "keep_alive.why", {"type": "keep_alive", "why": "x"}),
    ("request", "novelty", {"type": "control_request", "request_id": "1", "request": {"subtype": "novelty"}}),
    ("field", "user.message.extra", {"type": "user", "message": {"role": "user", "content": "x", "extra": 1}}),
]


@for_each(("what", "name", "line"), ODD, ids=[name for _, name, _ in ODD])
def test_each_kind_of_news_is_named(what: str, name: str, line: dict[str, Any]) -> None:
    drift = Drift()
    (event,) = drift.look(decode(json.dumps(line).encode()), 1.0, "9.9.9")
    assert (event.what, event.name, event.cli_version) == (what, name, "9.9.9")
    assert drift.look(decode(json.dumps(line).encode()), 1.0, "9.9.9") == []
    assert list(drift.counts.values()) == [2]


def test_what_is_known_is_no_news_and_most_lines_are_not_compared_key_by_key() -> None:
    drift = Drift()
    known, odd = decode(b'{"type":"keep_alive"}'), decode(b'{"type":"keep_alive","why":"x"}')
    assert [drift.look(known, 1.0, None) for _ in range(FIRST)] == [[]] * FIRST
    assert drift.look(odd, 1.0, None) == []
    assert len(drift.look(odd, 1.0, "another version")) == 1


def test_a_version_that_was_never_tried_is_told_once() -> None:
    drift = Drift()
    assert drift.version("2.1.325", 1.0) == []
    assert names(drift.version("9.9.9", 1.0)) == [("version", "9.9.9")]
    assert drift.version("9.9.9", 1.0) == []
