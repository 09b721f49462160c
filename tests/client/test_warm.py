from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from client.fake import FakeCli, until
from inside import connection_of, idle_sessions
from protocol.pair import init, result
from quarterdeck import (
    ClaudeAgentOptions,
    CLIConnectionError,
    CLINotFoundError,
    ProcessError,
    Session,
    TransportClosed,
    UserMessage,
    WarmPool,
)
from quarterdeck.protocol import RequestReceived
from quarterdeck.testing.kit import FakeClaude
from quarterdeck.transport import ExitStatus


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Fakes:
    """Makes sessions for a pool, each with a fake CLI behind it that answers what it is asked."""

    def __init__(self) -> None:
        self.clis: list[FakeCli] = []
        self.sessions: list[Session] = []
        self.asked: list[tuple[str, Any]] = []
        self.mute = False
        self.gate: asyncio.Event | None = None
        self.starting = 0
        self.most_starting = 0
        self._tasks: list[asyncio.Task[None]] = []

    def __call__(self, options: ClaudeAgentOptions) -> Session:
        cli = FakeCli()
        session = _Gated(options, cli, self)
        self.clis.append(cli)
        self.sessions.append(session)
        self._tasks.append(asyncio.create_task(self._serve(cli)))
        return session

    async def _serve(self, cli: FakeCli) -> None:
        while True:
            event = await cli.next_event()
            if isinstance(event, RequestReceived) and not self.mute:
                request = event.request
                self.asked.append((request["subtype"], request.get("model") or request.get("mode")))
                cli.answer(event.request_id, {"mcpServers": []})
            elif isinstance(event, UserMessage):
                cli.say(init(), result(result="served"))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Gated(Session):
    """A session whose start can be held."""

    def __init__(self, options: ClaudeAgentOptions, cli: FakeCli, fakes: Fakes) -> None:
        super().__init__(options, transport=cli.near)
        self._cli, self._fakes = cli, fakes

    async def open(self) -> Session:
        fakes = self._fakes
        fakes.starting += 1
        fakes.most_starting = max(fakes.most_starting, fakes.starting)
        try:
            await self._cli.start()
            if fakes.gate is not None:
                await fakes.gate.wait()
            return await super().open()
        finally:
            fakes.starting -= 1


@asynccontextmanager
async def pool_of(size: int, **more: Any) -> AsyncIterator[tuple[WarmPool, Fakes]]:
    fakes = Fakes()
    try:
        async with asyncio.timeout(20), WarmPool(size, new_session=fakes, **more) as pool:
            yield pool, fakes
    finally:
        await fakes.stop()
    assert all(session.closed for session in fakes.sessions)


async def test_a_ready_session_is_taken_at_once_and_replaced() -> None:
    async with pool_of(2) as (pool, fakes):
        await pool.ready()
        async with pool.session() as session:
            assert session is fakes.sessions[0]
            assert (await session.prompt("hi")).result == "served"
            await pool.ready()
        assert session.closed
        assert len(fakes.sessions) == 3
        assert (pool.counts.warm, pool.counts.cold) == (1, 0)


async def test_an_empty_pool_starts_one_for_its_taker() -> None:
    async with pool_of(1) as (pool, fakes):
        async with pool.session() as session:
            assert (await session.prompt("hi")).result == "served"
        assert (pool.counts.warm, pool.counts.cold) == (0, 1)
        assert len(fakes.sessions) == 2


async def test_model_and_mode_are_changed_by_control_calls() -> None:
    async with pool_of(1) as (pool, fakes):
        await pool.ready()
        async with pool.session(model="haiku", permission_mode="plan"):
            pass
        assert fakes.asked == [("mcp_status", None), ("set_model", "haiku"), ("set_permission_mode", "plan")]


async def test_one_that_died_while_it_waited_is_replaced() -> None:
    async with pool_of(2) as (pool, fakes):
        await pool.ready()
        fakes.clis[0].end(code=9)
        await until(lambda: pool.counts.died == 1)
        await pool.ready()
        assert len(fakes.sessions) == 3
        async with pool.session() as session:
            assert session is not fakes.sessions[0]


async def test_one_that_does_not_answer_is_passed_over() -> None:
    async with pool_of(1, health_timeout_s=0.05) as (pool, fakes):
        await pool.ready()
        fakes.mute = True
        async with pool.session() as session:
            assert session is not fakes.sessions[0]
        assert pool.counts.died >= 1
        await until(lambda: fakes.sessions[0].closed)


async def test_idle_ones_age_out() -> None:
    clock = Clock()
    async with pool_of(2, clock=clock, max_idle_s=60.0) as (pool, fakes):
        await pool.ready()
        clock.now += 61
        pool.tend()
        await pool.ready()
        assert pool.counts.aged_out == 2
        assert [session.closed for session in fakes.sessions] == [True, True, False, False]
        clock.now += 61
        async with pool.session() as session:
            assert session not in fakes.sessions[:4]


async def test_sessions_are_started_in_the_context_of_the_pool_not_of_a_taker() -> None:
    who = ContextVar("who", default="nobody")
    seen: list[str] = []

    class Noting(Fakes):
        def __call__(self, options: ClaudeAgentOptions) -> Session:
            seen.append(who.get())
            return super().__call__(options)

    fakes = Noting()
    who.set("the pool")
    async with asyncio.timeout(20), WarmPool(1, new_session=fakes) as pool:
        await pool.ready()
        who.set("a taker")
        async with pool.session():
            await pool.ready()
    await fakes.stop()
    assert seen == ["the pool", "the pool"]


async def test_only_so_many_start_at_a_time() -> None:
    async with pool_of(8, starting=3) as (pool, fakes):
        await pool.ready()
        assert len(fakes.sessions) == 8
        assert fakes.most_starting == 3


async def test_closing_ends_what_waits_and_what_is_being_started() -> None:
    fakes = Fakes()
    fakes.gate = asyncio.Event()
    pool = WarmPool(3, new_session=fakes)
    pool.start()
    await until(lambda: fakes.starting == 2)
    await pool.close()
    await fakes.stop()
    assert fakes.starting == 0
    with pytest.raises(CLIConnectionError, match="not open"):
        await pool.take()


async def test_a_cancelled_taker_leaves_nothing_behind() -> None:
    async with pool_of(1) as (pool, fakes):
        await pool.ready()
        fakes.mute = True
        taker = asyncio.create_task(pool.take())
        await until(lambda: pool.idle == 0)
        taker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taker
        await until(lambda: fakes.sessions[0].closed)


async def test_a_close_that_is_cancelled_still_ends_everything() -> None:
    fakes = Fakes()
    pool = WarmPool(2, new_session=fakes)
    pool.start()
    await pool.ready()
    closing = asyncio.create_task(pool.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await fakes.stop()
    assert [session.exit_status is not None for session in fakes.sessions] == [True, True]


async def test_starts_that_fail_are_not_repeated_at_full_speed() -> None:
    made = 0

    class Broken(Session):
        async def open(self) -> Session:
            nonlocal made
            made += 1
            raise CLINotFoundError("no claude here")

    async with WarmPool(3, new_session=lambda options: Broken(options)) as pool:
        with pytest.raises(TimeoutError, match="0 of 3 sessions were ready") as caught:
            await pool.ready(timeout_s=0.05)
        assert isinstance(caught.value.__cause__, CLINotFoundError)
        assert made <= 2
        with pytest.raises(CLINotFoundError):
            await pool.take()


@pytest.mark.parametrize(
    ("size", "options", "message"),
    [
        (0, {}, "at least 1"),
        (2, {"session_id": "11111111-2222-4333-8444-555555555555"}, "same session_id"),
        (2, {"resume": "a"}, "same conversation"),
        (2, {"continue_conversation": True}, "same conversation"),
    ],
)
def test_options_that_several_sessions_cannot_share_are_refused(
    size: int, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        WarmPool(size, ClaudeAgentOptions(**options))


# Under load


async def served(pool: WarmPool, chance: random.Random, kill: Callable[[Session], None]) -> str:
    """One customer, who may lose the session to the killer and then takes another."""
    for _ in range(20):
        try:
            async with pool.session() as session:
                if chance.random() < 0.2:
                    kill(session)
                ended = await session.prompt("hi")
                return str(ended.result)
        except (ProcessError, TransportClosed):
            continue
    raise AssertionError("twenty sessions died in a row")


async def test_a_pool_of_ten_killed_at_random_serves_on() -> None:
    chance = random.Random(7)
    async with pool_of(10, starting=4) as (pool, fakes):
        await pool.ready()

        def kill(session: Session) -> None:
            fakes.clis[fakes.sessions.index(session)].end(code=9)

        async def killer() -> None:
            while True:
                if pool.idle:
                    connection_of(chance.choice(idle_sessions(pool))).exited(ExitStatus(signal=9))
                await asyncio.sleep(0)

        killing = asyncio.create_task(killer())
        customers = asyncio.Semaphore(10)

        async def customer() -> str:
            async with customers:
                return await served(pool, chance, kill)

        results = await asyncio.gather(*(customer() for _ in range(200)))
        killing.cancel()
        assert results == ["served"] * 200
        assert pool.counts.died > 20
        await pool.ready()


async def test_a_pool_of_ten_processes_killed_at_random_serves_on(tmp_path: Path) -> None:
    claude = FakeClaude(tmp_path)
    claude.play(rules=[{"when": "hi", "steps": ["served"]}])
    chance = random.Random(11)
    pids: list[int] = []

    class Noted(Session):
        async def open(self) -> Session:
            opened = await super().open()
            pids.append(pid_of(self))
            return opened

    async with asyncio.timeout(100), WarmPool(10, claude.options(), new_session=lambda o: Noted(o)) as pool:
        await pool.ready()
        for victim in chance.sample([pid_of(one) for one in idle_sessions(pool)], 3):
            os.kill(victim, signal.SIGKILL)
        results = await asyncio.gather(*(served(pool, chance, murder) for _ in range(12)))
        assert results == ["served"] * 12
        assert pool.counts.died >= 1
    assert [pid for pid in pids if is_alive(pid)] == []


def pid_of(session: Session) -> int:
    pid = session.pid
    assert pid is not None
    return pid


def murder(session: Session) -> None:
    try:
        os.kill(pid_of(session), signal.SIGKILL)
    except ProcessLookupError:
        return  # dead already


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
