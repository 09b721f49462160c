"""Requests that come one after the other: served by a task that stays, and still none feels another."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from typing import Any

from client.fake import FakeCli, session_and_cli, until
from inside import connection_of
from quarterdeck import ClaudeAgentOptions, PermissionResultAllow
from quarterdeck.protocol import AnswerReceived, RequestFailed

trail: contextvars.ContextVar[str] = contextvars.ContextVar("trail", default="clean")


def options(decide: Any) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(can_use_tool=decide)


def remembering_tasks() -> tuple[list[asyncio.Task[Any]], Any]:
    """A callback that allows all, and the tasks it ran in."""
    tasks = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        return PermissionResultAllow()

    return tasks, decide


def ask(cli: FakeCli, n: int) -> str:
    request_id = cli.prepare_to_ask(n)
    cli.flush()
    return request_id


async def ask_one_by_one(cli: FakeCli, count: int) -> None:
    for n in range(count):
        request_id = ask(cli, n)
        assert (await cli.expect(AnswerReceived)).request_id == request_id


async def test_one_task_serves_them_all_and_is_gone_with_the_session() -> None:
    before, tasks = asyncio.all_tasks(), set()

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        tasks.add(asyncio.current_task())
        if tool_input["n"] == 2:
            await asyncio.sleep(0)
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (session, cli):
        await ask_one_by_one(cli, 5)
        assert len(tasks) == 1
        assert not connection_of(session).requests.being_served
        await session.close()
        assert not any(task in asyncio.all_tasks() for task in tasks)
    await until(lambda: asyncio.all_tasks() <= before)


async def test_while_one_waits_the_next_is_served_by_another_task() -> None:
    gate = asyncio.Event()

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        if tool_input["n"] == 1:
            await gate.wait()
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (session, cli):
        await ask_one_by_one(cli, 1)
        slow = ask(cli, 1)
        quick = ask(cli, 2)
        assert (await cli.expect(AnswerReceived)).request_id == quick
        gate.set()
        assert (await cli.expect(AnswerReceived)).request_id == slow
        await ask_one_by_one(cli, 1)
        assert not connection_of(session).requests.being_served


async def test_a_context_variable_set_by_one_is_not_seen_by_the_next() -> None:
    seen = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        seen.append(trail.get())
        trail.set(f"left by {tool_input['n']}")
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        await ask_one_by_one(cli, 4)
    assert seen == ["clean"] * 4


async def test_one_that_is_taken_back_ends_and_the_next_is_served() -> None:
    ended = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        if tool_input["n"] == 1:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(context.signal.reason)
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (session, cli):
        await ask_one_by_one(cli, 1)
        taken_back = ask(cli, 1)
        await until(lambda: taken_back in session.pending())
        cli.side.cancel(taken_back)
        cli.flush()
        await until(lambda: bool(ended))
        last = ask(cli, 3)
        assert (await cli.expect(AnswerReceived)).request_id == last
        assert not connection_of(session).requests.being_served


async def test_one_that_is_taken_back_in_the_same_breath_is_not_served() -> None:
    served = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        served.append(tool_input["n"])
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (session, cli):
        await ask_one_by_one(cli, 1)
        request_id = cli.prepare_to_ask(7)
        cli.side.cancel(request_id)
        cli.flush()
        await ask_one_by_one(cli, 1)
        assert not connection_of(session).requests.being_served
    assert served == [0, 0]


async def test_a_handler_that_swallows_its_cancellation_does_not_serve_on() -> None:
    tasks = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        if tool_input["n"] == 0:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        await ask_one_by_one(cli, 2)
    assert tasks[0] is not tasks[1]


async def test_a_task_that_somebody_cancels_while_it_waits_leaves_no_request_without_an_answer() -> None:
    tasks, decide = remembering_tasks()
    async with session_and_cli(options(decide)) as (session, cli):
        await ask_one_by_one(cli, 1)
        tasks[0].cancel()
        await ask_one_by_one(cli, 1)  # before it has noticed
        assert tasks[0] is not tasks[1]
        tasks[1].cancel()
        await until(tasks[1].done)
        await ask_one_by_one(cli, 1)
        assert not connection_of(session).requests.being_served


async def test_a_task_that_is_called_and_cancelled_at_once_refuses_the_request() -> None:
    tasks, decide = remembering_tasks()
    async with session_and_cli(options(decide)) as (session, cli):
        await ask_one_by_one(cli, 1)
        request_id = cli.prepare_to_ask(1)
        connection_of(session).bytes_received(cli.side.outgoing())  # in a task: the other one is called a turn later
        tasks[0].cancel()
        failed = await cli.expect(RequestFailed)
        assert (failed.request_id, failed.error) == (request_id, "the handler was cancelled")
        await ask_one_by_one(cli, 1)
        assert not connection_of(session).requests.being_served
