"""An MCP server without a transport.

A ``ToolServer`` may serve many sessions at once. Each has a ``ToolConnection`` of its own, made with ``connect``:
request ids are unique within one connection only, and each is notified of changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quarterdeck.client.options_types import McpSdkServerConfig
from quarterdeck.wire.jsonrpc import INVALID_PARAMS

from .compiled import CompiledTool
from .connection import PROTOCOL_VERSIONS, JsonRpcFailure, Send, ToolConnection
from .decorator import SdkMcpTool


class ToolServer:
    """Tools under one name, in this process."""

    def __init__(
        self,
        name: str,
        version: str = "1.0.0",
        tools: Iterable[SdkMcpTool[Any]] = (),
        *,
        instructions: str | None = None,
        always_load: bool = False,
        page_size: int | None = None,
    ) -> None:
        """``instructions`` reach the model. ``page_size`` splits ``tools/list``; None: all tools at once."""
        if page_size is not None and page_size < 1:
            raise ValueError(f"page_size must be at least 1, or None, not {page_size!r}")
        self.name = name
        self.version = version
        self.instructions = instructions
        self.page_size = page_size
        self._always_load = always_load
        self._tools: dict[str, CompiledTool] = {}
        self._listing: list[dict[str, Any]] = []
        self._connections: set[ToolConnection] = set()
        self.add(*tools)

    @property
    def tool_names(self) -> list[str]:
        return list(self._tools)

    def add(self, *tools: SdkMcpTool[Any]) -> None:
        """Add tools, or replace those of the same name; connected clients are notified once.

        CLI 2.1.325 then requests the list again. 2.0.77, 2.1.25 and 2.1.52 do not and keep the tools they know.
        """
        added = {tool.name: CompiledTool(tool, always_load=self._always_load) for tool in tools}
        self._change(self._tools | added)

    def remove(self, *names: str) -> None:
        """Remove tools; running calls continue. Raises ``KeyError`` if a tool does not exist, and then removes none."""
        for name in names:
            if name not in self._tools:
                raise KeyError(f"server {self.name!r} has no tool {name!r}")
        self._change({name: tool for name, tool in self._tools.items() if name not in names})

    def _change(self, tools: dict[str, CompiledTool]) -> None:
        """The dict is replaced, never modified: another thread may be reading it."""
        self._tools = tools
        self._listing = [tool.listing for tool in tools.values()]
        for connection in tuple(self._connections):
            connection.notify("notifications/tools/list_changed")

    def connect(self, send: Send) -> ToolConnection:
        """Open a connection for one session, on the running event loop. Close it with ``aclose``."""
        connection = ToolConnection(self, send)
        self._connections.add(connection)
        return connection

    def disconnect(self, connection: ToolConnection) -> None:
        self._connections.discard(connection)

    def tool(self, name: str) -> CompiledTool | None:
        return self._tools.get(name)

    def initialize_result(self, wanted_version: str) -> dict[str, Any]:
        """The client's protocol version if we speak it, else our newest, as MCP has it."""
        version = wanted_version if wanted_version in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0]
        result: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": True}, "logging": {}},
            "serverInfo": {"name": self.name, "version": self.version},
        }
        return result if self.instructions is None else {**result, "instructions": self.instructions}

    def list_result(self, cursor: str | None = None) -> dict[str, Any]:
        """One page of the tools. The cursor is the number of tools already listed."""
        listing, size = self._listing, self.page_size
        if cursor is None:
            start = 0
        elif size is None or not cursor.isdecimal() or not 0 < int(cursor) < len(listing):
            raise JsonRpcFailure(INVALID_PARAMS, f"tools/list: {cursor!r} is not a cursor of this server")
        else:
            start = int(cursor)
        if size is None or start + size >= len(listing):
            return {"tools": listing[start:]}
        return {"tools": listing[start : start + size], "nextCursor": str(start + size)}


def create_sdk_mcp_server(
    name: str,
    version: str = "1.0.0",
    tools: Iterable[SdkMcpTool[Any]] | None = None,
    *,
    instructions: str | None = None,
    always_load: bool = False,
    timeout_ms: float | None = None,
) -> McpSdkServerConfig:
    """Put tools on a server that runs in this process.

    Its ``instance`` is a ``ToolServer``: ``add`` and ``remove`` change the tools while sessions run.

    Args:
        name: What the server calls itself. Claude sees its tools as ``mcp__<key in mcp_servers>__<tool>``.
        version: For information only.
        tools: Made with ``@tool``.
        instructions: Instructions for the model about these tools.
        always_load: Keep these tools in the prompt, never behind tool search.
        timeout_ms: How long the CLI waits for a call.
    """
    server = ToolServer(name, version, tools or (), instructions=instructions, always_load=always_load)
    config = McpSdkServerConfig(type="sdk", name=name, instance=server)
    if timeout_ms is not None:
        config["timeout"] = timeout_ms
    return config
