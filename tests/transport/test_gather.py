"""Pipes that are watched together: every one is read, each in its own context, and nobody waits who cannot."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from quarterdeck.transport import ProcessTransport, gather
from quarterdeck.transport.gather import FLOODS_AT_A_TIME, Gatherer, watcher
from quarterdeck.transport.loop_io import MUCH, SHARED_READ_SIZE, LoopReader
from transport.support import Recorder, python, until

word: contextvars.ContextVar[str] = contextvars.ContextVar("word")


class Pipe:
    """Its reader counts what it is given."""

    def __init__(self, watched_by: gather.Watcher, on_data: Callable[[bytes], None] | None = None) -> None:
        end, self.input = os.pipe()
        self.got = 0
        context = contextvars.copy_context()
        self.reader = LoopReader(watched_by, context, end, on_data=on_data or self._count, on_end=lambda: None)

    def _count(self, data: bytes) -> None:
        self.got += len(data)

    def say(self, data: bytes = b"x") -> None:
        os.write(self.input, data)

    def close(self) -> None:
        self.reader.close()
        os.close(self.input)


@contextmanager
def pipes(number: int) -> Iterator[tuple[Gatherer, list[Pipe]]]:
    together = watcher(asyncio.get_running_loop(), together=True)
    assert isinstance(together, Gatherer)
    opened = [Pipe(together) for _ in range(number)]
    try:
        yield together, opened
    finally:
        for pipe in opened:
            pipe.close()


async def _one_by_one(opened: list[Pipe], *, rounds: int) -> None:
    """Each says something, and the loop has its turn in between."""
    for _ in range(rounds):
        for pipe in opened:
            pipe.say()
            await asyncio.sleep(0)
            await asyncio.sleep(0)


async def test_all_pipes_of_a_loop_share_one_gatherer_and_leave_nothing() -> None:
    loop = asyncio.get_running_loop()
    with pipes(3) as (together, opened):
        assert watcher(loop, together=True) is together
        for pipe in opened:
            pipe.say()
        await until(lambda: all(pipe.got == 1 for pipe in opened), "all to be read")
    with pipes(1) as (again, _):
        assert again is not together


async def test_many_small_reads_lose_nothing() -> None:
    with pipes(20) as (_, opened):
        await _one_by_one(opened, rounds=13)
        await until(lambda: all(pipe.got == 13 for pipe in opened), "all to be read")


async def test_each_session_is_told_in_the_context_it_was_started_in() -> None:
    seen: dict[str, list[str]] = {"one": [], "two": []}

    async def start(said: str) -> ProcessTransport:
        word.set(said)
        program = "import os; os.write(2, b'warning\\n'); os.write(1, os.read(0, 9))"
        transport = ProcessTransport(python(program), on_stderr_line=lambda _: seen[said].append(word.get()))
        receiver = Recorder()
        receiver.bytes_received = lambda _: seen[said].append(word.get())  # type: ignore[method-assign]
        await transport.start(receiver)
        return transport

    started = [await asyncio.create_task(start(said)) for said in seen]
    for transport in started:
        transport.write(b"go")
    await until(lambda: all(len(words) == 2 for words in seen.values()), "both streams of both")
    assert seen == {"one": ["one"] * 2, "two": ["two"] * 2}
    for transport in started:
        await transport.close()


async def test_one_that_was_asked_for_and_not_used_leaves_nothing() -> None:
    loop = asyncio.get_running_loop()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    unused = watcher(loop, together=True)
    with pytest.raises(OSError, match="Bad file descriptor"):
        unused.add(999_999, lambda: None, contextvars.copy_context())
    assert watcher(loop, together=True) is not unused
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


async def test_those_that_say_little_are_read_before_those_that_flood() -> None:
    order: list[str] = []
    with pipes(1) as (together, opened):
        loud, calm = (Pipe(together, lambda data, name=name: order.append(name)) for name in ("loud", "calm"))
        opened += [loud, calm]
        loud.say(bytes(2 * MUCH))
        await until(lambda: order, "the flood to be noticed")
        loud.say(bytes(2 * MUCH))
        calm.say()
        await until(lambda: len(order) == 3, "both to be read")
    assert order == ["loud", "calm", "loud"]


async def test_what_comes_while_floods_are_read_waits_for_a_few_of_them_only() -> None:
    order: list[str] = []
    floods = 4 * FLOODS_AT_A_TIME
    with pipes(1) as (together, opened):
        calm = Pipe(together, lambda data: order.append("calm"))

        def loud(data: bytes) -> None:
            order.append("loud")
            if len(order) == floods + 1:
                calm.say()

        opened += [calm, *(Pipe(together, loud) for _ in range(floods))]
        for _ in range(2):
            for pipe in opened[2:]:
                pipe.say(bytes(2 * MUCH))
            await until(lambda: len(order) >= floods, "the floods to be read")
        await until(lambda: len(order) == 2 * floods + 1, "all to be read")
    assert order.index("calm") <= floods + FLOODS_AT_A_TIME


async def test_a_flood_is_read_in_pieces_with_the_others_in_between() -> None:
    told: list[int] = []
    with pipes(2) as (together, opened):
        loud = Pipe(together, lambda data: told.append(len(data)))
        writing = asyncio.create_task(asyncio.to_thread(loud.say, b"x" * 3 * SHARED_READ_SIZE))
        opened[0].say()
        opened[1].say()
        await until(lambda: sum(told) == 3 * SHARED_READ_SIZE, "the flood to be read")
        assert max(told) <= SHARED_READ_SIZE
        assert [pipe.got for pipe in opened] == [1, 1]
        await writing
        loud.close()


async def test_each_callback_runs_in_the_context_it_was_added_in() -> None:
    seen: list[str] = []
    together = watcher(asyncio.get_running_loop(), together=True)

    def open_one(said: str) -> Pipe:
        word.set(said)
        return Pipe(together, lambda _: seen.append(word.get()))

    opened = [contextvars.copy_context().run(open_one, said) for said in ("one", "two")]
    for pipe in opened:
        pipe.say()
    await until(lambda: len(seen) == 2, "both to be read")
    assert sorted(seen) == ["one", "two"]
    for pipe in opened:
        pipe.close()


async def test_a_callback_that_raises_is_reported_and_the_others_are_read() -> None:
    loop, told = asyncio.get_running_loop(), list[str]()
    loop.set_exception_handler(lambda _, context: told.append(str(context["exception"])))
    with pipes(3) as (together, opened):

        def fail(_: bytes) -> None:
            raise ValueError("ours")

        bad = Pipe(together, fail)
        for pipe in (opened[0], bad, *opened[1:]):
            pipe.say()
        await until(lambda: all(pipe.got for pipe in opened), "the others to be read")
        assert told == ["ours"]
        bad.close()


async def test_one_closed_by_another_in_the_same_moment_is_not_read() -> None:
    with pipes(2) as (together, opened):

        def close_all(_: bytes) -> None:
            for pipe in closing:
                pipe.reader.close()

        closing = [Pipe(together, close_all), Pipe(together, close_all)]
        for pipe in (*closing, *opened):
            pipe.say()
        await until(lambda: all(pipe.got for pipe in opened), "the others to be read")
        for pipe in closing:
            pipe.close()


@pytest.mark.parametrize("together", [True, False])
async def test_a_paused_pipe_waits_until_it_is_resumed(together: bool) -> None:
    pipe = Pipe(watcher(asyncio.get_running_loop(), together=together))
    pipe.reader.pause()
    pipe.say()
    for _ in range(3):
        await asyncio.sleep(0)
    assert pipe.got == 0
    pipe.reader.resume()
    await until(lambda: pipe.got == 1, "it to be read")
    pipe.reader.pause()
    pipe.close()


async def test_a_forked_child_lets_go_of_the_parents_pipes() -> None:
    with pipes(2) as (together, opened):
        child = os.fork()
        if not child:
            together._read()  # as a loop that the child runs on would
            os._exit(0 if not gather._gatherers else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0  # noqa: ASYNC222  # it ends at once
        opened[0].say()
        await until(lambda: opened[0].got == 1, "the parent's to be read")
