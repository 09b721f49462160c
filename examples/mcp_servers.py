"""MCP servers of a running session: add one, see how it is, call a tool yourself, switch it off.

The server is this very file, started by the CLI with the argument ``serve``. Needs ``pip install 'quarterdeck[mcp]'``.
"""

import asyncio
import sys

from _where import HOST
from quarterdeck import McpStdioServerConfig, Session, connect


def serve() -> None:
    try:
        from mcp.server.mcpserver import MCPServer
    except ModuleNotFoundError:  # its name in mcp 1
        from mcp.server.fastmcp import FastMCP as MCPServer  # type: ignore[attr-defined, no-redef]

    server = MCPServer("voice")

    @server.tool()
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    server.run()


async def main() -> None:
    async with connect(host=HOST) as session:
        voice = McpStdioServerConfig(command=sys.executable, args=[__file__, "serve"])
        changed = await session.set_mcp_servers({"voice": voice})
        print("added:", changed.added, "errors:", changed.errors)
        print(await status_of(session, "voice"))
        answer = await session.call_mcp_tool("mcp__voice__shout", {"text": "hello"})
        print("called:", answer.content)
        await session.toggle_mcp_server("voice", False)
        print(await status_of(session, "voice"))


async def status_of(session: Session, name: str) -> str:
    status = await session.mcp_status()
    return next(f"{server.name}: {server.status}" for server in status.mcp_servers if server.name == name)


if "serve" in sys.argv:
    serve()
else:
    asyncio.run(main())
