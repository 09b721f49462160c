"""Callbacks that are late, slow or in the way when a session ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chaos.kit import Chaos
from client.fake import session_and_cli, until
from inside import connection_of
from quarterdeck import (
    LATER,
    Aborted,
    CancelSignal,
    ClaudeAgentOptions,
    LocalProtocolError,
    PermissionResultAllow,
    ToolPermissionContext,
    TransportClosed,
)

BASH = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


class Later:
    """A permission callback that puts each decision off."""

    def __init__(self) -> None:
        self.signals: list[CancelSignal] = []

    async def __call__(self, _: str, __: Any, context: ToolPermissionContext) -> Any:
        self.signals.append(context.signal)  # type: ignore[arg-type]
        return LATER


async def test_a_request_put_off_still_learns_that_it_was_taken_back() -> None:
    later = Later()
    async with session_and_cli(ClaudeAgentOptions(can_use_tool=later)) as (session, cli):
        request_id = cli.ask("can_use_tool", **BASH)
        await until(lambda: session.pending() and later.signals)
        cli.cancel(request_id)
        await until(lambda: not session.pending())
        assert later.signals[0].aborted
        with pytest.raises(LocalProtocolError, match="withdrawn by the peer"):
            session.answer(request_id, PermissionResultAllow())


async def test_a_request_put_off_learns_that_the_session_was_closed() -> None:
    later = Later()
    async with session_and_cli(ClaudeAgentOptions(can_use_tool=later)) as (session, cli):
        cli.ask("can_use_tool", **BASH)
        await until(lambda: session.pending() and later.signals)
        assert not later.signals[0].aborted
    assert later.signals[0].aborted


async def test_a_callback_that_answers_while_the_session_closes_is_no_error(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        ask("p1", subtype="can_use_tool", tool_name="Bash", input={}, tool_use_id="t")
    time.sleep(0.3)
    """
    asked, closing = asyncio.Event(), asyncio.Event()

    async def decide(*_: Any) -> PermissionResultAllow:
        asked.set()
        await closing.wait()
        return PermissionResultAllow()

    async with chaos.session(source, can_use_tool=decide) as session:
        await session.prompt("hi").send()
        await asked.wait()
        closed = asyncio.create_task(session.close())
        await until(lambda: connection_of(session).side.input_closed)
        closing.set()
        await closed


async def test_a_closed_session_says_so_to_whoever_uses_it(chaos: Chaos) -> None:
    async with chaos.session() as session:
        pass
    for use in (session.prompt("hi").checked(), session.request("mcp_status"), session.send("hi")):
        with pytest.raises(TransportClosed, match="closed"):
            await use
    assert await session.next_message() is None


async def test_an_abort_ends_the_session_from_outside(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        init()
        for message in messages(): pass
    """
    abort = asyncio.Event()
    async with chaos.session(source, abort=abort) as session:
        turn = asyncio.create_task(session.prompt("hi").checked())
        await until(lambda: session.session_id)
        abort.set()
        with pytest.raises(Aborted, match="abort"):
            await turn
        assert chaos.left_running() == []
