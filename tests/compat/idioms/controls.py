"""Asking the CLI for something besides a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._setup import Recite, answers, attempt, chat, client, echo, options, program, sdk, show, write

MODEL = Recite(("claude-haiku", "claude-sonnet", "claude-opus"))


@program(MODEL, MODEL, MODEL)
async def set_model() -> None:
    async with client(model="claude-opus-4-5") as session:
        print((await answers(session, "Who?"))[-1].result)
        await session.set_model("claude-haiku-4-5")
        print((await answers(session, "Who?"))[-1].result)
        await session.set_model(None)
        print((await answers(session, "Who?"))[-1].result)


@program((write("a.txt"),), "Done.")
async def set_permission_mode() -> None:
    async with client() as session:
        await session.set_permission_mode("acceptEdits")
        show(await answers(session, "Go."))
        await attempt(session.set_permission_mode("yolo"))
    print(Path("a.txt").exists())


@chat
async def server_info() -> None:
    async with client() as session:
        info = await session.get_server_info()
        print(
            type(info).__name__,
            sorted(info),
            type(info["commands"]).__name__,
            sorted(info["commands"][0]),
            info.get("output_style"),
        )


@chat
async def mcp_status() -> None:
    @sdk.tool("x", "X", {})
    async def x(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": []}

    async with client(mcp_servers={"lab": sdk.create_sdk_mcp_server("lab", tools=[x])}) as session:
        await answers(session, "Hello?")
        status = await session.get_mcp_status()
        server = status["mcpServers"][0]
        print(
            type(status).__name__,
            sorted(status),
            server["name"],
            server["status"],
            [tool["name"] for tool in server["tools"]],
        )
        await session.toggle_mcp_server("lab", False)
        print((await session.get_mcp_status())["mcpServers"][0]["status"])
        await attempt(session.reconnect_mcp_server("none"))
        await attempt(session.toggle_mcp_server("none", True))


@chat
async def context_usage() -> None:
    async with client() as session:
        await answers(session, "Hello?")
        usage = await session.get_context_usage()
        print(
            type(usage).__name__,
            sorted(usage),
            type(usage["totalTokens"]).__name__,
            usage["maxTokens"],
            sorted(usage["categories"][0]),
        )


@program((write("a.txt"),), "Written.")
async def rewind() -> None:
    async with client(
        enable_file_checkpointing=True, permission_mode="acceptEdits", extra_args={"replay-user-messages": None}
    ) as session:
        messages = await answers(session, "Write.")
        point = next(message.uuid for message in messages if isinstance(message, sdk.UserMessage) and message.uuid)
        print(Path("a.txt").exists())
        await session.rewind_files(point)
        print(Path("a.txt").exists())
        await attempt(session.rewind_files("00000000-0000-4000-8000-000000000000"))


@chat
async def rewind_without_checkpoints() -> None:
    async with client() as session:
        await answers(session, "Hello?")
        await attempt(session.rewind_files("00000000-0000-4000-8000-000000000000"))


@chat
async def interrupt_without_a_turn() -> None:
    async with client() as session:
        await session.interrupt()
        show(await answers(session, "Hello?"))


@chat
async def stop_a_task_that_is_not_there() -> None:
    async with client() as session:
        await attempt(session.stop_task("none"))


@program(echo("one"), "Done.")
async def controls_during_a_turn() -> None:
    async with client(allowed_tools=["Bash"]) as session:
        await session.query("Go.")
        async for message in session.receive_response():
            if isinstance(message, sdk.AssistantMessage):
                print(sorted(await session.get_mcp_status()))
            show(message)


@chat
async def controls_after_the_end() -> None:
    session = sdk.ClaudeSDKClient(options())
    await session.connect()
    await session.disconnect()
    await attempt(session.interrupt())
