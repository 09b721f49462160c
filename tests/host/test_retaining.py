"""What a host forgets, and what it never does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from host.kit import ASKS, Place, all_frames, decide, frames_until, next_turn, pending
from quarterdeck.host import session_log
from quarterdeck.host.events import Gap
from quarterdeck.host.requests import OfSession, Wait, WatchSession
from quarterdeck.store.queries import ApprovalQuery, Retained, Retention

YEAR_S = 365 * 86_400.0


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(session_log, "SNAPSHOT_ROWS", 3)  # only what a snapshot covers may go
    return Place(tmp_path, keeper=False)


async def test_old_rows_go_and_whoever_reads_from_the_start_is_told_of_the_gap(place: Place) -> None:
    place.claude.play(["One. " * 400], ["Two."])
    now = [time.time()]
    async with place.opened(clock=lambda: now[0]) as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        before = await host.get_timeline(OfSession(session_id=session.id))
        assert (await host.retain()).rows == 0
        now[0] += YEAR_S
        assert (await host.retain()).rows > 0
        first = (await all_frames(host, session.id))[0]
        assert isinstance(first.events[0], Gap)
        assert first.events[0].reason == "retention"
        async for frame in host.watch_session(WatchSession(session_id=session.id, after="0", previews=False)):
            assert isinstance(frame.events[0], Gap)
            break
        assert (await host.get_timeline(OfSession(session_id=session.id))).state == before.state
        await next_turn(host, session.id)


async def test_rows_that_an_open_approval_needs_stay(place: Place) -> None:
    place.claude.play([ASKS, "Made."])
    now = [time.time()]
    async with place.opened(clock=lambda: now[0]) as host:
        session = await place.created(host)
        (asked,) = await pending(host)
        now[0] += YEAR_S
        await host.retain()
        head = await host.store.head(session.id)
        (open_approval,) = (await host.store.approvals(ApprovalQuery(session=session.id))).approvals
        assert head is not None
        assert head.first_seq <= open_approval.seq
        await decide(host, asked)
        assert (await host.wait(Wait(session_id=session.id))).state == "idle"


async def test_a_host_that_keeps_everything_removes_nothing(place: Place) -> None:
    place.claude.play(["One."])
    now = [time.time()]
    async with place.opened(clock=lambda: now[0], retention=None) as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        now[0] += YEAR_S
        assert await host.retain() == Retained()


async def test_a_log_that_is_too_large_loses_its_oldest_rows(place: Place) -> None:
    place.claude.play(["One. " * 2_000], ["Two."])
    async with place.opened(retention=Retention(row_bytes=1_000)) as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        await next_turn(host, session.id)
        assert (await host.retain()).rows > 0
        head = await host.store.head(session.id)
        assert head is not None
        assert 1 < head.first_seq <= head.last_seq
