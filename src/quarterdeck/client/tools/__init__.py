"""Tools that run in this process, offered to Claude as an MCP server; without the ``mcp`` package.

``@tool`` defines one, ``create_sdk_mcp_server`` puts them on a server, ``ToolServer`` speaks the protocol.
"""

from quarterdeck.client.options_types import McpSdkServerConfig

from .adapters import Connectable, ServerConnection, adapt_server
from .annotations import ToolAnnotations
from .connection import ToolConnection
from .context import ToolContext
from .decorator import SdkMcpTool, tool
from .results import McpBlock, audio, image, resource, resource_link, text
from .server import ToolServer, create_sdk_mcp_server

__all__ = [
    "Connectable",
    "McpBlock",
    "McpSdkServerConfig",
    "SdkMcpTool",
    "ServerConnection",
    "ToolAnnotations",
    "ToolConnection",
    "ToolContext",
    "ToolServer",
    "adapt_server",
    "audio",
    "create_sdk_mcp_server",
    "image",
    "resource",
    "resource_link",
    "text",
    "tool",
]
