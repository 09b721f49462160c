"""An MCP server asks the user for something in the middle of a tool call.

The server is this very file, started by the CLI with the argument ``serve``: MCP in its barest form. Without
``on_elicitation`` such questions are declined.
"""

import asyncio
import json
import sys
from typing import Any

from _where import HOST
from quarterdeck import CancelSignal, ClaudeAgentOptions, ElicitationRequest, McpStdioServerConfig, connect

FORM = {"type": "object", "properties": {"guests": {"type": "integer"}}, "required": ["guests"]}


async def ask(request: ElicitationRequest, signal: CancelSignal) -> dict[str, Any]:
    print(request.mcp_server_name, "asks:", request.message)
    return {"action": "accept", "content": {"guests": 4}}


async def main() -> None:
    tables = McpStdioServerConfig(command=sys.executable, args=[__file__, "serve"])
    options = ClaudeAgentOptions(
        mcp_servers={"tables": tables}, allowed_tools=["mcp__tables__book"], on_elicitation=ask
    )
    async with connect(options, host=HOST) as session:
        print((await session.prompt("Book a table for tonight.")).result)


def serve() -> None:
    def say(**message: Any) -> None:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    call: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                version = message["params"]["protocolVersion"]
                server = {"name": "tables", "version": "1"}
                say(
                    id=message["id"],
                    result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server},
                )
            case "tools/list":
                tool = {"name": "book", "description": "Book a table", "inputSchema": {"type": "object"}}
                say(id=message["id"], result={"tools": [tool]})
            case "tools/call":
                call = message["id"]
                say(id="q", method="elicitation/create", params={"message": "For how many?", "requestedSchema": FORM})
            case None if message.get("id") == "q":
                booked = f"booked for {message['result'].get('content', {}).get('guests', 'nobody')}"
                say(id=call, result={"content": [{"type": "text", "text": booked}]})
            case _ if "id" in message:
                say(id=message["id"], result={})


if "serve" in sys.argv:
    serve()
else:
    asyncio.run(main())
