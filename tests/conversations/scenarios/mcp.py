"""Tool servers: inside the client (SDK servers, over mcp_message) and as child processes of the CLI."""

from __future__ import annotations

import json
from typing import Any

from conversations.scenarios._registry import every, newest
from conversations.stage import Stage
from quarterdeck.testing.model import ToolUse

ECHO_SERVER = """
import json, sys, time

def tool(name):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": name, "inputSchema": schema}

asked = {}
for line in sys.stdin:
    message = json.loads(line)
    method, identifier = message.get("method"), message.get("id")
    if method is None and identifier in asked:
        call = asked.pop(identifier)
        result = {"content": [{"type": "text", "text": json.dumps(message.get("result"))}]}
        print(json.dumps({"jsonrpc": "2.0", "id": call, "result": result}), flush=True)
        continue
    if identifier is None:
        continue
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [tool("echo"), tool("ask"), tool("slow")]}
    elif method == "tools/call" and message["params"]["name"] == "ask":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        asked["ask-1"] = identifier
        print(json.dumps({"jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create",
                          "params": {"message": "Your name?", "requestedSchema": schema}}), flush=True)
        continue
    elif method == "tools/call":
        if message["params"]["name"] == "slow":
            time.sleep(float(message["params"]["arguments"]["text"]))
        result = {"content": [{"type": "text", "text": "echo:" + message["params"]["arguments"].get("text", "")}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": identifier, "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": result}), flush=True)
"""


def stdio_server(stage: Stage) -> dict[str, Any]:
    """How the CLI starts the tool server above."""
    path = stage.folder / "server.py"
    path.write_text(ECHO_SERVER)
    return {"command": "/usr/bin/python3", "args": [str(path)]}


def stdio_config(stage: Stage) -> str:
    return json.dumps({"mcpServers": {"st": stdio_server(stage)}})


def sdk_server(request: dict[str, Any]) -> Any:
    """A tool server inside the client: one tool that adds."""
    message = request["message"]
    schema = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    match message.get("method"):
        case "initialize":
            result: Any = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "calc", "version": "1.0"},
            }
        case "tools/list":
            result = {"tools": [{"name": "add", "description": "Add two numbers", "inputSchema": schema}]}
        case "tools/call":
            numbers = message["params"]["arguments"]
            result = {"content": [{"type": "text", "text": str(numbers["a"] + numbers["b"])}]}
        case _:
            result = {}
    return {"mcp_response": {"jsonrpc": "2.0", "id": message.get("id", 0), "result": result}}


@every
def sdk_mcp(stage: Stage) -> None:
    stage.model.reply(ToolUse("mcp__calc__add", {"a": 2, "b": 3}))
    stage.model.reply("It is 5.")
    config = json.dumps({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}})
    with stage.claude("--mcp-config", config, "--allowedTools", "mcp__calc__add") as run:
        run.on("mcp_message", sdk_server)
        run.allow_tools()
        run.initialize(sdkMcpServers=["calc"])
        run.turn("Add 2 and 3")


@newest
def sdk_mcp_error_and_list_changed(stage: Stage) -> None:
    stage.model.reply(ToolUse("mcp__calc__add", {"a": 2, "b": 3}))
    stage.model.reply("It failed.")

    def server(request: dict[str, Any]) -> Any:
        if request["message"].get("method") == "tools/call":
            return RuntimeError("the tool server exploded")
        return sdk_server(request)

    with stage.claude() as run:
        run.on("mcp_message", server)
        run.allow_tools()
        run.initialize(sdkMcpServers=["calc"])
        run.turn("Add 2 and 3")
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        run.control("mcp_message", server_name="calc", message=changed)
        listing = run.asked("mcp_message")
        run.answer(listing, sdk_server(listing["request"]))
        run.control("mcp_status")


@newest
def mcp_elicitation(stage: Stage) -> None:
    stage.model.reply(ToolUse("mcp__st__ask", {}))
    stage.model.reply("Hello Bob.")
    stage.model.reply(ToolUse("mcp__st__ask", {}))
    stage.model.reply("No name then.")
    answers = iter([{"action": "accept", "content": {"name": "Bob"}}, {"action": "decline"}])
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.allow_tools()
        run.on("elicitation", lambda _: next(answers))
        run.initialize()
        run.turn("Ask me")
        run.turn("Ask me again")


@newest
def keep_alive_in_slow_mcp_call(stage: Stage) -> None:
    """36 s: a ``keep_alive`` comes after 30 s of an ``mcp_call``."""
    stage.model.reply("hi")
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.initialize()
        run.turn("hi")
        run.control("mcp_call", tool="mcp__st__slow", arguments={"text": "33"}, timeout_s=45)


@newest
def tool_progress_slow_mcp_tool(stage: Stage) -> None:
    """36 s: ``tool_progress`` comes after 30 s of a tool."""
    stage.model.reply(ToolUse("mcp__st__slow", {"text": "33"}))
    stage.model.reply("That took long.")
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.allow_tools()
        run.initialize()
        run.turn("Slowly", timeout_s=50)
