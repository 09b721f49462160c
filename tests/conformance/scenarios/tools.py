"""Tools of the host's own process, and MCP servers."""

from __future__ import annotations

import sys
from typing import Any

from conformance.scenario import scenario
from conformance.stage import (
    Differs,
    Stage,
    expect,
    expect_that,
    of_kind,
    result_of,
    text_of,
    told,
    tool_results,
)
from quarterdeck.client import ControlError, Session, create_sdk_mcp_server, tool
from quarterdeck.testing.model import ToolUse
from quarterdeck.wire import InitMessage

ECHO_SERVER = """
import json, sys
schema = {"type": "object", "properties": {"text": {"type": "string"}}}
asked = {}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["id"] in asked:
        identifier = asked.pop(message["id"])
        result = {"content": [{"type": "text", "text": json.dumps(message.get("result"))}]}
        print(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": result}), flush=True)
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": name, "description": name, "inputSchema": schema} for name in ("echo", "ask")]}
    if message["method"] == "tools/call" and message["params"]["name"] == "ask":
        asked["ask-1"] = message["id"]
        wanted = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        print(json.dumps({"jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create",
                          "params": {"message": "Your name?", "requestedSchema": wanted}}), flush=True)
        continue
    if message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "echo:" + message["params"]["arguments"]["text"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool
async def broken() -> str:
    """Never works."""
    raise RuntimeError("out of order")


CALCULATOR = {"calc": create_sdk_mcp_server("calc", tools=[add, broken])}


def _echo(stage: Stage) -> dict[str, Any]:
    path = stage.folder / "server.py"
    path.write_text(ECHO_SERVER)
    return {"st": {"command": sys.executable, "args": [str(path)]}}


async def _called(stage: Stage, call: ToolUse, servers: dict[str, Any], **options: Any) -> list[Any]:
    stage.reply(call)
    stage.reply("Done.")
    async with stage.session(mcp_servers=servers, can_use_tool=stage.allow, **options) as session:
        return await told(session.prompt("use it"))


async def _status(session: Session, name: str) -> str | None:
    servers = {server.name: server.status for server in (await session.mcp_status()).mcp_servers or ()}
    return servers.get(name)


@scenario(
    "in-process tools",
    "A tool in the host process is called, and its result reaches the model",
    "003-sdk-mcp",
    "000-mcp-message-from-cli",
)
async def own_tool(stage: Stage) -> None:
    messages = await _called(stage, ToolUse("mcp__calc__add", {"a": 2, "b": 3}), CALCULATOR)
    expect("the result", [text_of(block) for block in tool_results(messages)], ["5"])
    expect("asked about", [name for name, _ in stage.asked], ["mcp__calc__add"])


@scenario("in-process tools", "Invalid arguments are an error for the model")
async def own_tool_bad_arguments(stage: Stage) -> None:
    messages = await _called(stage, ToolUse("mcp__calc__add", {"a": "two"}), CALCULATOR)
    expect("the error", [block.is_error for block in tool_results(messages)], [True])


@scenario("in-process tools", "A tool that raises is an error for the model")
async def own_tool_fails(stage: Stage) -> None:
    messages = await _called(stage, ToolUse("mcp__calc__broken", {}), CALCULATOR, allowed_tools=["mcp__calc__broken"])
    (block,) = tool_results(messages)
    expect_that("out of order" in text_of(block), "the model was not told the error")
    expect("the result", (block.is_error, result_of(messages).result), (True, "Done."))


@scenario("in-process tools", "init lists the server and its tools", "000-init-mcp-servers")
async def own_tools_listed(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session(mcp_servers=CALCULATOR) as session:
        (init,) = of_kind(await told(session.prompt("hi")), InitMessage)
    expect("the server", [(server.name, server.status) for server in init.mcp_servers or ()], [("calc", "connected")])
    expect("its tools", {name for name in init.tools or () if "calc" in name}, {"mcp__calc__add", "mcp__calc__broken"})


@scenario("MCP", "A tool of a stdio server that the CLI starts is called", "000-flag-mcp-config", "003-tool-mcp")
async def stdio_tool(stage: Stage) -> None:
    messages = await _called(stage, ToolUse("mcp__st__echo", {"text": "x"}), _echo(stage))
    expect("the result", [text_of(block) for block in tool_results(messages)], ["echo:x"])


@scenario("MCP", "A server's question reaches the host, and the answer reaches the server", "003-requests-from-cli")
async def mcp_elicitation(stage: Stage) -> None:
    questions: list[Any] = []

    def answer(request: Any, _: Any) -> dict[str, Any]:
        questions.append(request.message)
        return {"action": "accept", "content": {"name": "Bob"}}

    messages = await _called(stage, ToolUse("mcp__st__ask", {}), _echo(stage), on_elicitation=answer)
    expect("the question", questions, ["Your name?"])
    expect_that("Bob" in text_of(tool_results(messages)[0]), "the server was not told the answer")


@scenario("MCP", "mcp_status lists servers with their state and tools", "000-mcp-status")
async def mcp_status(stage: Stage) -> None:
    async with stage.session(mcp_servers=CALCULATOR) as session:
        servers = (await session.mcp_status()).mcp_servers or []
        expect("servers", len(servers), 1)
        server = servers[0]
        expect("the server", (server.name, server.status), ("calc", "connected"))
        expect("its tools", [one.name for one in server.tools or ()], ["add", "broken"])


@scenario("MCP", "A server that cannot start is reported as failed", alone=True)
async def mcp_failed(stage: Stage) -> None:
    async with stage.session(mcp_servers={"bad": {"command": "/nowhere/at/all"}}) as session:
        expect("the state", await _status(session, "bad"), "failed")


@scenario(
    "MCP", "Servers can be added and removed during a session", "000-mcp-set-servers", "003-dynamic-mcp", alone=True
)
async def mcp_set_servers(stage: Stage) -> None:
    async with stage.session(can_use_tool=stage.allow) as session:
        result = await session.set_mcp_servers(CALCULATOR)
        expect("added", (result.added, dict(result.errors or {})), (["calc"], {}))
        stage.reply(ToolUse("mcp__calc__add", {"a": 2, "b": 3}))
        stage.reply("Done.")
        messages = await told(session.prompt("use it"))
        expect("the result", [text_of(block) for block in tool_results(messages)], ["5"])
        expect("removed", (await session.set_mcp_servers({})).removed, ["calc"])


@scenario("MCP", "A server can be switched off and on", "003-dynamic-mcp", alone=True)
async def mcp_toggle(stage: Stage) -> None:
    async with stage.session(mcp_servers=_echo(stage)) as session:
        await session.toggle_mcp_server("st", False, timeout_s=stage.patience_s)
        expect("the state", await _status(session, "st"), "disabled")
        await session.toggle_mcp_server("st", True, timeout_s=stage.patience_s)
        expect("the state", await _status(session, "st"), "connected")


@scenario("MCP", "Reconnecting an unknown server is refused", "003-dynamic-mcp")
async def mcp_reconnect(stage: Stage) -> None:
    async with stage.session(mcp_servers=_echo(stage)) as session:
        await session.reconnect_mcp_server("st", timeout_s=stage.patience_s)
        try:
            await session.reconnect_mcp_server("nope", timeout_s=stage.patience_s)
        except ControlError as error:
            expect("the refusal", error.error, "Server not found: nope")
        else:
            raise Differs("reconnecting nope was not refused")


@scenario("MCP", "The host can call a tool without the model")
async def mcp_call(stage: Stage) -> None:
    async with stage.session(mcp_servers=_echo(stage)) as session:
        await session.mcp_status()
        result = await session.call_mcp_tool("mcp__st__echo", {"text": "direct"}, timeout_s=stage.patience_s)
        expect("the result", result.content, [{"type": "text", "text": "echo:direct"}])
