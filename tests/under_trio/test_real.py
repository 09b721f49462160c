"""The client under trio, on the real CLI with a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from e2e.conftest import stage_in
from e2e.kit import LIMIT_S, Stage
from quarterdeck import (
    AssistantMessage,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
    connect,
    create_sdk_mcp_server,
    query,
    tool,
)
from quarterdeck.policy import Policy
from quarterdeck.testing.model import Stall, ToolUse

pytestmark = pytest.mark.real

TOUCH = ToolUse("Bash", {"command": "touch made.txt", "description": "Make a file"})


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with stage_in(tmp_path) as stage:
        yield stage


def run(main: Any) -> Any:
    async def bounded() -> Any:
        with trio.fail_after(LIMIT_S):
            return await main()

    return trio.run(bounded)


async def test_a_conversation_with_permission_and_tool_also_inside_a_running_loop(stage: Stage) -> None:
    seen: list[Any] = []

    async def allow(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        await trio.lowlevel.checkpoint()
        seen.append(name)
        return PermissionResultAllow()

    @tool
    async def add(a: int, b: int) -> str:
        """Add two numbers."""
        await trio.lowlevel.checkpoint()
        return str(a + b)

    servers: Any = {"calc": create_sdk_mcp_server("calc", tools=[add])}
    stage.model.reply(TOUCH)
    stage.model.reply("made")
    stage.model.reply(ToolUse("mcp__calc__add", {"a": 2, "b": 3}))
    stage.model.reply("five")

    async def main() -> None:
        async with ClaudeSDKClient(stage.options(can_use_tool=allow, mcp_servers=servers)) as client:
            results: list[Any] = []
            for word in ("make it", "add"):
                await client.query(word)
                results += [one.result async for one in client.receive_response() if isinstance(one, ResultMessage)]
            assert results == ["made", "five"]
            assert stage.tool_results() == ["5"]
            assert (await client.get_context_usage())["totalTokens"] > 0

    run(main)
    assert seen == ["Bash", "mcp__calc__add"]
    assert (stage.cwd / "made.txt").exists()


def test_query_and_a_cancelled_scope_in_the_middle_of_a_turn(stage: Stage) -> None:
    stage.model.reply("hello")
    stage.model.reply("1 2 3 4 5 6 7 8 9 10 11 12 13", Stall(after=4), delta_size=5)

    async def main() -> None:
        kinds = [type(message) async for message in query(prompt="hi", options=stage.options())]
        assert AssistantMessage in kinds and ResultMessage in kinds
        with trio.CancelScope() as scope:
            async with connect(stage.options(include_partial_messages=True)) as session:
                async for message in session.prompt("count"):
                    if isinstance(message, StreamEvent):
                        scope.cancel()
        assert scope.cancelled_caught and session.closed
        assert session.exit_status is not None

    run(main)
    assert stage.left_running() == []


def test_what_a_policy_denies_is_not_run_although_permissions_are_bypassed(stage: Stage) -> None:
    policy = Policy.from_rules(deny=["Bash(touch:*)"], cwd=stage.cwd)
    stage.model.reply(TOUCH)
    stage.model.reply("not made")

    async def main() -> None:
        options = stage.options(
            can_use_tool=policy,
            permission_mode="bypassPermissions",
            allow_dangerously_skip_permissions=True,
            env={"IS_SANDBOX": "1"},
        )
        async with connect(options) as session:
            await session.prompt("make it")

    run(main)
    assert "Bash(touch:*) matches" in stage.tool_results()[0]
    assert not (stage.cwd / "made.txt").exists()
