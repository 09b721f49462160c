"""A task is cancelled at each point where it waits, once and twice: nothing stays behind, whatever it was doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from chaos.kit import POLITE, CancelAt, Chaos, other_tasks_end
from quarterdeck import ClaudeSDKClient, PermissionResultAllow, ResultMessage, create_sdk_mcp_server, query, tool

MOST_STEPS = 200

ASKING = """
for prompt in prompts():
    init()
    ask("p1", subtype="can_use_tool", tool_name="Bash", input={}, tool_use_id="t")
    ask("m1", subtype="mcp_message", server_name="s", message={"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "wait", "arguments": {}}})
    answer_to("p1")
    result()
"""


async def one_session(chaos: Chaos) -> str | None:
    async with chaos.session() as session:
        return (await session.prompt("hi")).result


async def one_session_that_asks(chaos: Chaos) -> str | None:
    """With a permission callback that waits and a tool that never ends."""

    @tool
    async def wait() -> str:
        """Waits."""
        await asyncio.Event().wait()
        return ""

    async def decide(*_: Any) -> PermissionResultAllow:
        for _ in range(3):
            await asyncio.sleep(0)
        return PermissionResultAllow()

    servers = {"s": create_sdk_mcp_server("s", tools=[wait])}
    async with chaos.session(ASKING, can_use_tool=decide, mcp_servers=servers) as session:
        return (await session.prompt("hi")).result


async def one_query(chaos: Chaos) -> str | None:
    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "hi"}}

    stream = query(prompt=prompts(), options=chaos.options(POLITE))
    try:
        return [message.result async for message in stream if isinstance(message, ResultMessage)][0]  # noqa: RUF015
    finally:
        await stream.aclose()  # type: ignore[attr-defined]  # an async generator, typed as an iterator


async def one_client(chaos: Chaos) -> str | None:
    async with ClaudeSDKClient(chaos.options(POLITE)) as client:
        await client.query("hi")
        results = [message async for message in client.receive_response() if isinstance(message, ResultMessage)]
        return results[0].result


async def a_control_call(chaos: Chaos) -> str | None:
    async with chaos.session() as session:
        await session.request("oracle")
        return "done"


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("life", [one_session, one_session_that_asks, one_query, one_client, a_control_call])
async def test_a_cancellation_anywhere_leaves_nothing_behind(
    chaos: Chaos, life: Callable[[Chaos], Awaitable[str | None]], times: int
) -> None:
    for step in range(MOST_STEPS):
        attempt = CancelAt(life(chaos), step, times=times)
        task = asyncio.create_task(_awaited(attempt))
        await asyncio.wait([task])
        if not attempt.cancelled:
            assert task.result() == "done"
            break
        assert task.cancelled(), f"cancelled at step {step}, it ended with {task}"
        await other_tasks_end()
        assert chaos.left_running() == [], f"after a cancellation at step {step}"
    else:
        raise AssertionError(f"more than {MOST_STEPS} steps")
    assert step >= 3


async def _awaited(attempt: CancelAt) -> Any:
    return await attempt
