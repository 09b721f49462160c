"""The thread with the event loop: what is handed to it is done, or fails; nobody waits for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from quarterdeck import Aborted
from quarterdeck.client.loop_thread import LoopThread
from simulated import LIMIT_S, until


@pytest.fixture
def loop_thread() -> Iterator[LoopThread]:
    made = LoopThread()
    yield made
    made.end()
    assert not made.running


def test_a_call_from_its_own_thread_is_refused_but_cleaning_up_from_there_is_done_later(
    loop_thread: LoopThread,
) -> None:
    done = threading.Event()

    async def clean_up() -> None:
        done.set()

    async def work() -> bool:
        with pytest.raises(RuntimeError, match="would deadlock"):
            loop_thread.call(clean_up)
        loop_thread.settle(clean_up)
        return done.is_set()

    assert loop_thread.call(work) is False
    assert done.wait(LIMIT_S)
    loop_thread.settle(clean_up)


def test_work_in_the_background_that_fails_is_told(loop_thread: LoopThread, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ValueError("out of order")

    loop_thread.post(fail)
    until(lambda: [record.message.splitlines()[0] for record in caplog.records])
    assert ["work in the background failed" in record.message for record in caplog.records] == [True]


def test_who_waits_when_it_ends_is_told_and_the_next_call_starts_it_again(loop_thread: LoopThread) -> None:
    waiting = threading.Event()
    failures: list[BaseException] = []

    async def wait() -> None:
        waiting.set()
        await asyncio.Event().wait()

    def call() -> None:
        with pytest.raises(Aborted) as caught:
            loop_thread.call(wait)
        failures.append(caught.value)

    caller = threading.Thread(target=call)
    caller.start()
    assert waiting.wait(LIMIT_S)
    loop_thread.end()
    loop_thread.end()
    caller.join(LIMIT_S)
    assert (len(failures), loop_thread.running) == (1, False)
    assert loop_thread.call_function(lambda: 5) == 5


def test_many_threads_call_at_once(loop_thread: LoopThread) -> None:
    results: list[int] = []

    def call(number: int) -> None:
        results.extend(loop_thread.call_function(lambda: number) for _ in range(50))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert sorted(results) == sorted(list(range(8)) * 50)


def test_a_callback_that_never_returns_does_not_keep_it_from_ending(loop_thread: LoopThread) -> None:
    release, started = threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        release.wait(LIMIT_S)

    async def work() -> None:
        await asyncio.to_thread(block)

    loop_thread.post(work)
    assert started.wait(LIMIT_S)
    loop_thread.end()
    release.set()
