"""How an in-process server is given to a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quarterdeck.client.options_types import McpSdkServerConfig

from .decorator import SdkMcpTool
from .server import ToolServer


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
        instructions: Told to the model, about the tools as a whole.
        always_load: Keep these tools in the prompt, never behind tool search.
        timeout_ms: How long the CLI waits for a call.
    """
    server = ToolServer(name, version, tools or (), instructions=instructions, always_load=always_load)
    config = McpSdkServerConfig(type="sdk", name=name, instance=server)
    if timeout_ms is not None:
        config["timeout"] = timeout_ms
    return config
