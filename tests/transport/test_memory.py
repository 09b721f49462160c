"""The in-memory pair behaves like a process, seen from either end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable

import pytest

from quarterdeck.transport import ByteTransport, ExitStatus, Grace, MemoryTransport, TransportClosed, memory_pair
from transport.support import Recorder, until

QUICK = Grace(eof_s=0.05, term_s=0.05)


def play(scene: Callable[[MemoryTransport, Recorder, MemoryTransport, Recorder], Awaitable[None]]) -> None:
    async def whole() -> None:
        left, right = memory_pair()
        transports: list[ByteTransport] = [left, right]
        recorders = [Recorder(), Recorder()]
        for transport, recorder in zip(transports, recorders, strict=True):
            await transport.start(recorder)
        async with asyncio.timeout(20):
            await scene(left, recorders[0], right, recorders[1])
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(whole())


def test_bytes_end_and_exit_arrive_in_this_order_at_both_ends() -> None:
    async def scene(left: MemoryTransport, heard: Recorder, right: MemoryTransport, seen: Recorder) -> None:
        left.write(b"question")
        right.write(b"answer")
        statuses = await asyncio.gather(left.close(), right.close())
        assert statuses == [ExitStatus(code=0)] * 2
        assert heard.told == [b"answer", "eof", ExitStatus(code=0)]
        assert seen.told == [b"question", "eof", ExitStatus(code=0)]

    play(scene)


def test_nothing_is_delivered_from_inside_a_write() -> None:
    async def scene(left: MemoryTransport, _: Recorder, right: MemoryTransport, seen: Recorder) -> None:
        left.write(b"x")
        assert seen.told == []
        await until(lambda: seen.told == [b"x"])
        left.abandon()

    play(scene)


def test_closing_the_input_is_heard_while_the_other_direction_goes_on() -> None:
    async def scene(left: MemoryTransport, heard: Recorder, right: MemoryTransport, seen: Recorder) -> None:
        left.close_input()
        with pytest.raises(TransportClosed):
            left.write(b"more")
        await until(lambda: seen.told == ["eof"])
        right.write(b"still here")
        await until(lambda: heard.told == [b"still here"])
        await asyncio.gather(left.close(), right.close())

    play(scene)


def test_a_paused_end_makes_the_other_drain_and_gets_everything_later() -> None:
    async def scene(left: MemoryTransport, _: Recorder, right: MemoryTransport, seen: Recorder) -> None:
        right.pause_reading()
        left.write(bytes(1_000_000))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await left.drain()
        assert seen.told == []
        right.resume_reading()
        await left.drain()
        await until(lambda: len(seen.output) == 1_000_000)
        assert seen.largest == 65536
        left.abandon()

    play(scene)


def test_an_end_that_does_not_close_is_ended_after_the_grace() -> None:
    async def scene(left: MemoryTransport, heard: Recorder, _: MemoryTransport, seen: Recorder) -> None:
        assert await left.close(QUICK) == ExitStatus(signal=signal.SIGKILL)
        await until(lambda: seen.told == ["eof", ExitStatus(code=0)])
        await until(lambda: heard.told == ["eof", ExitStatus(signal=signal.SIGKILL)])

    play(scene)


def test_abandon_loses_what_is_unread_and_ends_both() -> None:
    async def scene(left: MemoryTransport, heard: Recorder, right: MemoryTransport, seen: Recorder) -> None:
        left.write(b"lost")
        waiting = asyncio.ensure_future(right.wait())
        left.abandon()
        assert await waiting == ExitStatus(signal=signal.SIGKILL)
        await left.wait()
        assert heard.told == seen.told == ["eof", ExitStatus(signal=signal.SIGKILL)]
        with pytest.raises(TransportClosed):
            right.write(b"x")

    play(scene)


def test_a_cancelled_close_ends_both() -> None:
    async def scene(left: MemoryTransport, heard: Recorder, _: MemoryTransport, seen: Recorder) -> None:
        closing = asyncio.ensure_future(left.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await until(lambda: heard.told[-1:] == [ExitStatus(signal=signal.SIGKILL)])
        await until(lambda: seen.told == ["eof", ExitStatus(code=0)])

    play(scene)


def test_closing_while_paused_drops_what_is_unread() -> None:
    async def scene(left: MemoryTransport, heard: Recorder, right: MemoryTransport, _: Recorder) -> None:
        left.pause_reading()
        right.write(b"unread")
        await asyncio.gather(left.close(), right.close())
        assert heard.told == ["eof", ExitStatus(code=0)]

    play(scene)


def test_stderr_is_seen_at_the_other_end_and_bounded() -> None:
    async def scene(left: MemoryTransport, _: Recorder, right: MemoryTransport, __: Recorder) -> None:
        right.write_stderr("x" * 100_000 + "end")
        assert (len(left.stderr_tail), left.stderr_tail[-3:], right.stderr_tail) == (65536, "end", "")
        assert left.pid is None
        left.abandon()

    play(scene)


def test_a_pair_that_was_never_started_closes_at_once() -> None:
    async def scene() -> None:
        left, right = memory_pair()
        statuses = await asyncio.gather(left.close(), right.close())
        assert statuses == [ExitStatus(code=0)] * 2

    asyncio.run(scene())
