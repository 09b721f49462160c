"""Processes that are ready before a session needs them: given only to sessions that ask for exactly the same."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, Place, all_frames, decide, frames_until, pending, states_of, told
from host.staged import BOTH, host_over, stage_in
from inside import warm_places
from looping import for_each
from quarterdeck.host import Host, HostError, Warm
from quarterdeck.host.events import ProcessChanged
from quarterdeck.host.limits import Limits
from quarterdeck.host.requests import (
    Callbacks,
    CreateSession,
    HookCallback,
    ListSessions,
    Nothing,
    OfSession,
    SendPrompt,
)
from quarterdeck.host.resources import Session
from quarterdeck.keeper import KeeperClient


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def like(place: Place, **more: Any) -> CreateSession:
    return CreateSession(cwd=str(place.cwd), **more)


async def warm(host: Host, count: int = 1) -> list[int]:
    """The ids of the processes that wait, once there are so many."""
    while (await host.get_metrics(Nothing())).details["processes_warm"] != count:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return [one.wire.pid for place in warm_places(host) for one in place.ready]


async def pids(host: Host, session: Session) -> list[int | None]:
    frames = await all_frames(host, session.id)
    return [event.pid for event in told(frames, ProcessChanged) if event.state == "running"]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return b"zombie" not in Path(f"/proc/{pid}/status").read_bytes() if Path("/proc").exists() else True


async def gone(pid: int) -> None:
    while is_alive(pid):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("kind", BOTH)
async def test_a_session_gets_a_warm_process_and_works_like_any_other(kind: str, tmp_path: Path) -> None:
    with stage_in(tmp_path / "stage", kind) as stage:
        stage.reply("Hello from a warm process.")
        asks = CreateSession(cwd=str(stage.cwd))
        async with asyncio.timeout(60), host_over(stage, warm=[Warm(like=asks)]) as host:
            (pid,) = await warm(host)
            session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="go", name="warm"))
            frames = await frames_until(host, session.id, "idle")
            assert await pids(host, session) == [pid]
            assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
            assert [frame.at for frame in frames] == sorted(frame.at for frame in frames)
            assert (await host.get_info(OfSession(session_id=session.id))).details["handshake"]
            await warm(host)  # it is replaced
            await host.stop(OfSession(session_id=session.id))
            assert (await host.get_session(OfSession(session_id=session.id))).state == "stopped"
        async with await KeeperClient.open(stage.folder / "state" / "keeper", take_over=True) as keeper:
            assert await keeper.list() == [], "nothing that nobody has taken outlives the host"
            await keeper.stop()


OTHERS: dict[str, dict[str, Any]] = {
    "model": {"model": "haiku"},
    "mode": {"permission_mode": "plan"},
    "options": {"options": {"max_turns": 3}},
    "private options": {"options": {"env": {"COLOUR": "blue"}}},
    "account": {"account": "work"},
    "callbacks": {"callbacks": Callbacks(hooks=[HookCallback(event="Stop")])},
}


@for_each("name", OTHERS)
async def test_a_session_that_asks_for_something_else_gets_a_process_of_its_own(name: str, place: Place) -> None:
    accounts = {"work": place.claude.cwd.parent / "work-account"}
    async with place.opened(warm=[Warm(like=like(place))], accounts=accounts) as host:
        (pid,) = await warm(host)
        session = await place.created(host, None, **OTHERS[name])
        assert await pids(host, session) != [pid]
        assert await warm(host) == [pid]


async def test_a_session_in_another_folder_gets_a_process_of_its_own(place: Place) -> None:
    elsewhere = place.cwd / "below"
    elsewhere.mkdir()
    async with place.opened(warm=[Warm(like=like(place))]) as host:
        (pid,) = await warm(host)
        session = await host.create_session(CreateSession(cwd=str(elsewhere)))
        assert await pids(host, session) != [pid]
        assert await warm(host) == [pid]


async def test_equal_private_options_are_equal(place: Place) -> None:
    options = {"env": {"COLOUR": "blue"}, "max_turns": 3}
    async with place.opened(warm=[Warm(like=like(place, options=options))]) as host:
        (pid,) = await warm(host)
        assert await pids(host, await place.created(host, None, options=options)) == [pid]


async def test_what_resumes_a_conversation_is_not_given_a_warm_process(place: Place) -> None:
    place.claude.play(["Hello."])
    async with place.opened(warm=[Warm(like=like(place))]) as host:
        (first,) = await warm(host)
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        (second,) = await warm(host)
        await host.stop(OfSession(session_id=session.id))
        await host.resume(OfSession(session_id=session.id))
        had = await pids(host, session)
        assert had[0] == first
        assert had[1] not in (first, second)


async def test_the_policy_decides_for_a_session_with_a_warm_process(place: Place) -> None:
    place.claude.play([ASKS, {"tool": "Bash", "input": {"command": "touch never.txt"}}, "Done."])
    async with place.opened(warm=[Warm(like=like(place))]) as host:
        (pid,) = await warm(host)
        session = await place.created(host, policy={"deny": ["Bash(touch never.txt)"]})
        (approval,) = await pending(host, session.id)
        await decide(host, approval)
        frames = await frames_until(host, session.id, "idle")
        assert await pids(host, session) == [pid]
        assert states_of(frames)[:2] == ["pending", "decided"]
    assert (place.cwd / "made.txt").exists()
    assert not (place.cwd / "never.txt").exists()


async def test_warm_processes_count_and_make_room(place: Place) -> None:
    async with place.opened(warm=[Warm(like=like(place), count=2)], limits=Limits(processes=2)) as host:
        first, second = await warm(host, 2)
        one = await place.created(host, None)
        assert (await pids(host, one))[0] in (first, second)
        left = second if await pids(host, one) == [first] else first
        assert await warm(host, 1) == [left], "there is no room for another one"
        await place.created(host, None, model="haiku")
        await gone(left)
        with pytest.raises(HostError) as refused:
            await place.created(host, None)
        assert refused.value.code == "busy"
        await host.stop(OfSession(session_id=one.id))
        await warm(host, 1)


async def test_a_warm_process_that_dies_is_replaced(place: Place) -> None:
    async with place.opened(warm=[Warm(like=like(place))]) as host:
        (pid,) = await warm(host)
        os.kill(pid, 9)
        while await warm(host) == [pid]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        session = await place.created(host, None)
        assert session.state == "idle"


async def test_a_folder_that_is_not_there_costs_a_warning_and_nothing_else(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = [Warm(like=CreateSession(cwd=str(place.cwd / "nowhere"))), Warm(like=like(place))]
    async with place.opened(warm=wanted) as host:
        await warm(host)
    assert "A warm process did not start" in caplog.text


async def test_a_turn_in_a_process_that_was_warm_survives_the_host(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    place.claude.play([ASKS, "Done."])
    async with asyncio.timeout(60):
        host = await place.host(warm=[Warm(like=like(place))]).open()
        (pid,) = await warm(host)
        session = await place.created(host)
        await pending(host, session.id)
        (waiting,) = await warm(host)
        for task in (host._tender, host._ticking):  # as if it were killed: nothing is ended
            assert task is not None
            task.cancel()
        for one in warm_places(host):
            while one.ready:
                one.ready.pop().session.detach()
        await host.close()
    async with place.opened() as host:
        (approval,) = await pending(host, session.id)
        await gone(waiting)  # nothing in the log knows of it
        await decide(host, approval)
        await frames_until(host, session.id, "idle")
        assert await pids(host, session) == [pid]
        await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
        listed = await host.list_sessions(ListSessions())
        assert [one.id for one in listed.sessions] == [session.id]
    assert (place.cwd / "made.txt").exists()
