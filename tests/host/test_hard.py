"""What a host must survive: watchers that never read, folders and transcripts that are gone."""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from chaos.kit import PRELUDE
from host.kit import Place, all_frames, frames_until, kill, told
from inside import in_memory, recent_frames
from quarterdeck.host import HostError
from quarterdeck.host.events import RawLine
from quarterdeck.host.fanout import RECENT
from quarterdeck.host.requests import AddEvent, OfSession, ReadEvents, SendPrompt, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.timeline.events import BadLineSeen

LONGEST = 64 * 1024 * 1024
SAYS_MUCH = (
    PRELUDE
    + f"""
def line_of(size):
    frame = len('{{"type":"big","x":""}}')
    write(b'{{"type":"big","x":"'), write(b"x" * (size - frame)), write(b'"}}\\n')

for prompt in prompts():
    init()
    line_of({LONGEST})
    line_of({LONGEST} + 1)
    result()
"""
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=True)


async def test_a_watcher_that_never_reads_holds_up_nobody_and_misses_nothing(place: Place) -> None:
    place.claude.play(["Hello."])
    async with place.opened() as host:
        session = await place.created(host)
        async with aclosing(host.watch_session(WatchSession(session_id=session.id, previews=False))) as stream:
            seen = [await anext(stream)]
            event = AddEvent(session_id=session.id, type="ci", data={})
            await asyncio.gather(*(host.add_event(event) for _ in range(RECENT + 100)))
            fanout = in_memory(host)[session.id].log.fanout
            assert recent_frames(fanout) <= RECENT
            while seen[-1].seq < fanout.last_seq:
                seen.append(await anext(stream))
        assert all(isinstance(one, Frame) for one in seen)
        assert [one.seq for one in seen] == list(range(1, len(seen) + 1))


@pytest.mark.parametrize("keeper", [True, False])
async def test_the_longest_line_is_kept_whole_and_a_longer_one_is_told(tmp_path: Path, keeper: bool) -> None:
    place = Place(tmp_path, keeper=keeper)
    script = tmp_path / "says_much.py"
    script.write_text(SAYS_MUCH)
    async with place.opened(agents={"claude": [sys.executable, str(script)]}) as host:
        session = await place.created(host)
        live = await frames_until(host, session.id, "idle")
        assert [seen.size for seen in told(live, BadLineSeen)] == [LONGEST + 1]
        assert (await all_frames(host, session.id))[: len(live)] == live
        read = ReadEvents(session_id=session.id, view="raw")
        sizes = [len(event.line) for event in told((await host.read_events(read)).frames, RawLine)]
        assert LONGEST in sizes
        assert max(sizes) == LONGEST
    async with place.opened() as host:  # and from the rows alone
        assert (await all_frames(host, session.id))[: len(live)] == live


async def test_a_folder_that_is_gone_at_resume_is_said_and_the_session_waits_for_it(place: Place) -> None:
    place.claude.play(["Hello."], ["Again."])
    async with place.opened() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        await host.stop(OfSession(session_id=session.id))
        moved = place.cwd.with_name("moved")
        place.cwd.rename(moved)
        with pytest.raises(HostError, match=r"There is no folder .*Put it back") as gone:
            await host.resume(OfSession(session_id=session.id))
        assert gone.value.code == "invalid"
        assert (await host.get_session(OfSession(session_id=session.id))).state == "stopped"
        moved.rename(place.cwd)
        assert (await host.resume(OfSession(session_id=session.id))).state == "idle"


async def test_a_session_whose_process_died_before_it_wrote_a_transcript_begins_anew(place: Place) -> None:
    place.claude.play(["Hello."], delay_s=60.0)
    async with place.opened() as host:
        session = await place.created(host)
        while (await host.get_session(OfSession(session_id=session.id))).transcript_id is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await kill(host, session)
        await frames_until(host, session.id, "crashed")
        transcripts = Path(place.claude.env["HOME"]) / ".claude" / "projects"
        shutil.rmtree(transcripts, ignore_errors=True)
        place.claude.play(["Hello again."])
        assert (await host.resume(OfSession(session_id=session.id))).state == "idle"
        await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
        while "Hello again." not in repr(await all_frames(host, session.id)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_transcript_that_is_gone_at_resume_is_said_with_what_can_be_done(place: Place) -> None:
    place.claude.play(["Hello."])
    async with place.opened() as host:
        session = await place.created(host)
        frames = await frames_until(host, session.id, "idle")
        await host.stop(OfSession(session_id=session.id))
        home = Path(place.claude.env["HOME"])
        transcripts = home / ".claude" / "projects"
        transcripts.rename(home / "elsewhere")
        with pytest.raises(HostError, match="No conversation found") as gone:
            await host.resume(OfSession(session_id=session.id))
        assert gone.value.code == "cli_failed"
        now = await host.get_session(OfSession(session_id=session.id))
        assert now.state == "crashed"
        assert "No conversation found" in now.state_reason
        assert gone.value.hint in now.state_reason
        assert "put it back, or start a new session" in gone.value.hint
        assert (await all_frames(host, session.id))[: len(frames)] == frames
        if transcripts.exists():
            shutil.rmtree(transcripts)  # the attempt has made a new one
        (home / "elsewhere").rename(transcripts)
        assert (await host.resume(OfSession(session_id=session.id))).state == "idle"
