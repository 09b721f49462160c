"""What a host must survive: watchers that never read, folders and transcripts that are gone."""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from chaos.kit import PRELUDE
from host.kit import ASKS, LIMIT_S, Place, all_frames, decide, frames_until, kill, next_turn, pending, states_of, told
from host.staged import BOTH, host_over, stage_in
from inside import in_memory, recent_frames
from quarterdeck.host import HostError, Warm
from quarterdeck.host.events import RawLine
from quarterdeck.host.fanout import RECENT
from quarterdeck.host.requests import AddEvent, CreateSession, OfSession, ReadEvents, SendPrompt, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.timeline.events import BadLineSeen, TurnEnded

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


async def test_while_a_watcher_does_not_read_turns_end_and_others_see_all_of_them(place: Place) -> None:
    place.claude.play(*([ASKS, "Done."] for _ in range(3)))
    async with place.opened() as host:
        session = await place.created(host, None)
        request = WatchSession(session_id=session.id)
        async with aclosing(host.watch_session(request)) as still, aclosing(host.watch_session(request)) as reading:
            seen = [await anext(still)]
            for number in range(1, 4):
                await host.send_prompt(SendPrompt(session_id=session.id, content=f"go {number}"))
                (approval,) = await pending(host, session.id)
                await decide(host, approval)
                read: list[Frame] = []
                async for one in reading:
                    read += [one] if isinstance(one, Frame) else []
                    if told(read, TurnEnded):
                        break
                assert states_of(read) == ["pending", "decided", "delivered", "applied"]
            while len(told(seen_frames := [one for one in seen if isinstance(one, Frame)], TurnEnded)) < 3:
                seen.append(await anext(still))
        assert seen_frames == (await all_frames(host, session.id))[: len(seen_frames)]


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


@pytest.mark.parametrize("kind", BOTH)
async def test_a_folder_that_is_gone_at_resume_is_said_and_the_session_waits_for_it(tmp_path: Path, kind: str) -> None:
    with stage_in(tmp_path / "stage", kind) as stage:
        stage.reply("Hello.")
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="go"))
            await frames_until(host, session.id, "idle")
            await host.stop(OfSession(session_id=session.id))
            moved = stage.cwd.with_name("moved")
            stage.cwd.rename(moved)
            with pytest.raises(HostError, match=r"There is no folder .*Put it back") as gone:
                await host.resume(OfSession(session_id=session.id))
            assert gone.value.code == "invalid"
            assert (await host.get_session(OfSession(session_id=session.id))).state == "stopped"
            moved.rename(stage.cwd)
            stage.reply("Again.")
            assert "Again." in repr(await next_turn(host, session.id))
            await host.stop(OfSession(session_id=session.id))


@pytest.mark.parametrize("is_warm", [False, True], ids=["cold", "warm"])
async def test_a_session_whose_process_died_before_it_wrote_a_transcript_begins_anew(
    place: Place, is_warm: bool
) -> None:
    place.claude.play(["Hello."], delay_s=60.0)
    like = CreateSession(cwd=str(place.cwd))
    async with place.opened(warm=[Warm(like=like)] if is_warm else []) as host:
        session = await place.created(host)
        while (await host.get_session(OfSession(session_id=session.id))).transcript_id is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        lost = SendPrompt(session_id=session.id, content="and this", priority="next")
        prompt_id = (await host.send_prompt(lost)).prompt_id
        place.claude.play(["Hello again."])
        await kill(host, session)
        await frames_until(host, session.id, "crashed")
        waiting = (await host.list_prompts(OfSession(session_id=session.id))).prompts
        assert [(one.id, one.state) for one in waiting] == [(prompt_id, "uncertain")]
        transcripts = Path(place.claude.env["HOME"]) / ".claude" / "projects"
        shutil.rmtree(transcripts, ignore_errors=True)
        await host.resume(OfSession(session_id=session.id))
        while (await host.list_prompts(OfSession(session_id=session.id))).prompts:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if not is_warm:  # a warm process was started before, with the first script
            while "Hello again." not in repr(await all_frames(host, session.id)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("kind", BOTH)
async def test_a_transcript_that_is_gone_at_resume_is_said_with_what_can_be_done(tmp_path: Path, kind: str) -> None:
    with stage_in(tmp_path / "stage", kind) as stage:
        stage.reply("Hello.")
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False) as host:
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="go"))
            frames = await frames_until(host, session.id, "idle")
            await host.stop(OfSession(session_id=session.id))
            transcripts = stage.home / ".claude" / "projects"
            transcripts.rename(stage.home / "elsewhere")
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
            (stage.home / "elsewhere").rename(transcripts)
            stage.reply("Again.")
            assert "Again." in repr(await next_turn(host, session.id))
            await host.stop(OfSession(session_id=session.id))
