"""Tools that run in this process, offered to Claude as an MCP server; without the ``mcp`` package.

``@tool`` defines one, ``create_sdk_mcp_server`` puts them on a server, ``ToolServer`` speaks the protocol.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from quarterdeck.client.options_types import McpSdkServerConfig

    from .adapters import Connectable, ServerConnection, adapt_server
    from .annotations import ToolAnnotations
    from .connection import ToolConnection
    from .context import ToolContext
    from .decorator import SdkMcpTool, tool
    from .results import McpBlock, audio, image, resource, resource_link, text
    from .server import ToolServer, create_sdk_mcp_server

__all__: list[str] = []
_names = LazyNames(globals())
_names.of("quarterdeck.client.options_types")
__all__ += ["McpSdkServerConfig"]
_names.of(".adapters")
__all__ += ["Connectable", "ServerConnection", "adapt_server"]
_names.of(".annotations")
__all__ += ["ToolAnnotations"]
_names.of(".connection")
__all__ += ["ToolConnection"]
_names.of(".context")
__all__ += ["ToolContext"]
_names.of(".decorator")
__all__ += ["SdkMcpTool", "tool"]
_names.of(".results")
__all__ += ["McpBlock", "audio", "image", "resource", "resource_link", "text"]
_names.of(".server")
__all__ += ["ToolServer", "create_sdk_mcp_server"]
