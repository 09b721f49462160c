"""Crashed processes are started again, silent ones ended, idle ones given up, and limits survived."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S, Clock, Place, all_frames, kill, next_turn, pending, processes, told
from inside import in_memory, worked_on
from quarterdeck.host import Host, HostError
from quarterdeck.host.bodies import SessionBody
from quarterdeck.host.events import HangNoticed, ProcessChanged, StatusChange
from quarterdeck.host.lifetimes import FIRST_RESTART_S, LONGEST_RESTART_S, Life, plan_restart
from quarterdeck.host.requests import (
    CreateSession,
    Lifecycle,
    ListSessions,
    Nothing,
    OfSession,
    SendPrompt,
    UpdateSession,
    Wait,
)
from quarterdeck.host.resources import Prompt, Session
from quarterdeck.host.tending import HANG_GRACE_S
from quarterdeck.policy import Policy
from quarterdeck.timeline.events import PromptSent, TurnEnded

WAITS = Prompt(id="p", content="later", state="queued")
RUNS = {"tool": "Bash", "input": {"command": "sleep 60", "description": "Wait"}}
ALLOWED = Policy.from_rules(allow=["Bash(sleep:*)"])
TWICE = Lifecycle(restarts=2)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def of(session: Session) -> OfSession:
    return OfSession(session_id=session.id)


async def until(host: Host, session: Session, fits: Callable[[Session], bool]) -> Session:
    """Bounded by the host's own time limit."""
    while not fits(now := await host.get_session(of(session))):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return now


async def in_state(host: Host, session: Session, *states: str) -> Session:
    return await until(host, session, lambda now: now.state in states)


async def idle(host: Host, session: Session) -> None:
    await host.wait(Wait(session_id=session.id, for_=["idle"], timeout_s=LIMIT_S))


# Crashes


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_a_process_that_crashes_is_started_again_and_goes_on_with_the_conversation(
    tmp_path: Path, keeper: bool
) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play(["One."], ["Two."])
    async with place.opened(lifecycle=TWICE) as host:
        session = await place.created(host)
        await idle(host, session)
        await kill(host, session)
        await until(host, session, lambda now: now.state == "crashed" and now.state_until is not None)
        again = await in_state(host, session, "idle")
        assert again.transcript_id == (await host.get_session(of(session))).transcript_id
        ended, *started = (await processes(host, session))[2:]
        assert (ended.state, ended.signal, ended.restart_at is not None) == ("exited", "9", True)
        assert [(one.state, one.generation) for one in started] == [("starting", 2), ("running", 2)]
        crashed = [one for one in told(await all_frames(host, session.id), StatusChange) if one.state == "crashed"]
        assert [one.until for one in crashed] == [ended.restart_at]
        assert told(await next_turn(host, session.id), TurnEnded)


async def test_restarts_end_at_their_limit_and_a_turn_that_ends_gives_new_ones(place: Place) -> None:
    place.claude.play(["One."], ["Two."], ["Three."])
    async with place.opened(lifecycle=Lifecycle(restarts=1)) as host:
        session = await place.created(host)
        await idle(host, session)
        await kill(host, session)
        await in_state(host, session, "crashed")
        await in_state(host, session, "idle")
        await kill(host, session)
        down = await in_state(host, session, "crashed")
        assert down.state_until is None
        assert [one.restart_at is None for one in await processes(host, session) if one.state == "exited"] == [
            False,
            True,
        ]
        await host.resume(of(session))
        await next_turn(host, session.id)
        await kill(host, session)
        await until(host, session, lambda now: now.state == "crashed" and now.state_until is not None)
        await in_state(host, session, "idle")


async def test_a_session_that_is_stopped_while_its_restart_waits_stays_stopped(place: Place) -> None:
    place.claude.play(["One."])
    clock = Clock()
    async with place.opened(lifecycle=TWICE, clock=clock) as host:
        session = await place.created(host)
        await idle(host, session)
        await kill(host, session)
        await in_state(host, session, "crashed")
        await host.stop(of(session))
        clock.now += LONGEST_RESTART_S
        host.tend()
        stopped = await host.get_session(of(session))
        assert (stopped.state, stopped.state_until) == ("stopped", None)


async def test_a_restart_that_waits_is_made_by_the_next_host(place: Place) -> None:
    place.claude.play(["One."], ["Two."])
    clock = Clock()
    async with asyncio.timeout(LIMIT_S), place.host(lifecycle=TWICE, clock=clock) as host:
        session = await place.created(host)
        await idle(host, session)
        await kill(host, session)
        await in_state(host, session, "crashed")
    clock.now += LONGEST_RESTART_S
    async with place.opened(lifecycle=TWICE, clock=clock) as host:
        await in_state(host, session, "idle")


async def test_a_start_that_somebody_asked_for_is_not_repeated(place: Place) -> None:
    script = place.cwd.parent / "fails"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o755)
    async with place.opened(lifecycle=TWICE) as host:
        with pytest.raises(HostError) as failed:
            await host.create_session(CreateSession(cwd=str(place.cwd), agent=str(script), name="fails"))
        assert failed.value.code == "cli_failed"
        (session,) = (await host.list_sessions(ListSessions())).sessions
        assert (session.state, session.state_until) == ("crashed", None)


async def test_the_model_is_told_of_a_call_that_was_cut_off_if_the_session_wants_it(place: Place) -> None:
    place.claude.play([RUNS, "Done."], ["I shall look."])
    async with place.opened(lifecycle=TWICE, policy=ALLOWED) as host:
        session = await place.created(host, lifecycle=Lifecycle(tell_model=True))
        await until(host, session, lambda _: bool(in_memory(host)[session.id].log.fold.timeline.state.running))
        await kill(host, session)
        frames = await all_frames(host, session.id)
        while "sleep 60" not in "".join(one.text for one in told(frames, PromptSent)):
            await asyncio.sleep(0.01)
            frames = await all_frames(host, session.id)
        (ended,) = [one for one in told(frames, ProcessChanged) if one.state == "exited"]
        assert len(ended.unfinished) == 1
        assert "unknown whether they took effect" in told(frames, PromptSent)[-1].text


def test_the_wait_before_a_restart_doubles_up_to_a_minute() -> None:
    body, waits = SessionBody(wanted=True), []
    for _ in range(9):
        plan_restart(body, Life(restarts=8), 100.0)
        waits.append(None if body.restart_at is None else body.restart_at - 100.0)
    assert waits == [FIRST_RESTART_S, 2, 4, 8, 16, 32, LONGEST_RESTART_S, LONGEST_RESTART_S, None]


async def test_a_process_that_dies_while_somebody_is_asked_says_how_it_ended(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        await in_state(host, session, "waiting")
        await kill(host, session, signal.SIGKILL)
        assert (await in_state(host, session, "crashed")).state_reason == "Claude Code ended with signal 9."


# Hangs


async def test_a_silent_turn_is_interrupted_and_then_its_process_is_ended_and_started_again(place: Place) -> None:
    place.claude.play([{"tool": "Bash", "input": {"command": "true"}}, "Done."], ["Two."], delay_s=0.3)
    clock = Clock()
    async with place.opened(lifecycle=Lifecycle(restarts=1, hang_s=100.0), clock=clock) as host:
        session = await place.created(host)
        await in_state(host, session, "running")
        await kill(host, session, signal.SIGSTOP)
        clock.now += 101.0
        await until_told(host, session, HangNoticed, 1)
        clock.now += HANG_GRACE_S + 1
        noticed = await until_told(host, session, HangNoticed, 2)
        assert [one.action for one in noticed] == ["interrupt", "end"]
        crashed = await in_state(host, session, "crashed")
        assert "was silent for" in crashed.state_reason
        clock.now += LONGEST_RESTART_S
        await in_state(host, session, "idle")


async def until_told(host: Host, session: Session, kind: Any, count: int) -> list[Any]:
    while len(found := told(await all_frames(host, session.id), kind)) < count:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return found


async def test_nothing_hangs_while_a_person_is_asked(place: Place) -> None:
    place.claude.play([{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."])
    clock = Clock()
    async with place.opened(lifecycle=Lifecycle(hang_s=100.0), clock=clock) as host:
        session = await place.created(host)
        await pending(host)
        clock.now += 1_000.0
        host.tend()
        await asyncio.sleep(0)
        assert told(await all_frames(host, session.id), HangNoticed) == []
        assert (await host.get_session(of(session))).state == "waiting"


# Parking


async def long_idle(host: Host, session: Session, clock: Clock) -> Session:
    """Time passes until it is parked: the last words of a turn may come after its end."""
    while (now := await host.get_session(of(session))).state != "parked":
        clock.now += 1.0
        await asyncio.sleep(0.01)
    return now


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_an_idle_session_gives_up_its_process_and_gets_one_at_the_next_prompt(
    tmp_path: Path, keeper: bool
) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play(["One."], ["Two."])
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host, lifecycle=Lifecycle(park_s=50.0))
        await idle(host, session)
        clock.now += 49.0
        host.tend()
        assert (await host.get_session(of(session))).state == "idle"
        parked = await long_idle(host, session, clock)
        assert parked.state_reason.startswith("It was idle for ")
        assert not in_memory(host)[session.id].has_process
        assert told(await next_turn(host, session.id), TurnEnded)
        assert (await host.get_session(of(session))).transcript_id == parked.transcript_id


async def test_a_parked_session_is_parked_for_the_next_host_too_and_can_be_stopped(place: Place) -> None:
    place.claude.play(["One."])
    clock = Clock()
    async with asyncio.timeout(LIMIT_S), place.host(clock=clock) as host:
        session = await place.created(host, lifecycle=Lifecycle(park_s=50.0))
        await idle(host, session)
        await long_idle(host, session, clock)
    async with place.opened(clock=clock) as host:
        assert (await host.get_session(of(session))).state == "parked"
        await host.stop(of(session))
        assert (await host.get_session(of(session))).state == "stopped"


async def test_a_session_with_a_prompt_that_waits_is_not_parked(place: Place) -> None:
    place.claude.play(["One."])
    clock = Clock()
    async with place.opened(clock=clock) as host:
        session = await place.created(host)
        await idle(host, session)
        await host.update_session(UpdateSession(session_id=session.id, lifecycle=Lifecycle(park_s=50.0)))
        actor = in_memory(host)[session.id]
        assert actor.life.park_s == 50.0
        clock.now += 60.0
        actor.log.fold.queue.prompts.append(WAITS)
        host.tend()
        assert not worked_on(host)
        actor.log.fold.queue.prompts.clear()
        host.tend()
        assert worked_on(host) == [session.id]


@pytest.mark.parametrize(
    "lifecycle",
    [
        Lifecycle(park_s=0),
        Lifecycle(park_s=float("nan")),
        Lifecycle(hang_s=-1.0),
        Lifecycle(hang_s=float("inf")),
        Lifecycle(restarts=-1),
        Lifecycle(restarts=10**30),
    ],
    ids=str,
)
async def test_a_lifecycle_that_cannot_be_is_refused(place: Place, lifecycle: Lifecycle) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await place.created(host, lifecycle=lifecycle)
        assert refused.value.code == "invalid"
        assert refused.value.details["field"].startswith("lifecycle.")


# Limits


def limit(resets_in_s: float, status: str = "rejected", **more: Any) -> dict[str, Any]:
    info = {"status": status, "rateLimitType": "five_hour", "resetsAt": time.time() + resets_in_s, **more}
    return {"rate_limit": info}


async def test_at_its_limit_an_account_holds_prompts_of_all_its_sessions_until_it_is_over(place: Place) -> None:
    place.claude.play([limit(3.0), "Limited."], ["After."])
    async with place.opened() as host:
        other = await place.created(host, None)
        session = await place.created(host)
        for one in (session, other):
            limited = await in_state(host, one, "limited")
            assert limited.state_until is not None
            assert limited.state_reason == "The account's rate limit is reached."
        sent = await host.send_prompt(SendPrompt(session_id=session.id, content="and then?"))
        (waiting,) = (await host.list_prompts(of(session))).prompts
        assert (waiting.id, waiting.state) == (sent.prompt_id, "queued")
        limited = await host.wait(Wait(session_id=session.id, for_=["limited"], timeout_s=LIMIT_S))
        assert (limited.state, waiting.id) == ("limited", (await host.list_prompts(of(session))).prompts[0].id)
        (gauge,) = (await host.get_limits(Nothing())).details["accounts"].values()
        assert gauge["five_hour"]["status"] == "rejected"
        for one in (session, other):
            await in_state(host, one, "idle")
        await until_told(host, session, TurnEnded, 2)
        assert (await host.list_prompts(of(session))).prompts == []


async def test_prompts_at_the_limit_are_refused_if_the_session_wants_that(place: Place) -> None:
    place.claude.play([limit(60.0), "Limited."])
    async with place.opened(lifecycle=Lifecycle(limited="refuse")) as host:
        session = await place.created(host)
        await in_state(host, session, "limited")
        with pytest.raises(HostError) as refused:
            await host.send_prompt(SendPrompt(session_id=session.id, content="and then?"))
        assert refused.value.code == "limited"
        assert refused.value.details["until"]


@pytest.mark.parametrize(
    "said", [{"status": "allowed_warning"}, {"overageStatus": "allowed"}], ids=["warning", "extra"]
)
async def test_a_warning_or_extra_usage_is_no_limit(place: Place, said: dict[str, Any]) -> None:
    place.claude.play([limit(60.0, **said), "Fine."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session)
        assert (await host.get_limits(Nothing())).details["accounts"][""]["five_hour"]["status"]


async def test_accounts_have_their_own_folder_and_their_own_gauge(place: Place, tmp_path: Path) -> None:
    place.claude.play([limit(60.0), "Limited."])
    async with place.opened(accounts={"work": tmp_path / "work"}) as host:
        session = await place.created(host, account="work")
        await in_state(host, session, "limited")
        mine = await place.created(host, None)
        assert (mine.state, mine.account) == ("idle", "")
        assert (await host.get_session(of(session))).account == "work"
        assert list((tmp_path / "work").rglob("*.jsonl")), "its transcript is in the account's folder"
        assert list((await host.get_limits(Nothing())).details["accounts"]) == ["work", ""]
        with pytest.raises(HostError, match="no account elsewhere"):
            await place.created(host, account="elsewhere")
