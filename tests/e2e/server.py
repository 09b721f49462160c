"""A small MCP server for the CLI to start: it echoes, asks a person for a name, and waits until it is told to stop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

SOURCE = """
import json, sys

def tool(name):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": name, "inputSchema": schema}

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

asking = {}
for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None and number in asking:
        told = json.dumps(message.get("result"))
        send(id=asking.pop(number), result={"content": [{"type": "text", "text": told}]})
    elif number is None:
        continue
    elif method == "initialize":
        info = {"name": "echo", "version": "1"}
        send(id=number, result={"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                "serverInfo": info})
    elif method == "tools/list":
        send(id=number, result={"tools": [tool("echo"), tool("ask")]})
    elif method == "tools/call" and params["name"] == "ask":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        asking["ask-1"] = number
        send(id="ask-1", method="elicitation/create", params={"message": "Your name?", "requestedSchema": schema})
    elif method == "tools/call":
        text = "echo:" + params.get("arguments", {}).get("text", "")
        send(id=number, result={"content": [{"type": "text", "text": text}]})
    else:
        send(id=number, error={"code": -32601, "message": "no such method"})
"""


def server_config(folder: Path) -> dict[str, Any]:
    """How the CLI starts it."""
    path = folder / "echo_server.py"
    path.write_text(SOURCE)
    return {"command": sys.executable, "args": ["-S", "-E", str(path)]}
