"""Tools in this process and MCP servers of the CLI's own, on the newest CLI."""

from __future__ import annotations

import asyncio
import base64
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from e2e.kit import Stage, next_of
from e2e.server import server_config
from quarterdeck import (
    ControlError,
    ElicitationRequest,
    ResultMessage,
    ToolContext,
    create_sdk_mcp_server,
    tool,
)
from quarterdeck.testing.model import ToolUse

pytestmark = pytest.mark.real

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060"
        "0000000500010d0a2db40000000049454e44ae426082"
    )
).decode()


async def test_a_tool_reports_progress(stage: Stage) -> None:
    seen: list[ToolContext] = []

    @tool
    async def slow(context: ToolContext) -> str:
        """Takes two steps."""
        seen.append(context)
        await context.progress(1, total=2, message="half")
        return "done"

    servers = {"steps": create_sdk_mcp_server("steps", tools=[slow])}
    async with stage.session(mcp_servers=servers, allowed_tools=["mcp__steps"]) as session:
        stage.model.reply(ToolUse("mcp__steps__slow", {}))
        stage.model.reply("seen")
        await session.prompt("go")
    assert stage.tool_results() == ["done"]
    assert "progressToken" in seen[0].meta


async def test_a_tool_returns_pictures_and_is_cancelled(stage: Stage) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()
    seen: list[ToolContext] = []

    @tool
    async def picture(context: ToolContext) -> Any:
        """A very small picture."""
        seen.append(context)
        image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        return {"content": [{"type": "text", "text": "here"}, image]}

    @tool
    async def endless() -> str:
        """Never ends."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ""

    servers = {"camera": create_sdk_mcp_server("camera", tools=[picture, endless])}
    async with stage.session(mcp_servers=servers, allowed_tools=["mcp__camera"]) as session:
        stage.model.reply(ToolUse("mcp__camera__picture", {}, id="toolu_picture"))
        stage.model.reply("seen")
        await session.prompt("look")
        (block,) = stage.model.conversation[-1].messages[-1]["content"][:1]
        assert [part["type"] for part in block["content"]][:2] == ["text", "image"]
        assert block["content"][1]["source"]["data"] == PIXEL
        assert seen[0].tool_use_id == "toolu_picture"
        stage.model.reply(ToolUse("mcp__camera__endless", {}))
        await session.send("wait")
        await started.wait()
        await session.interrupt()
        assert (await next_of(session, ResultMessage)).failed
        await cancelled.wait()


async def test_tools_can_be_added_while_the_session_runs(stage: Stage) -> None:
    @tool
    async def old() -> str:
        """The first tool."""
        return "old"

    @tool
    async def new() -> str:
        """The second tool."""
        return "new"

    config = create_sdk_mcp_server("box", tools=[old], always_load=True)
    async with stage.session(mcp_servers={"box": config}, allowed_tools=["mcp__box"]) as session:
        stage.model.reply("one tool")
        await session.prompt("which?")
        assert "mcp__box__new" not in stage.model.conversation[-1].tool_names
        config["instance"].add(new)

        async def listed() -> bool:
            (server,) = (await session.mcp_status())["mcpServers"]
            return "new" in [entry["name"] for entry in server.get("tools") or ()]

        while not await listed():
            pass
        stage.model.reply(ToolUse("mcp__box__new", {}))
        stage.model.reply("two tools")
        await session.prompt("and now?")
        assert stage.tool_results() == ["new"]


async def test_a_server_of_the_mcp_package_is_taken_as_it_is(stage: Stage) -> None:
    newer = find_spec("mcp.server.mcpserver") is not None
    server: Any = (
        import_module("mcp.server.mcpserver").MCPServer("legacy")
        if newer
        else import_module("mcp.server.fastmcp").FastMCP("legacy")
    )

    @server.tool()
    def shout(text: str) -> str:
        """Say it loudly."""
        return text.upper()

    servers = {"legacy": {"type": "sdk", "name": "legacy", "instance": server}}
    async with stage.session(mcp_servers=servers, allowed_tools=["mcp__legacy"]) as session:
        stage.model.reply(ToolUse("mcp__legacy__shout", {"text": "ahoy"}))
        stage.model.reply("loud")
        await session.prompt("shout")
        assert "AHOY" in stage.tool_results()[0]


async def test_a_server_asks_a_person_and_takes_no_for_an_answer(stage: Stage) -> None:
    answers = iter([{"action": "accept", "content": {"name": "Bob"}}, {"action": "decline"}])
    asked: list[ElicitationRequest] = []

    async def answer(request: ElicitationRequest, _: Any) -> dict[str, Any]:
        asked.append(request)
        return next(answers)

    servers = {"st": server_config(stage.folder)}
    options = {"mcp_servers": servers, "allowed_tools": ["mcp__st"], "on_elicitation": answer}
    async with stage.session(**options) as session:
        for told in ('"Bob"', "decline"):
            stage.model.reply(ToolUse("mcp__st__ask", {}))
            stage.model.reply("asked")
            await session.prompt("ask me")
            assert told in stage.tool_results()[0]
    assert [(request.mcp_server_name, request.message) for request in asked] == [("st", "Your name?")] * 2


async def test_servers_are_looked_at_switched_replaced_and_called(stage: Stage) -> None:
    async with stage.session(mcp_servers={"st": server_config(stage.folder)}, allowed_tools=["mcp__other"]) as session:

        async def states() -> dict[str, str]:
            return {server.name: server.status for server in (await session.mcp_status()).mcp_servers}

        async def state_is(wanted: str) -> None:
            while (await states())["st"] != wanted:
                pass

        await state_is("connected")
        called = await session.call_mcp_tool("mcp__st__echo", {"text": "direct"})
        assert "echo:direct" in str(called.to_dict())
        await session.toggle_mcp_server("st", False)
        await state_is("disabled")
        await session.toggle_mcp_server("st", True)
        await session.reconnect_mcp_server("st")
        await state_is("connected")
        with pytest.raises(ControlError):
            await session.reconnect_mcp_server("nobody")
        with pytest.raises(ControlError):
            await session.read_mcp_resource("st", "mem://x")
        assert (await session.set_mcp_servers({"other": server_config(stage.folder)})).added == ["other"]
        stage.model.reply(ToolUse("mcp__other__echo", {"text": "again"}))
        stage.model.reply("replaced")
        await session.prompt("use it")
        assert "echo:again" in stage.tool_results()[0]
        assert (await session.set_mcp_servers({})).removed == ["other"]


async def test_a_server_in_this_process_can_be_added_while_the_session_runs(stage: Stage) -> None:
    @tool
    async def late() -> str:
        """Comes late."""
        return "better late"

    async with stage.session(allowed_tools=["mcp__late"]) as session:
        added = await session.set_mcp_servers({"late": create_sdk_mcp_server("late", tools=[late])})
        assert added.added == ["late"]
        stage.model.reply(ToolUse("mcp__late__late", {}))
        stage.model.reply("late it was")
        await session.prompt("use it")
        assert stage.tool_results() == ["better late"]
        assert (await session.set_mcp_servers({})).removed == ["late"]
