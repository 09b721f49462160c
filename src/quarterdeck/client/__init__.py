"""Drive Claude Code from Python: ``query``, ``ClaudeSDKClient``, ``Session`` and everything around them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .connection import LATER
    from .cost import CostLedger, TurnCost
    from .errors import (
        Aborted,
        ClaudeSDKError,
        CLIConnectionError,
        CLIJSONDecodeError,
        CLINotFoundError,
        CLITooOld,
        ControlError,
        ControlTimeout,
        LocalProtocolError,
        MessageParseError,
        ProcessError,
        ProcessExited,
        QuarterdeckError,
        ResultError,
        StartFailed,
        TransportClosed,
        WriteOverflow,
    )
    from .foreign import Transport
    from .interaction import Approve, Plan, Reject, Revise
    from .oneshot import prompt, query, resume_session
    from .options import ClaudeAgentOptions
    from .options_types import (
        CanUseTool,
        HookCallback,
        HookContext,
        HookEvent,
        HookMatcher,
        McpHttpServerConfig,
        McpServerConfig,
        McpSSEServerConfig,
        McpStdioServerConfig,
        SandboxIgnoreViolations,
        SandboxNetworkConfig,
        SandboxSettings,
        SdkBeta,
        SessionStore,
        SessionStoreFlushMode,
        SettingSource,
        SystemPromptCustom,
        SystemPromptFile,
        SystemPromptPreset,
        TaskBudget,
        ThinkingConfig,
        ThinkingConfigAdaptive,
        ThinkingConfigDisabled,
        ThinkingConfigEnabled,
        ToolsPreset,
    )
    from .sdk import ClaudeSDKClient
    from .session import Session, connect
    from .signal import CancelSignal
    from .tools import McpSdkServerConfig, SdkMcpTool, ToolAnnotations, ToolContext, create_sdk_mcp_server, tool
    from .turn import TextAccumulator, Turn
    from .validate_conflicts import CanUseToolShadowedWarning

_MODULES = (
    "options",
    "oneshot",
    "session",
    "sdk",
    "errors",
    "turn",
    "signal",
    "connection",
    "interaction",
    "cost",
    "options_types",
    "foreign",
    "tools",
    "validate_conflicts",
)

__all__ = [
    "LATER",
    "Aborted",
    "Approve",
    "CLIConnectionError",
    "CLIJSONDecodeError",
    "CLINotFoundError",
    "CLITooOld",
    "CanUseTool",
    "CanUseToolShadowedWarning",
    "CancelSignal",
    "ClaudeAgentOptions",
    "ClaudeSDKClient",
    "ClaudeSDKError",
    "ControlError",
    "ControlTimeout",
    "CostLedger",
    "HookCallback",
    "HookContext",
    "HookEvent",
    "HookMatcher",
    "LocalProtocolError",
    "McpHttpServerConfig",
    "McpSSEServerConfig",
    "McpSdkServerConfig",
    "McpServerConfig",
    "McpStdioServerConfig",
    "MessageParseError",
    "Plan",
    "ProcessError",
    "ProcessExited",
    "QuarterdeckError",
    "Reject",
    "ResultError",
    "Revise",
    "SandboxIgnoreViolations",
    "SandboxNetworkConfig",
    "SandboxSettings",
    "SdkBeta",
    "SdkMcpTool",
    "Session",
    "SessionStore",
    "SessionStoreFlushMode",
    "SettingSource",
    "StartFailed",
    "SystemPromptCustom",
    "SystemPromptFile",
    "SystemPromptPreset",
    "TaskBudget",
    "TextAccumulator",
    "ThinkingConfig",
    "ThinkingConfigAdaptive",
    "ThinkingConfigDisabled",
    "ThinkingConfigEnabled",
    "ToolAnnotations",
    "ToolContext",
    "ToolsPreset",
    "Transport",
    "TransportClosed",
    "Turn",
    "TurnCost",
    "WriteOverflow",
    "connect",
    "create_sdk_mcp_server",
    "prompt",
    "query",
    "resume_session",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = getattr(import_module(f".{module}", __name__), name, None)
            if found is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
