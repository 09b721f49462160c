"""What a reader waits for: it wakes its task at once where that is allowed, and else behaves as a future does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from quarterdeck.client.arrival import Arrival

LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [asyncio.new_event_loop, uvloop.new_event_loop]


def run(main: Any, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())


async def wait_for(arrival: Arrival, told: list[str]) -> None:
    told.append("waits")
    try:
        await arrival
    except asyncio.CancelledError as error:
        told.append(f"cancelled {error.args}")
        raise
    told.append("woken")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("python_task", [False, True])
def test_a_callback_of_the_loop_wakes_the_task_within_its_own_call(loop: Any, python_task: bool) -> None:
    async def main() -> None:
        running = asyncio.get_running_loop()
        if python_task:
            running.set_task_factory(lambda loop, work, **more: asyncio.tasks._PyTask(work, loop=loop, **more))  # type: ignore[attr-defined]
        arrival, told, seen = Arrival(running), list[str](), asyncio.Event()
        task = running.create_task(wait_for(arrival, told))
        await asyncio.sleep(0)
        assert asyncio.isfuture(arrival)

        def arrives() -> None:
            arrival.wake(at_once=True)
            told.append("the call goes on")
            seen.set()

        running.call_soon(arrives)
        await seen.wait()
        await task
        assert told == ["waits", "woken", "the call goes on"]

    run(main, loop)


@pytest.mark.parametrize("loop", LOOPS)
def test_inside_a_task_or_when_not_asked_to_it_wakes_in_the_next_turn(loop: Any) -> None:
    async def main() -> None:
        running = asyncio.get_running_loop()
        for at_once in (True, False):
            arrival, told = Arrival(running), list[str]()
            task = running.create_task(wait_for(arrival, told))
            await asyncio.sleep(0)
            arrival.wake(at_once=at_once)
            arrival.wake(at_once=at_once)  # once is enough
            assert told == ["waits"]
            await task
            assert told == ["waits", "woken"]

    run(main, loop)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_cancelled_task_is_told_and_what_comes_later_is_nobodys(loop: Any) -> None:
    async def main() -> None:
        running = asyncio.get_running_loop()
        arrival, told = Arrival(running), list[str]()
        task = running.create_task(wait_for(arrival, told))
        await asyncio.sleep(0)
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError):
            await task
        arrival.wake(at_once=True)
        assert told == ["waits", "cancelled ('enough',)"]
        assert arrival.done() and arrival.cancelled() and not arrival.cancel()

    run(main, loop)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_cancel_that_comes_after_the_wake_is_not_lost(loop: Any) -> None:
    async def main() -> None:
        running = asyncio.get_running_loop()
        arrival, told = Arrival(running), list[str]()
        task = running.create_task(wait_for(arrival, told))
        await asyncio.sleep(0)
        arrival.wake()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main, loop)


async def test_one_that_is_done_is_not_waited_for() -> None:
    arrival = Arrival(asyncio.get_running_loop())
    arrival.wake()
    await arrival
    assert arrival.result() is None


async def test_a_time_limit_ends_the_waiting() -> None:
    arrival = Arrival(asyncio.get_running_loop())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await arrival
