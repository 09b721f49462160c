"""Requests that arrive in one piece: served by one task as long as nobody waits, and still none feels another."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest

from client.fake import FakeCli, session_and_cli, until
from quarterdeck import ClaudeAgentOptions, PermissionResultAllow
from quarterdeck.client.serving import WRITTEN_TOGETHER
from quarterdeck.protocol import AnswerReceived

COUNT = 20
trail: contextvars.ContextVar[str] = contextvars.ContextVar("trail", default="clean")


def ask_all(cli: FakeCli, count: int = COUNT) -> list[str]:
    """In one write, so that the session gets them in one piece."""
    ids = [cli.prepare_to_ask(n) for n in range(count)]
    cli.flush()
    return ids


async def answered(cli: FakeCli, count: int = COUNT) -> list[str]:
    return [(await cli.expect(AnswerReceived)).request_id for _ in range(count)]


def options(decide: Any) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(can_use_tool=decide)


async def test_those_that_do_not_wait_share_a_task_and_are_answered_in_order() -> None:
    tasks = set()

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        tasks.add(asyncio.current_task())
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ids = ask_all(cli)
        assert await answered(cli) == ids
    assert len(tasks) == 1


async def test_the_first_answers_are_written_before_the_last_request_is_served() -> None:
    written_before: list[int] = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        written_before.append(session.journal.length)
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (session, cli):
        count = 3 * WRITTEN_TOGETHER
        ids = ask_all(cli, count)
        assert await answered(cli, count) == ids
    assert written_before[-1] - written_before[0] == 2 * WRITTEN_TOGETHER


@pytest.mark.parametrize("slow", [0, 7, COUNT - 1])
async def test_one_that_waits_holds_nobody_up(slow: int) -> None:
    gate = asyncio.Event()

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        if tool_input["n"] == slow:
            async with asyncio.timeout(10):
                await gate.wait()
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ids = ask_all(cli)
        assert sorted(await answered(cli, COUNT - 1)) == sorted(set(ids) - {ids[slow]})
        gate.set()
        assert await answered(cli, 1) == [ids[slow]]


async def test_when_all_wait_all_wait_at_once() -> None:
    inside = 0
    gate = asyncio.Event()

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        nonlocal inside
        inside += 1
        await gate.wait()
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ids = ask_all(cli)
        await until(lambda: inside == COUNT)
        gate.set()
        assert sorted(await answered(cli)) == sorted(ids)


async def test_a_context_variable_set_by_one_is_not_seen_by_the_next() -> None:
    seen = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        seen.append(trail.get())
        if tool_input["n"] % 3 == 0:
            trail.set(f"left by {tool_input['n']}")
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ask_all(cli)
        await answered(cli)
    assert seen == ["clean"] * COUNT


async def test_a_handler_that_cancels_its_own_task_cancels_no_other() -> None:
    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        if tool_input["n"] == 3:
            task.cancel()
        else:
            await asyncio.sleep(0)
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ids = ask_all(cli)
        assert sorted(await answered(cli)) == sorted(ids)


async def test_a_handler_that_raises_or_is_cancelled_spares_the_others(caplog: pytest.LogCaptureFixture) -> None:
    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        if tool_input["n"] == 2:
            raise asyncio.CancelledError
        if tool_input["n"] == 4:
            raise ValueError("no idea")
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ids = ask_all(cli)
        answers = await answered(cli, COUNT - 2)
        assert sorted(answers) == sorted({*ids} - {ids[2], ids[4]})
    assert caplog.messages == ["The callback for can_use_tool failed: no idea"]


async def test_one_that_is_taken_back_in_the_same_breath_is_not_served() -> None:
    served = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        served.append(tool_input["n"])
        return PermissionResultAllow()

    async with session_and_cli(options(decide)) as (_, cli):
        ids = [cli.prepare_to_ask(n) for n in range(3)]
        cli.side.cancel(ids[1])
        cli.flush()
        assert await answered(cli, 2) == [ids[0], ids[2]]
    assert served == [0, 2]


async def test_the_end_of_the_session_ends_those_that_wait() -> None:
    cancelled = []

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(context.signal.reason)

    async with session_and_cli(options(decide)) as (session, cli):
        ask_all(cli, 3)
        await until(lambda: len(session.pending()) == 3)
        await session.close()
    assert cancelled == ["Claude Code has ended"] * 3
