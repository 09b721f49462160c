"""Drive Claude Code from Python: ``query``, ``ClaudeSDKClient``, ``Session`` and everything around them."""

# ruff: noqa: F403, F405
from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from quarterdeck.transport.spawned import SpawnClaudeCodeProcess, SpawnedProcess, SpawnOptions
    from quarterdeck.wire._message_dicts import *

    from .answer_dicts import *
    from .control_dicts import *
    from .cost import CostLedger, TurnCost
    from .denied_models import DeniedModelsMatch, match_denied_models
    from .errors import *
    from .hook_input_dicts import *
    from .hook_outputs import *
    from .interaction import Approve, Plan, Reject, Revise
    from .journal import Journal, JournalEntry, JournalReader, RequestEntry
    from .official_transport import Transport
    from .oneshot import prompt, query, resume_session
    from .option_rules import OptionWarning
    from .options import ClaudeAgentOptions
    from .options_types import (
        SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
        CanUseTool,
        HookCallback,
        HookContext,
        HookEvent,
        HookMatcher,
        McpHttpServerConfig,
        McpSdkServerConfig,
        McpServerConfig,
        McpSSEServerConfig,
        McpStdioServerConfig,
        SandboxIgnoreViolations,
        SandboxNetworkConfig,
        SandboxSettings,
        SdkBeta,
        SdkPluginConfig,
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
    from .resolved_settings import (
        ResolvedSettings,
        ResolvedSettingSource,
        SettingProvenance,
        SettingsSourceLayer,
        filter_escalating_default_mode,
        resolve_settings,
    )
    from .retry import Retry, RetryingTurn, RetryNotice, RetryRefused
    from .sdk import ClaudeSDKClient
    from .serving import LATER, CancelSignal
    from .session import Session, connect
    from .tools import SdkMcpTool, ToolAnnotations, ToolContext, create_sdk_mcp_server, tool
    from .transcript_stores import *
    from .transcripts import *
    from .turn import TextAccumulator, Turn
    from .validate import CanUseToolShadowedWarning
    from .warm import PoolCounts, WarmPool

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".answer_dicts")
__all__ += ["ContextUsageCategory", "ContextUsageResponse", "McpClaudeAIProxyServerConfig", "McpSdkServerConfigStatus"]
__all__ += ["McpServerInfo", "McpServerStatus", "McpServerStatusConfig", "McpStatusResponse", "McpToolAnnotations"]
__all__ += ["McpToolInfo"]
_names.of(".control_dicts")
__all__ += ["ControlErrorResponse", "ControlResponse", "SDKControlInitializeRequest", "SDKControlInterruptRequest"]
__all__ += ["SDKControlMcpMessageRequest", "SDKControlMcpReconnectRequest", "SDKControlMcpToggleRequest"]
__all__ += ["SDKControlPermissionRequest", "SDKControlRequest", "SDKControlResponse", "SDKControlRewindFilesRequest"]
__all__ += ["SDKControlSetPermissionModeRequest", "SDKControlStopTaskRequest", "SDKHookCallbackRequest"]
_names.of(".cost")
__all__ += ["CostLedger", "TurnCost"]
_names.of(".denied_models")
__all__ += ["DeniedModelsMatch", "match_denied_models"]
_names.of(".errors")
__all__ += ["Aborted", "CLIJSONDecodeError", "CLITooOld", "ControlError", "ControlTimeout", "MessageParseError"]
__all__ += ["ResultError"]
_names.of(".hook_input_dicts")
__all__ += ["BackgroundTaskSummary", "BaseHookInput", "ConfigChangeHookInput", "CwdChangedHookInput"]
__all__ += ["DirectoryAddedHookInput", "ElicitationHookInput", "ElicitationResultHookInput", "FileChangedHookInput"]
__all__ += ["HookEffort", "HookInput", "InstructionsLoadedHookInput", "MessageDisplayHookInput"]
__all__ += ["NotificationHookInput", "PermissionDeniedHookInput", "PermissionRequestHookInput", "PostCompactHookInput"]
__all__ += ["PostModelSwitchHookInput", "PostToolBatchHookInput", "PostToolBatchToolCall"]
__all__ += ["PostToolUseFailureHookInput", "PostToolUseHookInput", "PreCompactHookInput", "PreModelSwitchHookInput"]
__all__ += ["PreToolUseHookInput", "SessionCronSummary", "SessionEndHookInput", "SessionStartHookInput"]
__all__ += ["SetupHookInput", "StopFailureHookInput", "StopHookInput", "SubagentStartHookInput"]
__all__ += ["SubagentStopHookInput", "TaskCompletedHookInput", "TaskCreatedHookInput", "TeammateIdleHookInput"]
__all__ += ["UserPromptExpansionHookInput", "UserPromptSubmitHookInput", "WorktreeCreateHookInput"]
__all__ += ["WorktreeRemoveHookInput"]
_names.of(".hook_outputs")
__all__ += ["AsyncHookJSONOutput", "CwdChangedHookSpecificOutput", "ElicitationHookSpecificOutput"]
__all__ += ["ElicitationResultHookSpecificOutput", "FileChangedHookSpecificOutput", "HookJSONOutput"]
__all__ += ["HookSpecificOutput", "MessageDisplayHookSpecificOutput", "NotificationHookSpecificOutput"]
__all__ += ["PermissionDeniedHookSpecificOutput", "PermissionRequestHookSpecificOutput"]
__all__ += ["PostModelSwitchHookSpecificOutput", "PostToolBatchHookSpecificOutput"]
__all__ += ["PostToolUseFailureHookSpecificOutput", "PostToolUseHookSpecificOutput"]
__all__ += ["PreModelSwitchHookSpecificOutput", "PreToolUseHookSpecificOutput", "SessionStartHookSpecificOutput"]
__all__ += ["SetupHookSpecificOutput", "StopHookSpecificOutput", "SubagentStartHookSpecificOutput"]
__all__ += ["SubagentStopHookSpecificOutput"]
__all__ += ["SyncHookJSONOutput", "UserPromptExpansionHookSpecificOutput", "UserPromptSubmitHookSpecificOutput"]
__all__ += ["WorktreeCreateHookSpecificOutput"]
_names.of(".interaction")
__all__ += ["Approve", "Plan", "Reject", "Revise"]
_names.of(".journal")
__all__ += ["Journal", "JournalEntry", "JournalReader", "RequestEntry"]
_names.of(".official_transport")
__all__ += ["Transport"]
_names.of(".oneshot")
__all__ += ["prompt", "query", "resume_session"]
_names.of(".option_rules")
__all__ += ["OptionWarning"]
_names.of(".options")
__all__ += ["ClaudeAgentOptions"]
_names.of(".options_types")
__all__ += ["SYSTEM_PROMPT_DYNAMIC_BOUNDARY", "CanUseTool", "HookCallback", "HookContext", "HookEvent", "HookMatcher"]
__all__ += [
    "McpHttpServerConfig",
    "McpSSEServerConfig",
    "McpSdkServerConfig",
    "McpServerConfig",
    "McpStdioServerConfig",
]
__all__ += ["SandboxIgnoreViolations", "SandboxNetworkConfig", "SandboxSettings", "SdkBeta", "SdkPluginConfig"]
__all__ += ["SessionStoreFlushMode"]
__all__ += ["SettingSource", "SystemPromptCustom", "SystemPromptFile", "SystemPromptPreset", "TaskBudget"]
__all__ += ["ThinkingConfig", "ThinkingConfigAdaptive", "ThinkingConfigDisabled", "ThinkingConfigEnabled"]
__all__ += ["ToolsPreset"]
_names.of(".resolved_settings")
__all__ += ["ResolvedSettingSource", "ResolvedSettings", "SettingProvenance", "SettingsSourceLayer"]
__all__ += ["filter_escalating_default_mode", "resolve_settings"]
_names.of(".retry")
__all__ += ["Retry", "RetryNotice", "RetryRefused", "RetryingTurn"]
_names.of(".sdk")
__all__ += ["ClaudeSDKClient"]
_names.of(".session")
__all__ += ["Session", "connect"]
_names.of(".serving")
__all__ += ["LATER", "CancelSignal"]
_names.of(".tools")
__all__ += ["SdkMcpTool", "ToolAnnotations", "ToolContext", "create_sdk_mcp_server", "tool"]
_names.of(".transcript_stores")
__all__ += ["InMemorySessionStore", "SessionKey", "SessionListSubkeysKey", "SessionStore", "SessionStoreEntry"]
__all__ += ["SessionStoreError", "SessionStoreListEntry", "SessionSummaryEntry", "SqliteSessionStore"]
__all__ += ["delete_session_via_store", "fold_session_summary", "fork_session_via_store", "get_session_info_from_store"]
__all__ += ["get_session_messages_from_store", "get_subagent_messages_from_store", "import_session_to_store"]
__all__ += ["list_sessions_from_store", "list_subagents_from_store", "rename_session_via_store"]
__all__ += ["tag_session_via_store"]
_names.of(".transcripts")
__all__ += ["ExportFormat", "ForkSessionResult", "NotATranscript", "SDKSessionInfo", "SearchHit", "SessionExists"]
__all__ += ["SessionMessage", "SessionNotFound", "TranscriptError", "TranscriptOutside", "TranscriptUnwritable"]
__all__ += ["archive_session", "delete_session", "export_session", "fork_session", "get_session_info"]
__all__ += [
    "get_session_messages",
    "get_subagent_messages",
    "import_session",
    "iter_session_messages",
    "iter_session_records",
]
__all__ += ["list_sessions", "list_subagents", "project_key_for_directory", "rename_session", "search_sessions"]
__all__ += ["tag_session", "unarchive_session"]
_names.of(".turn")
__all__ += ["TextAccumulator", "Turn"]
_names.of(".validate")
__all__ += ["CanUseToolShadowedWarning"]
_names.of(".warm")
__all__ += ["PoolCounts", "WarmPool"]
_names.of("quarterdeck._errors")
__all__ += ["QuarterdeckError"]
_names.of("quarterdeck.protocol.states")
__all__ += ["LocalProtocolError"]
_names.of("quarterdeck.transport.errors")
__all__ += ["CLIConnectionError", "CLINotFoundError", "ClaudeSDKError", "ProcessError", "ProcessExited", "StartFailed"]
__all__ += ["TransportClosed", "WriteOverflow"]
_names.of("quarterdeck.transport.spawned")
__all__ += ["SpawnClaudeCodeProcess", "SpawnOptions", "SpawnedProcess"]
_names.of("quarterdeck.wire._message_dicts")
__all__ += ["MessageOrigin", "ModelUsage", "SystemInitData", "SystemInitMcpServer", "SystemInitPlugin"]
__all__ += ["SystemInitPluginError", "TaskUsage"]
