"""What ``get_mcp_status`` and ``get_context_usage`` of ``ClaudeSDKClient`` return: typed dicts, by the official names.

``quarterdeck.wire`` has classes of these names, with attributes for more keys: the answers of ``Session``.
"""

# Annotations are not kept as text here: typed dicts would not notice ``NotRequired`` in it.

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from quarterdeck.wire.mcp import McpServerConnectionStatus

from .options_types import McpHttpServerConfig, McpSSEServerConfig, McpStdioServerConfig

# Servers as configured


class McpSdkServerConfigStatus(TypedDict):
    """An in-process server, as the CLI knows it."""

    type: Literal["sdk"]
    name: str


class McpClaudeAIProxyServerConfig(TypedDict):
    """A server that claude.ai reaches for the CLI; seen in statuses only."""

    type: Literal["claudeai-proxy"]
    url: str
    id: str


McpServerStatusConfig: TypeAlias = (
    McpStdioServerConfig
    | McpSSEServerConfig
    | McpHttpServerConfig
    | McpSdkServerConfigStatus
    | McpClaudeAIProxyServerConfig
)


# Servers as they are doing


class McpToolAnnotations(TypedDict, total=False):
    """A tool's own claims about its effects."""

    readOnly: bool
    destructive: bool
    openWorld: bool


class McpToolInfo(TypedDict):
    """A tool of a server."""

    name: str
    description: NotRequired[str]
    annotations: NotRequired[McpToolAnnotations]


class McpServerInfo(TypedDict):
    """What a connected server calls itself."""

    name: str
    version: str


class McpServerStatus(TypedDict):
    """One server and how it is doing."""

    name: str
    status: McpServerConnectionStatus
    serverInfo: NotRequired[McpServerInfo]
    error: NotRequired[str]
    config: NotRequired[McpServerStatusConfig]
    scope: NotRequired[str]
    tools: NotRequired[list[McpToolInfo]]


class McpStatusResponse(TypedDict):
    mcpServers: list[McpServerStatus]


# What fills the context window


class ContextUsageCategory(TypedDict):
    """One share of the context window."""

    name: str
    tokens: int
    color: str
    isDeferred: NotRequired[bool]


class ContextUsageResponse(TypedDict):
    """How full the context window is, and what fills it. The rows are plain dicts, each with its ``tokens``."""

    categories: list[ContextUsageCategory]
    totalTokens: int
    maxTokens: int
    rawMaxTokens: int
    percentage: float
    model: str
    isAutoCompactEnabled: bool
    memoryFiles: list[dict[str, Any]]
    mcpTools: list[dict[str, Any]]
    agents: list[dict[str, Any]]
    gridRows: list[list[dict[str, Any]]]
    autoCompactThreshold: NotRequired[int]
    deferredBuiltinTools: NotRequired[list[dict[str, Any]]]
    systemTools: NotRequired[list[dict[str, Any]]]
    systemPromptSections: NotRequired[list[dict[str, Any]]]
    slashCommands: NotRequired[dict[str, Any]]
    skills: NotRequired[dict[str, Any]]
    messageBreakdown: NotRequired[dict[str, Any]]
    apiUsage: NotRequired[dict[str, Any] | None]


__all__ = [
    "ContextUsageCategory",
    "ContextUsageResponse",
    "McpClaudeAIProxyServerConfig",
    "McpSdkServerConfigStatus",
    "McpServerInfo",
    "McpServerStatus",
    "McpServerStatusConfig",
    "McpStatusResponse",
    "McpToolAnnotations",
    "McpToolInfo",
]
