"""An idle session whose commands still run in the background keeps its process, on the simulator and the real CLI."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.kit import LIMIT_S, Clock, all_frames, frames_until, kill, told
from host.staged import BOTH, Stage, host_over, stage_in
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, Lifecycle, OfSession, OfTask
from quarterdeck.host.resources import Session
from quarterdeck.policy import Policy
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import TaskEnded, TaskStarted

PARK_S = 600.0
SLEEPS = ToolUse("Bash", {"command": "sleep 500", "description": "Sleep", "run_in_background": True})


@pytest.fixture(params=BOTH)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with stage_in(tmp_path / "stage", request.param) as stage:
        yield stage


async def idle(stage: Stage, host: Host, *parts: object) -> Session:
    """A session that has said this, and has nothing else to do."""
    for part in parts:
        stage.reply(part)
    lifecycle = Lifecycle(restarts=1, park_s=PARK_S)
    session = await host.create_session(CreateSession(cwd=str(stage.cwd), prompt="go", lifecycle=lifecycle))
    await frames_until(host, session.id, "idle")
    return session


async def state(host: Host, session: Session) -> str:
    return (await host.get_session(OfSession(session_id=session.id))).state


async def parked(host: Host, session: Session, clock: Clock) -> None:
    while await state(host, session) != "parked":
        clock.now += PARK_S / 10
        await asyncio.sleep(0.02)


async def test_it_keeps_its_process_until_its_tasks_are_over(stage: Stage) -> None:
    clock = Clock()
    host = host_over(stage, keeper=False, clock=clock, policy=Policy.from_rules(allow=["Bash(sleep:*)"]))
    async with asyncio.timeout(LIMIT_S), host:
        works = await idle(stage, host, SLEEPS, "It sleeps.")
        rests = await idle(stage, host, "Nothing to do.")
        (task,) = told(await all_frames(host, works.id), TaskStarted)
        stage.reply("It was stopped.")
        clock.now += PARK_S
        await parked(host, rests, clock)
        for _ in range(3):
            clock.now += PARK_S
            host.tend()
            await asyncio.sleep(0)
        assert await state(host, works) == "idle"
        await host.stop_task(OfTask(session_id=works.id, task_id=task.id))
        await parked(host, works, clock)
        assert [one.id for one in told(await all_frames(host, works.id), TaskEnded)] == [task.id]


async def test_a_task_that_died_with_its_process_keeps_nothing_waiting(stage: Stage) -> None:
    clock = Clock()
    host = host_over(stage, keeper=False, clock=clock, policy=Policy.from_rules(allow=["Bash(sleep:*)"]))
    async with asyncio.timeout(LIMIT_S), host:
        session = await idle(stage, host, SLEEPS, "It sleeps.")
        await kill(host, session)
        while await state(host, session) != "crashed":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        clock.now += 1.0  # the restart is due
        while await state(host, session) != "idle":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await parked(host, session, clock)
