"""A server built with the ``mcp`` package, run in this process. Needs ``pip install 'quarterdeck[mcp]'``."""

import asyncio

try:
    from mcp.server.mcpserver import MCPServer
except ModuleNotFoundError:  # its name in mcp 1
    from mcp.server.fastmcp import FastMCP as MCPServer  # type: ignore[attr-defined, no-redef]

from _where import HOST
from quarterdeck import ClaudeAgentOptions, McpSdkServerConfig, connect

server = MCPServer("shop")


@server.tool()
def price(article: str) -> str:
    """The price of an article."""
    return f"{article}: 4.20"


async def main() -> None:
    shop = McpSdkServerConfig(type="sdk", name="shop", instance=server)
    async with connect(
        ClaudeAgentOptions(mcp_servers={"shop": shop}, allowed_tools=["mcp__shop__price"]), host=HOST
    ) as session:
        print((await session.prompt("What does the tea cost?")).result)


asyncio.run(main())
