"""Prompts for later: at a time, once, in order, whatever becomes of the session, the host and the clock meanwhile."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from host.kit import LIMIT_S, Clock, Place, all_frames, told
from inside import worked_on
from quarterdeck.host import Host, HostError
from quarterdeck.host.requests import Lifecycle, OfPrompt, OfSession, SendPrompt, UpdatePrompt, UpdateSession, Wait
from quarterdeck.host.resources import Session
from quarterdeck.host.times import moment
from quarterdeck.timeline.events import PromptSent

PARKS = Lifecycle(park_s=50.0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path, keeper=False)
    place.claude.play(*[["Said."]] * 5)
    return place


def of(session: Session) -> OfSession:
    return OfSession(session_id=session.id)


async def later(host: Host, session: Session, text: str, at: float) -> str:
    return (await host.send_prompt(SendPrompt(session_id=session.id, content=text, not_before=moment(at)))).prompt_id


async def said(host: Host, session: Session) -> list[str]:
    return [one.text for one in told(await all_frames(host, session.id), PromptSent)]


async def until_said(host: Host, session: Session, *texts: str) -> None:
    while await said(host, session) != list(texts):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await host.wait(Wait(session_id=session.id, timeout_s=LIMIT_S))


async def parked(host: Host, session: Session, clock: Clock) -> None:
    while (await host.get_session(of(session))).state != "parked":
        clock.now += 1.0
        await asyncio.sleep(0.01)


async def test_a_parked_session_gets_a_process_when_the_time_has_come(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host, lifecycle=PARKS)
        await host.wait(Wait(session_id=session.id))
        await later(host, session, "tomorrow", clock.now + 86_400)
        await parked(host, session, clock)
        assert await said(host, session) == ["go"]
        clock.now += 90_000
        await until_said(host, session, "go", "tomorrow")


async def test_a_session_that_was_stopped_is_started_for_it_and_what_is_taken_back_is_not_said(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        await host.stop(of(session))
        first = await later(host, session, "one", clock.now + 100)
        second = await later(host, session, "two", clock.now + 100)
        assert (await host.get_session(of(session))).state == "stopped"
        await host.withdraw_prompt(OfPrompt(session_id=session.id, prompt_id=first))
        edited = UpdatePrompt(session_id=session.id, prompt_id=second, content="two, edited")
        assert (await host.update_prompt(edited)).not_before == moment(clock.now + 100)
        clock.now += 200
        await until_said(host, session, "go", "two, edited")


async def test_two_at_the_same_second_are_said_in_order_each_in_a_turn_of_its_own(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        one, other = [await place.created(host) for _ in range(2)]
        for session in (one, other):
            await host.wait(Wait(session_id=session.id))
            await later(host, session, "first", clock.now + 10)
            await later(host, session, "second", clock.now + 10)
        clock.now += 10
        for session in (one, other):
            await until_said(host, session, "go", "first", "second")
            prompts = (await host.list_prompts(of(session))).prompts
            assert prompts == []


async def test_a_clock_that_is_set_back_delays_it_and_one_that_is_set_forward_does_not_repeat_it(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        due = clock.now + 3_600 * 10
        await later(host, session, "then", due)
        clock.now -= 86_400
        host.tend()
        assert [one.content for one in (await host.list_prompts(of(session))).prompts] == ["then"]
        clock.now = due + 1  # set forward: the tender's tick sees it, not a timer that was started before
        await until_said(host, session, "go", "then")
        clock.now = due - 86_400
        host.tend()
        clock.now = due + 86_400
        host.tend()
        await host.wait(Wait(session_id=session.id))
        assert await said(host, session) == ["go", "then"]


@pytest.mark.parametrize("state", ["parked", "stopped", "idle"])
async def test_it_survives_the_host_and_the_next_one_says_it_once(place: Place, state: str) -> None:
    clock = Clock()
    async with asyncio.timeout(LIMIT_S), place.host(clock=clock) as host:
        session = await place.created(host, lifecycle=PARKS)
        await host.wait(Wait(session_id=session.id))
        await later(host, session, "after the restart", clock.now + 86_400)
        if state == "parked":
            await parked(host, session, clock)
        elif state == "stopped":
            await host.stop(of(session))
    clock.now += 90_000
    async with place.opened(clock=clock) as host:
        await until_said(host, session, "go", "after the restart")
    async with place.opened(clock=clock) as host:
        host.tend()
        assert await said(host, session) == ["go", "after the restart"]


async def test_an_archived_session_is_not_woken(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        await host.stop(of(session))
        await later(host, session, "never", clock.now + 10)
        await host.update_session(UpdateSession(session_id=session.id, archived=True))
        clock.now += 100
        host.tend()
        assert not worked_on(host)


async def test_a_time_without_a_zone_is_refused_and_one_in_the_past_is_now(place: Place) -> None:
    async with place.opened() as host:
        session = await place.created(host)
        await host.wait(Wait(session_id=session.id))
        naive = datetime(2030, 1, 1)
        with pytest.raises(HostError) as refused:
            await host.send_prompt(SendPrompt(session_id=session.id, content="x", not_before=naive))
        assert refused.value.details["field"] == "not_before"
        past = datetime.now(UTC) - timedelta(days=1)
        await host.send_prompt(SendPrompt(session_id=session.id, content="now", not_before=past))
        await until_said(host, session, "go", "now")
