"""The plain dicts that messages carry, typed under the official SDK's names: origins, usage, data of an init message.

``quarterdeck`` and ``quarterdeck.types`` offer these; ``quarterdeck.wire`` has classes of these names, with attributes
for keys. They have exactly the official SDK's keys; nothing is checked while a program
runs.
"""

# Annotations are not kept as text here: typed dicts would not notice ``NotRequired`` in it.

from typing import Literal, NotRequired, Required, TypedDict

from .agents import FastModeDisabledReason, FastModeState
from .permissions import PermissionMode
from .result import MessageOriginKind, TaskNotificationOriginSubkind

MessageOrigin = TypedDict(
    "MessageOrigin",
    {
        "kind": Required[MessageOriginKind],
        "server": str,
        "from": str,
        "name": str,
        "fromSession": str,
        "senderTaskId": str,
        "body": str,
        "verifiedPeerPid": int,
        "subkind": TaskNotificationOriginSubkind,
    },
    total=False,
)
"""Who put a user message into the session, or started the turn of a result. None or ``human``: the user did."""


class ModelUsage(TypedDict):
    """Tokens and cost of one model since the process started."""

    inputTokens: int
    outputTokens: int
    cacheReadInputTokens: int
    cacheCreationInputTokens: int
    webSearchRequests: int
    costUSD: float
    contextWindow: int
    maxOutputTokens: int
    canonicalModel: NotRequired[str]
    provider: NotRequired[str]


class TaskUsage(TypedDict):
    """What a task has used since it started."""

    total_tokens: int
    tool_uses: int
    duration_ms: int


class SystemInitMcpServer(TypedDict):
    """An MCP server of the session; ``source`` is sdk, plugin or a settings scope."""

    name: str
    status: str
    source: NotRequired[str]


class SystemInitPlugin(TypedDict):
    """A loaded plugin."""

    name: str
    path: str
    version: NotRequired[str]


class SystemInitPluginError(TypedDict):
    """A plugin that did not load."""

    plugin: str
    type: str
    message: str
    path: NotRequired[str]


class SystemInitData(TypedDict):
    """``data`` of the ``SystemMessage`` with the subtype ``init``: the session as the turn that begins finds it."""

    type: Literal["system"]
    subtype: Literal["init"]
    uuid: str
    session_id: str
    cwd: str
    model: str
    permissionMode: PermissionMode
    apiKeySource: str
    claude_code_version: str
    tools: list[str]
    mcp_servers: list[SystemInitMcpServer]
    slash_commands: list[str]
    output_style: str
    skills: list[str]
    plugins: list[SystemInitPlugin]
    plugin_errors: NotRequired[list[SystemInitPluginError]]
    terminal_slash_commands: NotRequired[list[str]]
    agents: NotRequired[list[str]]
    betas: NotRequired[list[str]]
    capabilities: NotRequired[list[str]]
    fast_mode_state: NotRequired[FastModeState]
    fast_mode_disabled_reason: NotRequired[FastModeDisabledReason]


__all__ = [
    "MessageOrigin",
    "ModelUsage",
    "SystemInitData",
    "SystemInitMcpServer",
    "SystemInitPlugin",
    "SystemInitPluginError",
    "TaskUsage",
]
