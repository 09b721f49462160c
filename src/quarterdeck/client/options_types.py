"""Types used in options: presets, thinking, sandbox, plugins, MCP servers, hooks, callbacks.

Names and keys are those of the official SDK; keys that only the TypeScript SDK has are included.
"""

# Annotations are not kept as text here: typed dicts would not notice ``NotRequired`` in it.

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict

from quarterdeck.wire._records import ByFields
from quarterdeck.wire.agents import EffortLevel, ThinkingDisplay
from quarterdeck.wire.permissions import PermissionMode, PermissionResult, ToolPermissionContext

from .transcript_stores.protocol import SessionStore

SdkBeta: TypeAlias = Literal["context-1m-2025-08-07"]
SettingSource: TypeAlias = Literal["user", "project", "local"]
SessionStoreFlushMode: TypeAlias = Literal["batched", "eager"]
PermissionPrompts: TypeAlias = Literal["host", "none"]
PluginDelivery: TypeAlias = Literal["argv", "initialize"]
JavaScriptRuntime: TypeAlias = Literal["node", "bun", "deno"]

SYSTEM_PROMPT_DYNAMIC_BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
"""An element of a system prompt given as a list: everything before it is the same for all users and can be cached."""


# Prompts and tools


class SystemPromptPreset(TypedDict):
    """Claude Code's own system prompt, with additions."""

    type: Literal["preset"]
    preset: Literal["claude_code"]
    append: NotRequired[str]
    exclude_dynamic_sections: NotRequired[bool]
    """Move what differs between users (directory, memory, git) out of the prompt, into the first user message."""
    snapshot: NotRequired[bool]
    """Keep the first request's prompt for the whole session (the default). False rebuilds it for each request."""


class SystemPromptCustom(TypedDict):
    """A system prompt of your own; the long form of a plain string."""

    type: Literal["custom"]
    prompt: str | list[str]
    snapshot: NotRequired[bool]


class SystemPromptFile(TypedDict):
    """A system prompt that the CLI reads from a file."""

    type: Literal["file"]
    path: str


SystemPrompt: TypeAlias = str | list[str] | SystemPromptPreset | SystemPromptCustom | SystemPromptFile


class ToolsPreset(TypedDict):
    """All the built-in tools of Claude Code."""

    type: Literal["preset"]
    preset: Literal["claude_code"]


class AskUserQuestionConfig(TypedDict, total=False):
    previewFormat: Literal["markdown", "html"]


class ToolConfig(TypedDict, total=False):
    """How single built-in tools behave."""

    askUserQuestion: AskUserQuestionConfig


# Thinking and budgets


class ThinkingConfigAdaptive(TypedDict):
    """The model decides how much to think."""

    type: Literal["adaptive"]
    display: NotRequired[ThinkingDisplay]


class ThinkingConfigEnabled(TypedDict):
    """A fixed number of tokens for thinking; for older models."""

    type: Literal["enabled"]
    budget_tokens: int
    display: NotRequired[ThinkingDisplay]


class ThinkingConfigDisabled(TypedDict):
    type: Literal["disabled"]


ThinkingConfig: TypeAlias = ThinkingConfigAdaptive | ThinkingConfigEnabled | ThinkingConfigDisabled


class TaskBudget(TypedDict):
    """A token budget that the model sees and paces itself by."""

    total: int


# Servers and plugins


class McpStdioServerConfig(TypedDict):
    """An MCP server that the CLI starts as a process."""

    type: NotRequired[Literal["stdio"]]
    command: str
    args: NotRequired[list[str]]
    env: NotRequired[dict[str, str]]


class McpSSEServerConfig(TypedDict):
    """An MCP server reached over server-sent events."""

    type: Literal["sse"]
    url: str
    headers: NotRequired[dict[str, str]]


class McpHttpServerConfig(TypedDict):
    """An MCP server reached over streamable HTTP."""

    type: Literal["http"]
    url: str
    headers: NotRequired[dict[str, str]]


class McpSdkServerConfig(TypedDict):
    """An in-process server, for ``ClaudeAgentOptions.mcp_servers``."""

    type: Literal["sdk"]
    name: str
    instance: Any
    """A ``ToolServer``, or a server built with the ``mcp`` package."""
    timeout: NotRequired[float]
    """Milliseconds a call may take, at least 1000; progress does not extend it."""
    tools: NotRequired[list[dict[str, Any]]]
    """Per tool ``{"name": …, "permission_policy": "always_ask" | "always_deny"}``."""


McpServerConfig: TypeAlias = McpStdioServerConfig | McpSSEServerConfig | McpHttpServerConfig | McpSdkServerConfig


class SdkPluginConfig(TypedDict):
    """A plugin in a local directory."""

    type: Literal["local"]
    path: str
    skipMcpDiscovery: NotRequired[bool]
    """Do not start the MCP servers that the plugin brings."""


# The sandbox


class SandboxNetworkConfig(TypedDict, total=False):
    """What sandboxed commands may reach."""

    allowedDomains: list[str]
    deniedDomains: list[str]
    allowManagedDomainsOnly: bool
    allowUnixSockets: list[str]
    allowAllUnixSockets: bool
    allowLocalBinding: bool
    allowMachLookup: list[str]
    httpProxyPort: int
    socksProxyPort: int


SandboxIgnoreViolations: TypeAlias = dict[str, list[str]]
"""Part of a command (``*``: any) → parts of violation texts that are not reported. What is blocked stays blocked."""


class SandboxSettings(TypedDict, total=False):
    """How shell commands are confined. Rules for the other tools are permission rules, not these."""

    enabled: bool
    failIfUnavailable: bool
    """Refuse to start where the machine cannot confine commands; otherwise they run unconfined there."""
    autoAllowBashIfSandboxed: bool
    excludedCommands: list[str]
    allowUnsandboxedCommands: bool
    network: SandboxNetworkConfig
    ignoreViolations: SandboxIgnoreViolations
    enableWeakerNestedSandbox: bool


# Callbacks

HookEvent: TypeAlias = Literal[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
]


class HookContext(TypedDict):
    """What a hook callback gets besides its input; ``signal`` is set when the CLI stops waiting."""

    signal: Any | None


CanUseTool: TypeAlias = Callable[[str, dict[str, Any], ToolPermissionContext], Awaitable[PermissionResult]]
HookCallback: TypeAlias = Callable[[Any, str | None, HookContext], Awaitable[Any]]
"""Gets the input, the tool use id, and the context. Annotate the input with the typed dict of its event, or with the
class of that name in ``quarterdeck.wire``, whose attributes it has too."""


@dataclass(repr=False, eq=False)
class HookMatcher(ByFields):
    """Callbacks for the events that match."""

    matcher: str | None = None
    """For tool events a tool name or several (``Write|Edit``); ``None``: always."""
    hooks: list[HookCallback] = field(default_factory=list)
    timeout: float | None = None
    """In seconds, for each callback; a guard that is not done shortly before is refused."""
    on_failure: Literal["continue", "block"] | None = None
    """``block``: a callback that fails, or returns None, stops the action it guards. ``continue``: a failure counts as
    no opinion. None leaves it to ``ClaudeAgentOptions.hooks_on_failure``, which blocks."""


class Abort(Protocol):
    """Ends a session from outside; ``asyncio.Event`` is one."""

    def is_set(self) -> bool: ...

    async def wait(self) -> Any: ...


__all__ = [
    "SYSTEM_PROMPT_DYNAMIC_BOUNDARY",
    "Abort",
    "AskUserQuestionConfig",
    "CanUseTool",
    "EffortLevel",
    "HookCallback",
    "HookContext",
    "HookEvent",
    "HookMatcher",
    "JavaScriptRuntime",
    "McpHttpServerConfig",
    "McpSSEServerConfig",
    "McpSdkServerConfig",
    "McpServerConfig",
    "McpStdioServerConfig",
    "PermissionMode",
    "PermissionPrompts",
    "PluginDelivery",
    "SandboxIgnoreViolations",
    "SandboxNetworkConfig",
    "SandboxSettings",
    "SdkBeta",
    "SdkPluginConfig",
    "SessionStore",
    "SessionStoreFlushMode",
    "SettingSource",
    "SystemPrompt",
    "SystemPromptCustom",
    "SystemPromptFile",
    "SystemPromptPreset",
    "TaskBudget",
    "ThinkingConfig",
    "ThinkingConfigAdaptive",
    "ThinkingConfigDisabled",
    "ThinkingConfigEnabled",
    "ThinkingDisplay",
    "ToolConfig",
    "ToolsPreset",
]
