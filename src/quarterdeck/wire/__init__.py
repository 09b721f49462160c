"""The protocol as data: typed messages of both directions, and the NDJSON codec.

``decode`` and ``encode`` take one line; ``Decoder`` takes a stream. Where a type lives:

============================================================  ======================================================
``messages`` ``result`` ``stream`` ``system`` ``tasks`` …     what the CLI says, a class for each type and subtype
``blocks`` ``events`` ``api`` ``usage``                       what these are made of
``control`` ``requests`` ``answers`` ``inbound``              control traffic of both directions
``permissions`` ``mcp`` ``agents``                            what requests and answers are made of
``hooks`` ``hook_inputs`` ``hook_outputs``                    hook callbacks
``tools``                                                     inputs and results of the built-in tools
============================================================  ======================================================

A name is imported when it is first asked for: most programs need few of them, and making all classes takes time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# fmt: off
# isort: off
if TYPE_CHECKING:
    from ._base import Message, OpenObject, WireObject
    from .agents import (
        AccountInfo, AgentDefinition, AgentInfo, AgentMemory, ApiProvider, EffortLevel, FastModeDisabledReason,
        FastModeState, LoadedPlugin, ModelInfo, SdkPluginConfig, SlashCommand,
    )
    from .answers.base import Answer, parse_answer
    from .answers.conversation import (
        BackgroundTasksResult, CancelAsyncMessageResult, ConversationExport, ConversationFork, ConversationRewind,
        Diff, DiffFileHunks, DiffFileStats, DiffHunk, DiffStats, FileContents, FileSuggestions, NoDiffReason,
        RewindFilesResult, SessionTitle, SideAnswer, SuggestedFile, TaskOutput, WorkspaceDiff,
    )
    from .answers.dialogs import (
        ChromeDialog, Memory, MemoryDialog, MemoryPlace, MemorySwitch, PlanAnswer, SandboxDependencies, SandboxDialog,
        SandboxMode, SandboxRestrictions, SkillRow, SkillState, SkillsDialog, StatusAnswer, StatusRow, StatusSection,
    )
    from .answers.mcp import (
        McpCallResult, McpPermissionOverride, McpResource, McpResourceContents, McpSetServersResult,
        McpStatusResponse,
    )
    from .answers.session import (
        AuthConflict, ClaimedSession, FeedbackMode, InitializeAnswer, InterruptReceipt, InterruptedTurn,
        ManifestOutcome, ModelAnswer, PermissionModeAnswer, SetCwdResult, SetCwdStatus,
    )
    from .answers.settings import (
        AppliedSettings, HookEventInfo, HookPolicy, HooksListing, ListedHook, PermissionRuleEntry,
        PermissionRuleSource, PermissionRulesAnswer, PermissionRulesState, RuleDescription, RuleEditability,
        SettingsAnswer, SettingsLayer, SettingsParseError, SettingsSource, WorkspaceDirectory,
    )
    from .answers.state import (
        BinaryVersion, CacheImpact, ModelList, RegisteredRepoRoot, ReloadOutputStylesResult, ReloadPluginsResult,
        ReloadSkillsResult, SessionCost,
    )
    from .answers.usage import (
        AccountLimits, ContextCategoryKind, ContextUsageCategory, ContextUsageResponse, ExtraUsage, LimitWindow,
        UsageAnswer,
    )
    from .api import ApiMessage, Container, ContextManagement, Diagnostics, MessageParam, StopDetails, StopReason
    from .blocks import (
        Base64Source, BashCodeExecutionToolResultBlock, CodeExecutionToolResultBlock, CompactionBlock,
        ContainerUploadBlock, ContentBlock, ContentSource, DocumentBlock, FallbackBlock, FileSource, ImageBlock,
        McpToolListingBlock, McpToolResultBlock, McpToolUseBlock, PlainTextSource, RedactedThinkingBlock,
        SearchResultBlock, ServerToolName, ServerToolResultBlock, ServerToolUseBlock, Source, TextBlock,
        TextEditorCodeExecutionToolResultBlock, ThinkingBlock, ToolAdditionBlock, ToolReferenceBlock,
        ToolRemovalBlock, ToolResultBlock, ToolSearchToolResultBlock, ToolUseBlock, UnknownBlock, UrlSource,
        WebFetchToolResultBlock, WebSearchToolResultBlock, typed_block,
    )
    from .codec import (
        BadLine, BadLineHead, DEFAULT_LIMIT_BYTES, Decoder, HEAD_BYTES, NOT_UTF8, TYPES, UnknownMessage, decode,
        encode,
    )
    from .control import (
        ControlCancelRequest, ControlFailure, ControlRequest, ControlResponse, ControlSuccess, parse_request,
    )
    from .events import (
        ApiError, CitationsDelta, CompactionDelta, ContentBlockDelta, ContentBlockStart, ContentBlockStop, Delta,
        ErrorEvent, Event, InputJsonDelta, MessageChange, MessageDelta, MessageStart, MessageStop, Ping,
        SignatureDelta, TextDelta, ThinkingDelta, UnknownDelta, UnknownEvent, decode_event,
    )
    from .hook_inputs import (
        BackgroundTaskSummary, ConfigChangeHookInput, CwdChangedHookInput, DirectoryAddedHookInput,
        ElicitationHookInput, ElicitationResultHookInput, FileChangedHookInput, HookEffort, HookInput,
        InstructionsLoadedHookInput, MessageDisplayHookInput, NotificationHookInput, PermissionDeniedHookInput,
        PermissionRequestHookInput, PostCompactHookInput, PostModelSwitchHookInput, PostToolBatchHookInput,
        PostToolBatchToolCall, PostToolUseFailureHookInput, PostToolUseHookInput, PreCompactHookInput,
        PreModelSwitchHookInput, PreToolUseHookInput, SessionCronSummary, SessionEndHookInput, SessionStartHookInput,
        SetupHookInput, StopFailureHookInput, StopHookInput, SubagentStartHookInput, SubagentStopHookInput,
        TaskCompletedHookInput, TaskCreatedHookInput, TeammateIdleHookInput, UnknownHookInput,
        UserPromptExpansionHookInput, UserPromptSubmitHookInput, WorktreeCreateHookInput, WorktreeRemoveHookInput,
    )
    from .hook_outputs import (
        AsyncHookJSONOutput, CwdChangedHookSpecificOutput, ElicitationHookSpecificOutput,
        ElicitationResultHookSpecificOutput, FileChangedHookSpecificOutput, HookJSONOutput, HookPermissionAllow,
        HookPermissionDeny, HookSpecificOutput, MessageDisplayHookSpecificOutput, NotificationHookSpecificOutput,
        PermissionDeniedHookSpecificOutput, PermissionRequestHookSpecificOutput, PostModelSwitchHookSpecificOutput,
        PostToolBatchHookSpecificOutput, PostToolUseFailureHookSpecificOutput, PostToolUseHookSpecificOutput,
        PreModelSwitchHookSpecificOutput, PreToolUseHookSpecificOutput, SPECIFIC_OUTPUT_TYPES,
        SessionStartHookSpecificOutput, SetupHookSpecificOutput, StopHookSpecificOutput,
        SubagentStartHookSpecificOutput, SubagentStopHookSpecificOutput, SyncHookJSONOutput,
        UserPromptExpansionHookSpecificOutput, UserPromptSubmitHookSpecificOutput, WorktreeCreateHookSpecificOutput,
        hook_answer,
    )
    from .hooks import (
        BaseHookInput, FAILURE_NEVER_BLOCKS, HOOK_EVENTS, HOOK_INPUT_TYPES, MATCHER_EVENTS, PERMISSION_DECISIONS,
        WITHOUT_MATCHER, parse_hook_input,
    )
    from .inbound import (
        CanUseToolRequest, ComputerFolder, ElicitationAction, ElicitationAnswer, ElicitationMode, ElicitationRequest,
        HookCallbackRequest, INCOMING_REQUESTS, IncomingRequest, MatchedAskRule, McpMessageAnswer, McpMessageRequest,
        SdkControlInterruptRequest, UnknownRequest, UserDialogAnswer, UserDialogBehavior, UserDialogRequest,
    )
    from .mcp import (
        JsonRpcError, JsonRpcMessage, McpClaudeAIProxyServerConfig, McpHttpServerConfig, McpOrganizationPermission,
        McpPermissionPolicy, McpSSEServerConfig, McpSdkServerConfigStatus, McpServerConnectionStatus, McpServerInfo,
        McpServerProvenance, McpServerStatus, McpServerStatusConfig, McpServerToolPolicy, McpStdioServerConfig,
        McpToolAnnotations, McpToolInfo, parse_server_config,
    )
    from .messages import (
        ActiveGoal, ActiveGoalMessage, AssistantMessage, AssistantMessageError, AuthStatusMessage,
        CommandLifecycleMessage, CommandState, ConversationResetMessage, ConversationResetTrigger, ErrorMessage,
        KeepAliveMessage, MESSAGE_TYPES, PromptSuggestionMessage, RateLimitEvent, SubagentRetry, ToolProgressMessage,
        ToolResultMeta, ToolUseMeta, ToolUseSummaryMessage, TranscriptMirrorMessage, UpdateEnvironmentVariables,
        UserMessage, UserMessagePriority,
    )
    from .notices import (
        ApiRetryMessage, ControlRequestProgressMessage, ElicitationCompleteMessage, HookEventMessage,
        HookProgressMessage, HookResponseMessage, HookStartedMessage, InformationalMessage, LocalCommandOutputMessage,
        MemoryRecallMessage, ModelFallbackMessage, ModelRefusalFallbackMessage, ModelRefusalNoFallbackMessage,
        NotificationMessage, PermissionDeniedMessage, PluginInstallMessage, ThinkingTokensMessage,
    )
    from .permissions import (
        PermissionBehavior, PermissionDecisionClassification, PermissionDecisionReasonType, PermissionMode,
        PermissionResult, PermissionResultAllow, PermissionResultDeny, PermissionRuleValue, PermissionUpdate,
        PermissionUpdateDestination, PermissionUpdateType, ToolPermissionContext, parse_permission_answer,
        permission_answer,
    )
    from .requests.base import OutgoingRequest
    from .requests.conversation import (
        BackgroundTasksRequest, CancelAsyncMessageRequest, ExportConversationRequest, FileEncoding,
        FileSuggestionsRequest, ForkConversationRequest, GenerateSessionTitleRequest, GetTaskOutputRequest,
        GetWorkspaceDiffRequest, MessageRatedRequest, RatedSurface, ReadFileRequest, RewindConversationRequest,
        RewindFilesRequest, SeedReadStateRequest, Sentiment, SideExchange, SideQuestionRequest, StopTaskRequest,
    )
    from .requests.mcp import (
        AskForTool, McpAuthenticateRequest, McpCallRequest, McpClearAuthRequest, McpOauthCallbackUrlRequest,
        McpReadResourceRequest, McpReconnectRequest, McpSetServersRequest, McpStatusRequest, McpToggleRequest,
        SetMcpPermissionModeOverrideRequest, StagedInput, StagedOutput,
    )
    from .requests.session import (
        ClaimSessionRequest, EndSessionRequest, HookCallbackMatcher, HookFailurePolicy, InitializeRequest,
        InterruptRequest, ProactivityLevel, RenameSessionRequest, SdkMcpServerManifest, SdkMcpServerOptions,
        SetColorRequest, SetCwdRequest, SetHasSubscribersRequest, SetMaxThinkingTokensRequest, SetModelRequest,
        SetPermissionModeRequest, SetProactivityLevelRequest, SetPromptSuggestionsPausedRequest, ThinkingDisplay,
        WorkspaceTrust,
    )
    from .requests.state import (
        ApplyFlagSettingsRequest, ContextUsageDetail, EditableSettings, GetBinaryVersionRequest,
        GetChromeDialogRequest, GetContextUsageRequest, GetHooksListingRequest, GetMemoryDialogRequest,
        GetPlanRequest, GetSandboxDialogRequest, GetSessionCostRequest, GetSettingsRequest, GetSkillsDialogRequest,
        GetStatusRequest, GetUsageRequest, ListModelsRequest, ListPermissionRulesRequest, RegisterRepoRootRequest,
        ReloadOutputStylesRequest, ReloadPluginsRequest, ReloadSkillsRequest, UpdateSettingsRequest,
    )
    from .requests.tables import OUTGOING_REQUESTS, REQUEST_TYPES
    from .result import (
        DeferredToolUse, InvalidConfigFile, MessageOrigin, MessageOriginKind, PermissionDenial, ResultMessage,
        ResultSubtype, StartupFailureReason, SubagentStats, TaskNotificationOriginSubkind, TerminalReason,
    )
    from .stream import StreamEvent
    from .system import (
        ApiKeySource, CommandsChangedMessage, CompactBoundaryMessage, CompactMetadata, FilesPersistedMessage,
        HookOutcome, InformationalLevel, InitMcpServer, InitMessage, InitPlugin, InitPluginError, MirrorErrorMessage,
        NotificationPriority, PreservedMessages, PreservedSegment, SessionState, SessionStateChangedMessage,
        SessionTitleChangedMessage, SessionWritesLostMessage, StatusMessage, SystemInitData, SystemInitMcpServer,
        SystemInitPlugin, SystemInitPluginError, SystemMessage, WorkerShuttingDownMessage,
    )
    from .system_types import SYSTEM_TYPES
    from .tasks import (
        BackgroundTask, BackgroundTasksChangedMessage, McpResourceLink, TERMINAL_TASK_STATUSES,
        TaskNotificationMessage, TaskNotificationStatus, TaskPatch, TaskProgressMessage, TaskStartedMessage,
        TaskUpdatedMessage, TaskUpdatedStatus,
    )
    from .tools import (
        TOOL_ALIASES, TOOL_INPUT_TYPES, TOOL_OUTPUT_TYPES, ToolInput, ToolOutput, answer_questions, parse_tool_input,
        parse_tool_output,
    )
    from .tools.agents import (
        AgentCompleted, AgentInput, AgentLaunched, AgentLaunchedRemotely, AgentOutput, AgentText, AgentToolStats,
        ListAgentsInput, SendMessageInput, SkillInput, SubagentHandbackInput, ToolSearchInput, WorkflowInput,
        WorkflowOutput,
    )
    from .tools.files import (
        ArtifactRead, FileEditInput, FileEditOutput, FileReadImageOutput, FileReadInput, FileReadNotebookOutput,
        FileReadOutput, FileReadPartsOutput, FileReadPdfOutput, FileReadTextOutput, FileWriteInput, FileWriteOutput,
        GitDiff, GlobInput, GlobOutput, GrepInput, GrepOutput, ImageDimensions, LSPInput, NotebookEditInput,
        NotebookEditOutput, PatchHunk, ReadImage, ReadNotebook, ReadPage, ReadParts, ReadPdf, ReadText,
    )
    from .tools.network import (
        ListMcpResourcesInput, McpResourceContent, ReadMcpResourceDirInput, ReadMcpResourceDirOutput,
        ReadMcpResourceInput, ReadMcpResourceOutput, RefreshMcpToolsInput, RefreshedMcpServer,
        SubscribeMcpResourceInput, SubscribeOutput, SubscribePollingInput, UnsubscribeMcpResourceInput,
        UnsubscribeOutput, UnsubscribePollingInput, WaitForMcpServersInput, WebFetchInput, WebFetchOutput,
        WebSearchHit, WebSearchHits, WebSearchInput, WebSearchOutput,
    )
    from .tools.planning import (
        AllowedPrompt, EnterPlanModeInput, EnterPlanModeOutput, EnterWorktreeInput, EnterWorktreeOutput,
        ExitPlanModeInput, ExitPlanModeOutput, ExitWorktreeInput, ExitWorktreeOutput, TaskCreateInput,
        TaskCreateOutput, TaskGetInput, TaskGetOutput, TaskListInput, TaskListOutput, TaskStatusChange, TaskSummary,
        TaskUpdateInput, TaskUpdateOutput, Todo, TodoWriteInput, TodoWriteOutput,
    )
    from .tools.questions import (
        AskUserQuestionInput, AskUserQuestionOutput, Question, QuestionAnnotation, QuestionOption,
    )
    from .tools.schedule import (
        CronCreateInput, CronCreateOutput, CronDeleteInput, CronDeleteOutput, CronJob, CronListInput, CronListOutput,
        PushNotificationInput, PushNotificationOutput, QueuedNotification, ReadNotificationsInput,
        ReadNotificationsOutput, RemoteTriggerInput, RemoteTriggerOutput, ScheduleWakeupInput, ScheduleWakeupOutput,
    )
    from .tools.services import (
        ArtifactInput, ClaudeDesignInput, ClaudeDesignOutput, ConfigInput, ConfigOutput, Finding,
        OfferChromeSetupInput, OfferChromeSetupOutput, ProjectsInput, ProposeGoalInput, ProposeGoalOutput,
        ProposeSkillsInput, ProposeSkillsOutput, ReportFindingsInput, ReportFindingsOutput, SendFeedbackInput,
        SendFeedbackOutput, SendUserFileInput, ShowOnboardingRolePickerInput, ShowOnboardingRolePickerOutput,
        SkillProposal, TextReplacement,
    )
    from .tools.shell import (
        BashInput, BashOutput, BashOutputInput, GitBranch, GitCommit, GitOperation, GitPush, MonitorInput,
        MonitorOutput, MonitorSocket, PowerShellInput, PullRequest, TaskOutputInput, TaskStopInput, TaskStopOutput,
    )
    from .usage import (
        CacheCreation, ContextUsage, FallbackCredit, IterationUsage, ModelUsage, OutputTokensDetails, RateLimitInfo,
        RateLimitStatus, RateLimitType, RateLimitWindow, ServerToolUsage, SessionUsage, TaskUsage, Usage, UsageReport,
    )


def __getattr__(name: str) -> Any:
    from ._homes import HOMES

    module = HOMES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "DEFAULT_LIMIT_BYTES", "FAILURE_NEVER_BLOCKS", "HEAD_BYTES", "HOOK_EVENTS", "HOOK_INPUT_TYPES",
    "INCOMING_REQUESTS", "MATCHER_EVENTS", "MESSAGE_TYPES", "NOT_UTF8", "OUTGOING_REQUESTS", "PERMISSION_DECISIONS",
    "REQUEST_TYPES", "SPECIFIC_OUTPUT_TYPES", "SYSTEM_TYPES", "TERMINAL_TASK_STATUSES", "TOOL_ALIASES",
    "TOOL_INPUT_TYPES", "TOOL_OUTPUT_TYPES", "TYPES", "WITHOUT_MATCHER", "AccountInfo", "AccountLimits", "ActiveGoal",
    "ActiveGoalMessage", "AgentCompleted", "AgentDefinition", "AgentInfo", "AgentInput", "AgentLaunched",
    "AgentLaunchedRemotely", "AgentMemory", "AgentOutput", "AgentText", "AgentToolStats", "AllowedPrompt", "Answer",
    "ApiError", "ApiKeySource", "ApiMessage", "ApiProvider", "ApiRetryMessage", "AppliedSettings",
    "ApplyFlagSettingsRequest", "ArtifactInput", "ArtifactRead", "AskForTool", "AskUserQuestionInput",
    "AskUserQuestionOutput", "AssistantMessage", "AssistantMessageError", "AsyncHookJSONOutput", "AuthConflict",
    "AuthStatusMessage", "BackgroundTask", "BackgroundTaskSummary", "BackgroundTasksChangedMessage",
    "BackgroundTasksRequest", "BackgroundTasksResult", "BadLine", "BadLineHead", "Base64Source", "BaseHookInput",
    "BashCodeExecutionToolResultBlock", "BashInput", "BashOutput", "BashOutputInput", "BinaryVersion",
    "CacheCreation", "CacheImpact", "CanUseToolRequest", "CancelAsyncMessageRequest", "CancelAsyncMessageResult",
    "ChromeDialog", "CitationsDelta", "ClaimSessionRequest", "ClaimedSession", "ClaudeDesignInput",
    "ClaudeDesignOutput", "CodeExecutionToolResultBlock", "CommandLifecycleMessage", "CommandState",
    "CommandsChangedMessage", "CompactBoundaryMessage", "CompactMetadata", "CompactionBlock", "CompactionDelta",
    "ComputerFolder", "ConfigChangeHookInput", "ConfigInput", "ConfigOutput", "Container", "ContainerUploadBlock",
    "ContentBlock", "ContentBlockDelta", "ContentBlockStart", "ContentBlockStop", "ContentSource",
    "ContextCategoryKind", "ContextManagement", "ContextUsage", "ContextUsageCategory", "ContextUsageDetail",
    "ContextUsageResponse", "ControlCancelRequest", "ControlFailure", "ControlRequest",
    "ControlRequestProgressMessage", "ControlResponse", "ControlSuccess", "ConversationExport", "ConversationFork",
    "ConversationResetMessage", "ConversationResetTrigger", "ConversationRewind", "CronCreateInput",
    "CronCreateOutput", "CronDeleteInput", "CronDeleteOutput", "CronJob", "CronListInput", "CronListOutput",
    "CwdChangedHookInput", "CwdChangedHookSpecificOutput", "Decoder", "DeferredToolUse", "Delta", "Diagnostics",
    "Diff", "DiffFileHunks", "DiffFileStats", "DiffHunk", "DiffStats", "DirectoryAddedHookInput", "DocumentBlock",
    "EditableSettings", "EffortLevel", "ElicitationAction", "ElicitationAnswer",
    "ElicitationCompleteMessage", "ElicitationHookInput", "ElicitationHookSpecificOutput", "ElicitationMode",
    "ElicitationRequest", "ElicitationResultHookInput", "ElicitationResultHookSpecificOutput", "EndSessionRequest",
    "EnterPlanModeInput", "EnterPlanModeOutput", "EnterWorktreeInput", "EnterWorktreeOutput", "ErrorEvent",
    "ErrorMessage", "Event", "ExitPlanModeInput", "ExitPlanModeOutput", "ExitWorktreeInput", "ExitWorktreeOutput",
    "ExportConversationRequest", "ExtraUsage", "FallbackBlock", "FallbackCredit", "FastModeDisabledReason",
    "FastModeState", "FeedbackMode", "FileChangedHookInput", "FileChangedHookSpecificOutput", "FileContents",
    "FileEditInput", "FileEditOutput", "FileEncoding", "FileReadImageOutput", "FileReadInput",
    "FileReadNotebookOutput", "FileReadOutput", "FileReadPartsOutput", "FileReadPdfOutput", "FileReadTextOutput",
    "FileSource", "FileSuggestions", "FileSuggestionsRequest", "FileWriteInput", "FileWriteOutput",
    "FilesPersistedMessage", "Finding", "ForkConversationRequest", "GenerateSessionTitleRequest",
    "GetBinaryVersionRequest", "GetChromeDialogRequest", "GetContextUsageRequest", "GetHooksListingRequest",
    "GetMemoryDialogRequest", "GetPlanRequest", "GetSandboxDialogRequest", "GetSessionCostRequest",
    "GetSettingsRequest", "GetSkillsDialogRequest", "GetStatusRequest", "GetTaskOutputRequest", "GetUsageRequest",
    "GetWorkspaceDiffRequest", "GitBranch", "GitCommit", "GitDiff", "GitOperation", "GitPush", "GlobInput",
    "GlobOutput", "GrepInput", "GrepOutput", "HookCallbackMatcher", "HookCallbackRequest", "HookEffort",
    "HookEventInfo", "HookEventMessage", "HookFailurePolicy", "HookInput", "HookJSONOutput", "HookOutcome",
    "HookPermissionAllow", "HookPermissionDeny", "HookPolicy", "HookProgressMessage", "HookResponseMessage",
    "HookSpecificOutput", "HookStartedMessage", "HooksListing", "ImageBlock", "ImageDimensions", "IncomingRequest",
    "InformationalLevel", "InformationalMessage", "InitMcpServer", "InitMessage", "InitPlugin", "InitPluginError",
    "InitializeAnswer", "InitializeRequest", "InputJsonDelta", "InstructionsLoadedHookInput", "InterruptReceipt",
    "InterruptRequest", "InterruptedTurn", "InvalidConfigFile", "IterationUsage", "JsonRpcError", "JsonRpcMessage",
    "KeepAliveMessage", "LSPInput", "LimitWindow", "ListAgentsInput", "ListMcpResourcesInput",
    "ListModelsRequest", "ListPermissionRulesRequest", "ListedHook", "LoadedPlugin", "LocalCommandOutputMessage",
    "ManifestOutcome",
    "MatchedAskRule", "McpAuthenticateRequest", "McpCallRequest", "McpCallResult", "McpClaudeAIProxyServerConfig",
    "McpClearAuthRequest", "McpHttpServerConfig", "McpMessageAnswer", "McpMessageRequest",
    "McpOauthCallbackUrlRequest", "McpOrganizationPermission", "McpPermissionOverride", "McpPermissionPolicy",
    "McpReadResourceRequest", "McpReconnectRequest", "McpResource", "McpResourceContent", "McpResourceContents",
    "McpResourceLink", "McpSSEServerConfig", "McpSdkServerConfigStatus", "McpServerConnectionStatus", "McpServerInfo",
    "McpServerProvenance", "McpServerStatus", "McpServerStatusConfig", "McpServerToolPolicy", "McpSetServersRequest",
    "McpSetServersResult", "McpStatusRequest", "McpStatusResponse", "McpStdioServerConfig", "McpToggleRequest",
    "McpToolAnnotations", "McpToolInfo", "McpToolListingBlock", "McpToolResultBlock", "McpToolUseBlock", "Memory",
    "MemoryDialog", "MemoryPlace", "MemoryRecallMessage", "MemorySwitch", "Message", "MessageChange", "MessageDelta",
    "MessageDisplayHookInput", "MessageDisplayHookSpecificOutput", "MessageOrigin", "MessageOriginKind",
    "MessageParam", "MessageRatedRequest", "MessageStart", "MessageStop", "MirrorErrorMessage", "ModelAnswer",
    "ModelFallbackMessage", "ModelInfo", "ModelList", "ModelRefusalFallbackMessage", "ModelRefusalNoFallbackMessage",
    "ModelUsage", "MonitorInput", "MonitorOutput", "MonitorSocket", "NoDiffReason", "NotebookEditInput",
    "NotebookEditOutput", "NotificationHookInput", "NotificationHookSpecificOutput", "NotificationMessage",
    "NotificationPriority", "OfferChromeSetupInput", "OfferChromeSetupOutput", "OpenObject", "OutgoingRequest",
    "OutputTokensDetails", "PatchHunk", "PermissionBehavior", "PermissionDecisionClassification",
    "PermissionDecisionReasonType", "PermissionDenial", "PermissionDeniedHookInput",
    "PermissionDeniedHookSpecificOutput", "PermissionDeniedMessage", "PermissionMode", "PermissionModeAnswer",
    "PermissionRequestHookInput", "PermissionRequestHookSpecificOutput", "PermissionResult", "PermissionResultAllow",
    "PermissionResultDeny", "PermissionRuleEntry", "PermissionRuleSource", "PermissionRuleValue",
    "PermissionRulesAnswer", "PermissionRulesState", "PermissionUpdate", "PermissionUpdateDestination",
    "PermissionUpdateType", "Ping", "PlainTextSource", "PlanAnswer", "PluginInstallMessage", "PostCompactHookInput",
    "PostModelSwitchHookInput", "PostModelSwitchHookSpecificOutput", "PostToolBatchHookInput",
    "PostToolBatchHookSpecificOutput", "PostToolBatchToolCall", "PostToolUseFailureHookInput",
    "PostToolUseFailureHookSpecificOutput", "PostToolUseHookInput", "PostToolUseHookSpecificOutput",
    "PowerShellInput", "PreCompactHookInput", "PreModelSwitchHookInput", "PreModelSwitchHookSpecificOutput",
    "PreToolUseHookInput", "PreToolUseHookSpecificOutput", "PreservedMessages", "PreservedSegment",
    "ProactivityLevel", "ProjectsInput", "PromptSuggestionMessage", "ProposeGoalInput", "ProposeGoalOutput",
    "ProposeSkillsInput", "ProposeSkillsOutput", "PullRequest", "PushNotificationInput", "PushNotificationOutput",
    "Question", "QuestionAnnotation", "QuestionOption", "QueuedNotification", "RateLimitEvent", "RateLimitInfo",
    "RateLimitStatus", "RateLimitType", "RateLimitWindow", "RatedSurface", "ReadFileRequest", "ReadImage",
    "ReadMcpResourceDirInput", "ReadMcpResourceDirOutput", "ReadMcpResourceInput", "ReadMcpResourceOutput",
    "ReadNotebook", "ReadNotificationsInput", "ReadNotificationsOutput", "ReadPage", "ReadParts", "ReadPdf",
    "ReadText", "RedactedThinkingBlock", "RefreshMcpToolsInput", "RefreshedMcpServer", "RegisterRepoRootRequest",
    "RegisteredRepoRoot", "ReloadOutputStylesRequest", "ReloadOutputStylesResult", "ReloadPluginsRequest",
    "ReloadPluginsResult", "ReloadSkillsRequest", "ReloadSkillsResult", "RemoteTriggerInput", "RemoteTriggerOutput",
    "RenameSessionRequest", "ReportFindingsInput", "ReportFindingsOutput", "ResultMessage", "ResultSubtype",
    "RewindConversationRequest", "RewindFilesRequest", "RewindFilesResult", "RuleDescription", "RuleEditability",
    "SandboxDependencies", "SandboxDialog", "SandboxMode", "SandboxRestrictions", "ScheduleWakeupInput",
    "ScheduleWakeupOutput", "SdkControlInterruptRequest", "SdkMcpServerManifest", "SdkMcpServerOptions",
    "SdkPluginConfig", "SearchResultBlock", "SeedReadStateRequest", "SendFeedbackInput", "SendFeedbackOutput",
    "SendMessageInput", "SendUserFileInput", "Sentiment", "ServerToolName", "ServerToolResultBlock",
    "ServerToolUsage", "ServerToolUseBlock", "SessionCost", "SessionCronSummary", "SessionEndHookInput",
    "SessionStartHookInput", "SessionStartHookSpecificOutput", "SessionState", "SessionStateChangedMessage",
    "SessionTitle", "SessionTitleChangedMessage", "SessionUsage", "SessionWritesLostMessage", "SetColorRequest",
    "SetCwdRequest", "SetCwdResult", "SetCwdStatus", "SetHasSubscribersRequest", "SetMaxThinkingTokensRequest",
    "SetMcpPermissionModeOverrideRequest", "SetModelRequest", "SetPermissionModeRequest",
    "SetProactivityLevelRequest", "SetPromptSuggestionsPausedRequest", "SettingsAnswer", "SettingsLayer",
    "SettingsParseError", "SettingsSource", "SetupHookInput", "SetupHookSpecificOutput",
    "ShowOnboardingRolePickerInput", "ShowOnboardingRolePickerOutput", "SideAnswer", "SideExchange",
    "SideQuestionRequest", "SignatureDelta", "SkillInput", "SkillProposal", "SkillRow", "SkillState", "SkillsDialog",
    "SlashCommand", "Source", "StagedInput", "StagedOutput", "StartupFailureReason", "StatusAnswer", "StatusMessage",
    "StatusRow", "StatusSection", "StopDetails", "StopFailureHookInput", "StopHookInput", "StopHookSpecificOutput",
    "StopReason", "StopTaskRequest", "StreamEvent", "SubagentHandbackInput", "SubagentRetry",
    "SubagentStartHookInput", "SubagentStartHookSpecificOutput", "SubagentStats", "SubagentStopHookInput",
    "SubagentStopHookSpecificOutput", "SubscribeMcpResourceInput", "SubscribeOutput", "SubscribePollingInput",
    "SuggestedFile", "SyncHookJSONOutput", "SystemInitData", "SystemInitMcpServer", "SystemInitPlugin",
    "SystemInitPluginError", "SystemMessage", "TaskCompletedHookInput", "TaskCreateInput", "TaskCreateOutput",
    "TaskCreatedHookInput", "TaskGetInput", "TaskGetOutput", "TaskListInput", "TaskListOutput",
    "TaskNotificationMessage", "TaskNotificationOriginSubkind", "TaskNotificationStatus", "TaskOutput",
    "TaskOutputInput", "TaskPatch", "TaskProgressMessage", "TaskStartedMessage", "TaskStatusChange", "TaskStopInput",
    "TaskStopOutput", "TaskSummary", "TaskUpdateInput", "TaskUpdateOutput", "TaskUpdatedMessage", "TaskUpdatedStatus",
    "TaskUsage", "TeammateIdleHookInput", "TerminalReason", "TextBlock", "TextDelta",
    "TextEditorCodeExecutionToolResultBlock", "TextReplacement", "ThinkingBlock", "ThinkingDelta", "ThinkingDisplay",
    "ThinkingTokensMessage", "Todo", "TodoWriteInput", "TodoWriteOutput", "ToolAdditionBlock", "ToolInput",
    "ToolOutput", "ToolPermissionContext", "ToolProgressMessage", "ToolReferenceBlock", "ToolRemovalBlock",
    "ToolResultBlock", "ToolResultMeta", "ToolSearchInput", "ToolSearchToolResultBlock", "ToolUseBlock",
    "ToolUseMeta", "ToolUseSummaryMessage", "TranscriptMirrorMessage", "UnknownBlock", "UnknownDelta", "UnknownEvent",
    "UnknownHookInput", "UnknownMessage", "UnknownRequest", "UnsubscribeMcpResourceInput", "UnsubscribeOutput",
    "UnsubscribePollingInput", "UpdateEnvironmentVariables", "UpdateSettingsRequest", "UrlSource", "Usage",
    "UsageAnswer", "UsageReport", "UserDialogAnswer", "UserDialogBehavior", "UserDialogRequest", "UserMessage",
    "UserMessagePriority", "UserPromptExpansionHookInput", "UserPromptExpansionHookSpecificOutput",
    "UserPromptSubmitHookInput", "UserPromptSubmitHookSpecificOutput", "WaitForMcpServersInput", "WebFetchInput",
    "WebFetchOutput", "WebFetchToolResultBlock", "WebSearchHit", "WebSearchHits", "WebSearchInput", "WebSearchOutput",
    "WebSearchToolResultBlock", "WireObject", "WorkerShuttingDownMessage", "WorkflowInput", "WorkflowOutput",
    "WorkspaceDiff", "WorkspaceDirectory", "WorkspaceTrust", "WorktreeCreateHookInput",
    "WorktreeCreateHookSpecificOutput", "WorktreeRemoveHookInput", "answer_questions", "decode", "decode_event",
    "encode", "hook_answer", "parse_answer", "parse_hook_input", "parse_permission_answer", "parse_request",
    "parse_server_config", "parse_tool_input", "parse_tool_output", "permission_answer", "typed_block",
]
# isort: on
# fmt: on
