"""``ClaudeSDKClient`` on the newest CLI: all its methods, with the meaning they have in the official SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from e2e.kit import LIMIT_S, Stage, of_kind, reached
from e2e.server import server_config
from quarterdeck import (
    AssistantMessage,
    ClaudeSDKClient,
    CLIConnectionError,
    ControlError,
    ResultMessage,
    SystemMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    query,
)
from quarterdeck.testing.model import Stall, ToolUse

pytestmark = pytest.mark.real


async def test_all_methods_of_the_client(stage: Stage) -> None:
    uuid = "aaaaaaaa-0000-4000-8000-000000000001"
    client = ClaudeSDKClient(
        stage.options(
            mcp_servers={"st": server_config(stage.folder)},
            enable_file_checkpointing=True,
            can_use_tool=stage.allow,
        ),
        **stage.at,
    )
    with pytest.raises(CLIConnectionError, match="Not connected"):
        await client.query("too early")
    async with asyncio.timeout(LIMIT_S):
        stage.model.reply("hello")
        await client.connect("hi")
        messages = [message async for message in client.receive_response()]
        assert [result.result for result in of_kind(messages, ResultMessage)] == ["hello"]

        await client.set_model("haiku")
        await client.set_permission_mode("acceptEdits")
        path = stage.cwd / "written"
        stage.model.reply(ToolUse("Write", {"file_path": str(path), "content": "x"}))
        stage.model.reply("written")

        async def prompts() -> AsyncIterator[dict[str, Any]]:
            yield {"type": "user", "message": {"role": "user", "content": "write"}, "uuid": uuid}

        await client.query(prompts())
        async for message in client.receive_messages():
            if isinstance(message, ResultMessage):
                break
        assert path.exists()
        assert "haiku" in stage.model.conversation[-1].model
        await client.rewind_files(uuid)
        assert not path.exists()

        gate = stage.model.gate()
        stage.model.reply("A long answer.", Stall(after=4, until=gate))
        await client.query("talk")
        await reached(gate)
        await client.interrupt()
        (result,) = of_kind([message async for message in client.receive_response()], ResultMessage)
        assert result.subtype == "error_during_execution"

        await client.toggle_mcp_server("st", False)
        await client.toggle_mcp_server("st", True)
        await client.reconnect_mcp_server("st")
        (server,) = (await client.get_mcp_status())["mcpServers"]
        assert (server["name"], server["status"]) == ("st", "connected")
        assert (await client.get_context_usage())["totalTokens"] > 0
        info = await client.get_server_info()
        assert info is not None
        assert info["commands"]

        stage.model.reply(ToolUse("Bash", {"command": "echo begun; sleep 50", "run_in_background": True}))
        stage.model.reply("It runs.")
        await client.query("background")
        (task,) = of_kind([message async for message in client.receive_response()], TaskStartedMessage)
        await client.stop_task(task.task_id)
        async for message in client.receive_messages():
            if isinstance(message, TaskNotificationMessage):
                assert message.status == "stopped"
                break
        await client.disconnect()
    with pytest.raises(CLIConnectionError, match="Not connected"):
        await client.interrupt()
    await client.disconnect()


async def test_a_stream_given_to_connect_is_sent_as_it_comes(stage: Stage) -> None:
    answered = asyncio.Event()

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for text in ("one", "two"):
            stage.model.reply(f"to {text}")
            yield {"type": "user", "message": {"role": "user", "content": text}}
            await answered.wait()
            answered.clear()

    client = ClaudeSDKClient(stage.options(), **stage.at)
    async with asyncio.timeout(LIMIT_S):
        await client.connect(prompts())
        spoken = []
        async for message in client.receive_messages():
            if isinstance(message, AssistantMessage):
                spoken.append(message.content[0].text)
            if isinstance(message, ResultMessage):
                answered.set()
        await client.disconnect()
    assert spoken == ["to one", "to two"]


async def test_a_query_starts_with_init_and_ends_with_the_result(stage: Stage) -> None:
    """We give prompts a uuid, by which the CLI tells what becomes of them in messages the official SDK has not."""
    stage.model.reply("hello")
    async with asyncio.timeout(LIMIT_S):
        messages = [message async for message in query(prompt="hi", options=stage.options(), **stage.at)]
    assert (type(messages[0]), messages[0].subtype) == (SystemMessage, "init")
    assert messages[0].data["cwd"] == str(stage.cwd)
    assert messages[-1].result == "hello"
    official = {"SystemMessage", "AssistantMessage", "UserMessage", "ResultMessage", "RateLimitEvent"}
    assert {type(message).__name__ for message in messages} <= official


async def test_nothing_of_one_response_leaks_into_the_next(stage: Stage) -> None:
    async with asyncio.timeout(LIMIT_S), ClaudeSDKClient(stage.options(), **stage.at) as client:
        for number in (1, 2, 3):
            stage.model.reply(f"answer {number}")
            await client.query(f"question {number}")
            messages = [message async for message in client.receive_response()]
            assert (type(messages[0]), messages[0].subtype) == (SystemMessage, "init")
            assert messages[-1].result == f"answer {number}"


async def test_the_client_has_the_control_methods_of_a_session(stage: Stage) -> None:
    async with asyncio.timeout(LIMIT_S), ClaudeSDKClient(stage.options(), **stage.at) as client:
        assert (await client.permission_rules()).to_dict()
        assert (await client.binary_version()).version
        assert client.server_info.commands == client.commands()
        with pytest.raises(ControlError) as refused:
            await client.request("levitate")
        assert refused.value.subtype == "levitate"
