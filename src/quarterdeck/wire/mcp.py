"""MCP: how servers are configured, what the CLI says about them, and the JSON-RPC that travels in ``mcp_message``."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from ._base import DOES_NOT_FIT, OpenObject, WireObject

McpServerConnectionStatus: TypeAlias = Literal["connected", "failed", "needs-auth", "pending", "disabled"]
McpPermissionPolicy: TypeAlias = Literal["always_allow", "always_ask", "always_deny"]
McpOrganizationPermission: TypeAlias = Literal["allow", "ask", "blocked"]


class McpServerToolPolicy(WireObject):
    """Permission policy of one tool of a server."""

    name: str
    permission_policy: str | None = None
    org_max_permission: str | None = None


class McpStdioServerConfig(WireObject, rename="camel"):
    """A server that the CLI starts as a process. The CLI takes a configuration without ``type`` as this one."""

    command: str
    args: list[str] | None = None
    env: dict[str, str] | None = None
    type: str | None = None
    timeout: float | None = None
    always_load: bool | None = None


class McpSSEServerConfig(WireObject, rename="camel"):
    """A server reached over HTTP with server-sent events; ``type`` is ``sse``."""

    type: str
    url: str
    headers: dict[str, str] | None = None
    tools: list[McpServerToolPolicy] | None = None
    timeout: float | None = None
    always_load: bool | None = None


class McpHttpServerConfig(WireObject, rename="camel"):
    """A server reached over streamable HTTP; ``type`` is ``http``."""

    type: str
    url: str
    headers: dict[str, str] | None = None
    tools: list[McpServerToolPolicy] | None = None
    timeout: float | None = None
    always_load: bool | None = None


class McpSdkServerConfigStatus(WireObject, rename="camel"):
    """A server inside the host's own process, as the wire knows it; ``type`` is ``sdk``."""

    type: str
    name: str
    timeout: float | None = None
    tools: list[McpServerToolPolicy] | None = None
    disable_auto_background: bool | None = None


class McpClaudeAIProxyServerConfig(WireObject):
    """A server that claude.ai reaches for the CLI; seen in statuses only; ``type`` is ``claudeai-proxy``."""

    type: str
    url: str
    id: str
    timeout: float | None = None


McpServerStatusConfig: TypeAlias = (
    McpStdioServerConfig
    | McpSSEServerConfig
    | McpHttpServerConfig
    | McpSdkServerConfigStatus
    | McpClaudeAIProxyServerConfig
)

_CONFIG_TYPES: dict[str, type[McpServerStatusConfig]] = {
    "stdio": McpStdioServerConfig,
    "sse": McpSSEServerConfig,
    "http": McpHttpServerConfig,
    "sdk": McpSdkServerConfigStatus,
    "claudeai-proxy": McpClaudeAIProxyServerConfig,
}


def parse_server_config(config: dict[str, Any]) -> McpServerStatusConfig | None:
    """A server's configuration, typed; None if its type is unknown or it lacks what its type needs.

    On the wire configurations stay plain dicts, so that one taken from a status can be sent back as it is.
    """
    kind = config.get("type", "stdio")
    cls = _CONFIG_TYPES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        return None
    try:
        return msgspec.convert(config, cls)
    except DOES_NOT_FIT:
        return None


class McpServerProvenance(OpenObject):
    """Which server a tool belongs to, and where that server was configured."""

    name: str
    source: str | None = None


class McpServerInfo(OpenObject):
    """What a connected server calls itself."""

    name: str
    version: str | None = None


class McpToolAnnotations(OpenObject, rename="camel"):
    """A tool's own claims about its effects."""

    read_only: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


class McpToolInfo(OpenObject):
    """A tool of a server."""

    name: str
    description: str | None = None
    annotations: McpToolAnnotations | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class McpServerStatus(OpenObject, rename="camel"):
    """One server and its status."""

    name: str
    status: str
    server_info: McpServerInfo | None = None
    error: str | None = None
    error_code: str | None = msgspec.field(name="error_code", default=None)
    config: dict[str, Any] | None = None
    """As configured; ``parse_server_config`` types it."""
    transport: str | None = None
    scope: str | None = None
    source: str | None = None
    tools: list[McpToolInfo] | None = None
    tool_count: int | None = None
    capabilities: dict[str, Any] | None = None
    session_proxied: bool | None = None
    cloud_service_provided: bool | None = None
    url_host: str | None = None


class JsonRpcError(WireObject):
    """Why a JSON-RPC request failed."""

    code: int
    message: str
    data: Any = None


class JsonRpcMessage(WireObject, tag_field="jsonrpc", tag="2.0"):
    """A JSON-RPC request, notification or response: the typed view of what travels inside ``mcp_message``."""

    id: str | int | None = None
    method: str | None = None
    params: dict[str, Any] | None = None
    result: Any = None
    error: JsonRpcError | None = None

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.id is not None

    @property
    def is_notification(self) -> bool:
        return self.method is not None and self.id is None

    @property
    def is_response(self) -> bool:
        return self.method is None
