"""Parked sessions: their transcripts are copied first, what happens to them is noticed, and they cost nothing."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from host.kit import Clock, Place, next_turn, told
from inside import in_memory, worked_on
from quarterdeck.host import Host, HostError, tending
from quarterdeck.host.events import TranscriptNoticed
from quarterdeck.host.requests import Lifecycle, OfSession, SendPrompt, Wait
from quarterdeck.host.resources import Session
from quarterdeck.host.tending import UNLOAD_S

PARKS = Lifecycle(park_s=50.0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path, keeper=False)
    place.claude.play(*[["Said."]] * 5)
    return place


def of(session: Session) -> OfSession:
    return OfSession(session_id=session.id)


async def parked(place: Place, host: Host, clock: Clock) -> tuple[Session, Path]:
    """A session that was parked, and its transcript."""
    session = await place.created(host, lifecycle=PARKS)
    await host.wait(Wait(session_id=session.id))
    while (now := await host.get_session(of(session))).state != "parked":
        clock.now += 1.0
        await asyncio.sleep(0.01)
    while worked_on(host):  # noqa: ASYNC110  # what the process wrote in the end is copied, too
        await asyncio.sleep(0.01)
    (path,) = await asyncio.to_thread(list, place.cwd.parent.rglob(f"{now.transcript_id}.jsonl"))
    return now, path


async def test_the_transcript_is_copied_first_and_brought_back_when_it_is_gone(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session, path = await parked(place, host, clock)
        copy = place.folder / "transcripts" / session.id / path.name
        assert copy.read_bytes() == path.read_bytes()
        assert copy.stat().st_mode & 0o077 == 0
        path.unlink()
        frames = await next_turn(host, session.id, "and now?")
        (noticed,) = told(frames, TranscriptNoticed)
        assert (noticed.what, noticed.transcript_id) == ("restored", session.transcript_id)
        records = [json.loads(line) for line in path.read_text().splitlines()]
        assert any("go" in json.dumps(one) for one in records)
        await host.delete_session(of(session))
        assert not copy.exists()


async def test_a_session_that_a_terminal_has_continued_says_so(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session, path = await parked(place, host, clock)
        last = path.read_text().splitlines()[-1]
        with path.open("a") as file:
            file.write(f"{last}\n{last}\n")
        (noticed,) = told(await next_turn(host, session.id), TranscriptNoticed)
        assert (noticed.what, noticed.records) == ("continued", 2)
        assert not told(await next_turn(host, session.id), TranscriptNoticed)  # once


async def test_a_session_that_a_terminal_has_now_is_not_started(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session, _ = await parked(place, host, clock)
        program = place.cwd / "claude"
        program.write_text("import sys; print('here', flush=True); sys.stdin.read()")
        terminal = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, str(program), "--resume", str(session.transcript_id)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert terminal.stdin is not None
        assert terminal.stdout is not None
        await asyncio.to_thread(terminal.stdout.readline)
        with pytest.raises(HostError, match="is using this conversation") as refused:
            await host.send_prompt(SendPrompt(session_id=session.id, content="hello?"))
        assert refused.value.details["pid"] == terminal.pid
        terminal.stdin.close()
        await asyncio.to_thread(terminal.wait)
        terminal.stdout.close()
        await next_turn(host, session.id)


async def test_a_session_whose_transcript_cannot_be_copied_keeps_its_process(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host, lifecycle=PARKS)
        await host.wait(Wait(session_id=session.id))
        (place.folder / "transcripts").write_text("in the way")
        clock.now += 100
        with pytest.raises(HostError) as refused:
            await in_memory(host)[session.id].park()
        assert refused.value.code == "storage"
        assert (await host.get_session(of(session))).state == "idle"


async def test_what_nobody_needs_leaves_the_memory_and_is_there_when_it_is_asked_for(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session, _ = await parked(place, host, clock)
        host.tend()
        assert session.id in in_memory(host)  # somebody has just asked for it
        in_memory(host)[session.id].touched -= UNLOAD_S
        host.tend()
        while session.id in in_memory(host):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        before = await host.get_session(of(session))
        assert (before.state, before.seq >= session.seq) == ("parked", True)
        frames = await next_turn(host, session.id)
        assert frames[0].seq > before.seq


async def test_a_session_that_is_watched_stays_in_memory(place: Place) -> None:
    from quarterdeck.host.requests import WatchSession

    clock = Clock()
    async with place.opened(clock=clock) as host:
        session, _ = await parked(place, host, clock)
        watching = host.watch_session(WatchSession(session_id=session.id, previews=False))
        await anext(watching)
        in_memory(host)[session.id].touched -= UNLOAD_S
        host.tend()
        assert not worked_on(host)
        await watching.aclose()


async def test_the_memory_of_sessions_that_have_left_is_collected_when_nobody_works(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr(tending, "give_back", lambda: given_back.append(True))
    monkeypatch.setattr(tending, "LEFT_TOGETHER", 2)  # it is parked, and leaves memory
    clock = Clock()
    async with place.opened(clock=clock) as host:
        gc.disable()
        try:
            session, _ = await parked(place, host, clock)
            left = weakref.ref(in_memory(host)[session.id].log)
            in_memory(host)[session.id].touched -= UNLOAD_S
            while left() is not None:  # noqa: ASYNC110  # the host looks by itself
                await asyncio.sleep(0.01)
        finally:
            gc.enable()
        assert given_back
        assert (await host.get_session(of(session))).state == "parked"
