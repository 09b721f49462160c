"""The protocol as data: typed messages in both directions, and the NDJSON codec.

``decode`` and ``encode`` take one line; ``Decoder`` takes a stream. Where a type lives:

============================================================  ======================================================
``messages`` ``result`` ``stream`` ``system`` ``tasks`` …     messages from the CLI, a class for each type and subtype
``blocks`` ``events`` ``api`` ``usage``                       their parts
``control`` ``requests`` ``answers`` ``inbound``              control traffic in both directions
``permissions`` ``mcp`` ``agents``                            parts of requests and answers
``hooks`` ``hook_inputs`` ``hook_outputs``                    hook callbacks
``tools``                                                     inputs and results of the built-in tools
``vocabulary``                                                names and texts that programs compare with
============================================================  ======================================================

Names are imported on first use: most programs need few of them, and creating all classes takes time.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

# ruff: noqa: F403, F405  # a star takes what a module defines; ``__all__`` below has exactly that
if TYPE_CHECKING:
    from ._base import Message, OpenObject, WireObject
    from .agents import *
    from .answers.base import *
    from .answers.conversation import *
    from .answers.dialogs import *
    from .answers.mcp import *
    from .answers.session import *
    from .answers.settings import *
    from .answers.state import *
    from .answers.usage import *
    from .api import *
    from .blocks import *
    from .codec import (
        DEFAULT_LIMIT_BYTES,
        HEAD_BYTES,
        NOT_UTF8,
        TYPES,
        BadLine,
        BadLineHead,
        Decoder,
        Direction,
        UnknownMessage,
        decode,
        encode,
    )
    from .control import *
    from .events import *
    from .hook_inputs import *
    from .hook_outputs import *
    from .hooks import *
    from .inbound import *
    from .mcp import *
    from .messages import *
    from .notices import *
    from .permissions import *
    from .requests import OutgoingRequest
    from .requests.conversation import *
    from .requests.mcp import *
    from .requests.session import *
    from .requests.state import *
    from .requests.tables import *
    from .result import *
    from .stream import *
    from .system import *
    from .system_types import *
    from .tasks import *
    from .tools import ToolInput, ToolOutput
    from .tools.agents import *
    from .tools.files import *
    from .tools.network import *
    from .tools.planning import *
    from .tools.questions import *
    from .tools.schedule import *
    from .tools.services import *
    from .tools.shell import *
    from .tools.tables import *
    from .usage import *
    from .vocabulary import *

__all__: list[str] = []
_names = LazyNames(globals())
_names.of("._base")
__all__ += ["Message", "OpenObject", "WireObject"]
_names.of(".agents")
__all__ += ["AccountInfo", "AgentDefinition", "AgentInfo", "AgentMemory", "ApiProvider", "EffortLevel"]
__all__ += [
    "FastModeDisabledReason",
    "FastModeState",
    "LoadedPlugin",
    "ModelInfo",
    "SdkPluginConfig",
    "SlashCommand",
    "ThinkingDisplay",
]
_names.of(".answers.base")
__all__ += ["Answer", "parse_answer"]
_names.of(".answers.conversation")
__all__ += ["BackgroundTasksResult", "CancelAsyncMessageResult", "ConversationExport", "ConversationFork"]
__all__ += ["ConversationRewind", "Diff", "DiffFileHunks", "DiffFileStats", "DiffHunk", "DiffStats", "FileContents"]
__all__ += ["FileSuggestions", "NoDiffReason", "RewindFilesResult", "SessionTitle", "SideAnswer", "SuggestedFile"]
__all__ += ["TaskOutput", "WorkspaceDiff"]
_names.of(".answers.dialogs")
__all__ += ["ChromeDialog", "Memory", "MemoryDialog", "MemoryPlace", "MemorySwitch", "PlanAnswer"]
__all__ += ["SandboxDependencies", "SandboxDialog", "SandboxMode", "SandboxRestrictions", "SkillRow", "SkillState"]
__all__ += ["SkillsDialog", "StatusAnswer", "StatusRow", "StatusSection"]
_names.of(".answers.mcp")
__all__ += ["McpCallResult", "McpPermissionOverride", "McpResource", "McpResourceContents", "McpSetServersResult"]
__all__ += ["McpStatusResponse"]
_names.of(".answers.session")
__all__ += ["AuthConflict", "ClaimedSession", "FeedbackMode", "InitializeAnswer", "InterruptReceipt", "InterruptedTurn"]
__all__ += ["ManifestOutcome", "ModelAnswer", "PermissionModeAnswer", "SetCwdResult", "SetCwdStatus"]
_names.of(".answers.settings")
__all__ += ["AppliedSettings", "HookEventInfo", "HookPolicy", "HooksListing", "ListedHook", "PermissionRuleEntry"]
__all__ += ["PermissionRuleSource", "PermissionRulesAnswer", "PermissionRulesState", "RuleDescription"]
__all__ += ["RuleEditability", "SettingsAnswer", "SettingsLayer", "SettingsParseError", "SettingsSource"]
__all__ += ["WorkspaceDirectory"]
_names.of(".answers.state")
__all__ += ["BinaryVersion", "CacheImpact", "ModelList", "RegisteredRepoRoot", "ReloadOutputStylesResult"]
__all__ += ["ReloadPluginsResult", "ReloadSkillsResult", "SessionCost"]
_names.of(".answers.usage")
__all__ += ["AccountLimits", "ContextCategoryKind", "ContextUsageCategory", "ContextUsageResponse", "ExtraUsage"]
__all__ += ["LimitWindow", "UsageAnswer"]
_names.of(".api")
__all__ += [
    "ApiError",
    "ApiMessage",
    "Container",
    "ContextManagement",
    "Diagnostics",
    "MessageParam",
    "StopDetails",
    "StopReason",
]
_names.of(".blocks")
__all__ += ["Base64Source", "BashCodeExecutionToolResultBlock", "CodeExecutionToolResultBlock", "CompactionBlock"]
__all__ += ["ContainerUploadBlock", "ContentBlock", "ContentSource", "DocumentBlock", "FallbackBlock", "FileSource"]
__all__ += ["ImageBlock", "McpToolListingBlock", "McpToolResultBlock", "McpToolUseBlock", "PlainTextSource"]
__all__ += ["RedactedThinkingBlock", "SearchResultBlock", "ServerToolName", "ServerToolResultBlock"]
__all__ += ["ServerToolUseBlock", "Source", "TextBlock", "TextEditorCodeExecutionToolResultBlock", "ThinkingBlock"]
__all__ += ["ToolAdditionBlock", "ToolReferenceBlock", "ToolRemovalBlock", "ToolResultBlock"]
__all__ += ["ToolSearchToolResultBlock", "ToolUseBlock", "UnknownBlock", "UrlSource", "WebFetchToolResultBlock"]
__all__ += ["WebSearchToolResultBlock", "typed_block"]
_names.of(".codec")
__all__ += ["DEFAULT_LIMIT_BYTES", "HEAD_BYTES", "NOT_UTF8", "TYPES", "BadLine", "BadLineHead", "Decoder"]
__all__ += ["Direction", "UnknownMessage", "decode", "encode"]
_names.of(".control")
__all__ += ["ControlCancelRequest", "ControlFailure", "ControlRequest", "ControlResponse", "ControlSuccess"]
__all__ += ["parse_request"]
_names.of(".events")
__all__ += ["CitationsDelta", "CompactionDelta", "ContentBlockDelta", "ContentBlockStart"]
__all__ += ["ContentBlockStop", "Delta", "ErrorEvent", "Event", "InputJsonDelta", "MessageChange", "MessageDelta"]
__all__ += ["MessageStart", "MessageStop", "Ping", "SignatureDelta", "TextDelta", "ThinkingDelta", "UnknownDelta"]
__all__ += ["UnknownEvent", "decode_event"]
_names.of(".hook_inputs")
__all__ += ["BackgroundTaskSummary", "ConfigChangeHookInput", "CwdChangedHookInput", "DirectoryAddedHookInput"]
__all__ += ["ElicitationHookInput", "ElicitationResultHookInput", "FileChangedHookInput", "HookEffort", "HookInput"]
__all__ += ["InstructionsLoadedHookInput", "MessageDisplayHookInput", "NotificationHookInput"]
__all__ += ["PermissionDeniedHookInput", "PermissionRequestHookInput", "PostCompactHookInput"]
__all__ += ["PostModelSwitchHookInput", "PostToolBatchHookInput", "PostToolBatchToolCall"]
__all__ += ["PostToolUseFailureHookInput", "PostToolUseHookInput", "PreCompactHookInput", "PreModelSwitchHookInput"]
__all__ += ["PreToolUseHookInput", "SessionCronSummary", "SessionEndHookInput", "SessionStartHookInput"]
__all__ += ["SetupHookInput", "StopFailureHookInput", "StopHookInput", "SubagentStartHookInput"]
__all__ += ["SubagentStopHookInput", "TaskCompletedHookInput", "TaskCreatedHookInput", "TeammateIdleHookInput"]
__all__ += ["UnknownHookInput", "UserPromptExpansionHookInput", "UserPromptSubmitHookInput", "WorktreeCreateHookInput"]
__all__ += ["WorktreeRemoveHookInput"]
_names.of(".hook_outputs")
__all__ += ["SPECIFIC_OUTPUT_TYPES", "AsyncHookJSONOutput", "CwdChangedHookSpecificOutput"]
__all__ += ["ElicitationHookSpecificOutput", "ElicitationResultHookSpecificOutput", "FileChangedHookSpecificOutput"]
__all__ += ["HookJSONOutput", "HookPermissionAllow", "HookPermissionDeny", "HookSpecificOutput"]
__all__ += ["MessageDisplayHookSpecificOutput", "NotificationHookSpecificOutput", "PermissionDeniedHookSpecificOutput"]
__all__ += ["PermissionRequestHookSpecificOutput", "PostModelSwitchHookSpecificOutput"]
__all__ += ["PostToolBatchHookSpecificOutput", "PostToolUseFailureHookSpecificOutput", "PostToolUseHookSpecificOutput"]
__all__ += ["PreModelSwitchHookSpecificOutput", "PreToolUseHookSpecificOutput", "SessionStartHookSpecificOutput"]
__all__ += ["SetupHookSpecificOutput", "StopHookSpecificOutput", "SubagentStartHookSpecificOutput"]
__all__ += ["SubagentStopHookSpecificOutput", "SyncHookJSONOutput", "UserPromptExpansionHookSpecificOutput"]
__all__ += ["UserPromptSubmitHookSpecificOutput", "WorktreeCreateHookSpecificOutput", "hook_answer"]
_names.of(".hooks")
__all__ += ["FAILURE_NEVER_BLOCKS", "HOOK_EVENTS", "HOOK_INPUT_TYPES", "MATCHER_EVENTS", "PERMISSION_DECISIONS"]
__all__ += ["WITHOUT_MATCHER", "parse_hook_input"]
_names.of(".inbound")
__all__ += ["INCOMING_REQUESTS", "CanUseToolRequest", "ComputerFolder", "ElicitationAction", "ElicitationAnswer"]
__all__ += ["ElicitationMode", "ElicitationRequest", "HookCallbackRequest", "IncomingRequest", "MatchedAskRule"]
__all__ += ["McpMessageAnswer", "McpMessageRequest", "SdkControlInterruptRequest", "UnknownRequest", "UserDialogAnswer"]
__all__ += ["UserDialogBehavior", "UserDialogRequest"]
_names.of(".mcp")
__all__ += ["JsonRpcError", "JsonRpcMessage", "McpClaudeAIProxyServerConfig", "McpHttpServerConfig"]
__all__ += ["McpOrganizationPermission", "McpPermissionPolicy", "McpSSEServerConfig", "McpSdkServerConfigStatus"]
__all__ += ["McpServerConnectionStatus", "McpServerInfo", "McpServerProvenance", "McpServerStatus"]
__all__ += ["McpServerStatusConfig", "McpServerToolPolicy", "McpStdioServerConfig", "McpToolAnnotations", "McpToolInfo"]
__all__ += ["parse_server_config"]
_names.of(".messages")
__all__ += ["MESSAGE_TYPES", "ActiveGoal", "ActiveGoalMessage", "AssistantMessage", "AssistantMessageError"]
__all__ += ["AuthStatusMessage", "CommandLifecycleMessage", "CommandState", "ConversationResetMessage"]
__all__ += ["ConversationResetTrigger", "ErrorMessage", "KeepAliveMessage", "PromptSuggestionMessage", "RateLimitEvent"]
__all__ += ["SubagentRetry", "ToolProgressMessage", "ToolResultMeta", "ToolUseMeta", "ToolUseSummaryMessage"]
__all__ += ["TranscriptMirrorMessage", "UpdateEnvironmentVariables", "UserMessage", "UserMessagePriority"]
_names.of(".notices")
__all__ += ["ApiRetryMessage", "ControlRequestProgressMessage", "ElicitationCompleteMessage", "HookEventMessage"]
__all__ += ["HookProgressMessage", "HookResponseMessage", "HookStartedMessage", "InformationalMessage"]
__all__ += ["LocalCommandOutputMessage", "MemoryRecallMessage", "ModelFallbackMessage", "ModelRefusalFallbackMessage"]
__all__ += ["ModelRefusalNoFallbackMessage", "NotificationMessage", "PermissionDeniedMessage", "PluginInstallMessage"]
__all__ += ["ThinkingTokensMessage"]
_names.of(".permissions")
__all__ += ["PermissionBehavior", "PermissionDecisionClassification", "PermissionDecisionReasonType", "PermissionMode"]
__all__ += ["PermissionResult", "PermissionResultAllow", "PermissionResultDeny", "PermissionRuleValue"]
__all__ += ["PermissionUpdate", "PermissionUpdateDestination", "PermissionUpdateType", "ToolPermissionContext"]
__all__ += ["parse_permission_answer", "permission_answer"]
_names.of(".requests")
__all__ += ["OutgoingRequest"]
_names.of(".requests.conversation")
__all__ += ["BackgroundTasksRequest", "CancelAsyncMessageRequest", "ExportConversationRequest", "FileEncoding"]
__all__ += ["FileSuggestionsRequest", "ForkConversationRequest", "GenerateSessionTitleRequest", "GetTaskOutputRequest"]
__all__ += ["GetWorkspaceDiffRequest", "MessageRatedRequest", "RatedSurface", "ReadFileRequest"]
__all__ += ["RewindConversationRequest", "RewindFilesRequest", "SeedReadStateRequest", "Sentiment", "SideExchange"]
__all__ += ["SideQuestionRequest", "StopTaskRequest"]
_names.of(".requests.mcp")
__all__ += ["AskForTool", "McpAuthenticateRequest", "McpCallRequest", "McpClearAuthRequest"]
__all__ += ["McpOauthCallbackUrlRequest", "McpReadResourceRequest", "McpReconnectRequest", "McpSetServersRequest"]
__all__ += ["McpStatusRequest", "McpToggleRequest", "SetMcpPermissionModeOverrideRequest", "StagedInput"]
__all__ += ["StagedOutput"]
_names.of(".requests.session")
__all__ += ["ClaimSessionRequest", "EndSessionRequest", "HookCallbackMatcher", "HookFailurePolicy", "InitializeRequest"]
__all__ += ["InterruptRequest", "ProactivityLevel", "RenameSessionRequest", "SdkMcpServerManifest"]
__all__ += ["SdkMcpServerOptions", "SetColorRequest", "SetCwdRequest", "SetHasSubscribersRequest"]
__all__ += ["SetMaxThinkingTokensRequest", "SetModelRequest", "SetPermissionModeRequest", "SetProactivityLevelRequest"]
__all__ += ["SetPromptSuggestionsPausedRequest", "WorkspaceTrust"]
_names.of(".requests.state")
__all__ += ["ApplyFlagSettingsRequest", "ContextUsageDetail", "EditableSettings", "GetBinaryVersionRequest"]
__all__ += ["GetChromeDialogRequest", "GetContextUsageRequest", "GetHooksListingRequest", "GetMemoryDialogRequest"]
__all__ += ["GetPlanRequest", "GetSandboxDialogRequest", "GetSessionCostRequest", "GetSettingsRequest"]
__all__ += ["GetSkillsDialogRequest", "GetStatusRequest", "GetUsageRequest", "ListModelsRequest"]
__all__ += ["ListPermissionRulesRequest", "RegisterRepoRootRequest", "ReloadOutputStylesRequest"]
__all__ += ["ReloadPluginsRequest", "ReloadSkillsRequest", "UpdateSettingsRequest"]
_names.of(".requests.tables")
__all__ += ["OUTGOING_REQUESTS", "REQUEST_TYPES"]
_names.of(".result")
__all__ += ["DeferredToolUse", "InvalidConfigFile", "MessageOrigin", "MessageOriginKind", "PermissionDenial"]
__all__ += ["ResultMessage", "ResultSubtype", "StartupFailureReason", "SubagentStats", "TaskNotificationOriginSubkind"]
__all__ += ["TerminalReason"]
_names.of(".stream")
__all__ += ["StreamEvent"]
_names.of(".system")
__all__ += ["ApiKeySource", "CommandsChangedMessage", "CompactBoundaryMessage", "CompactMetadata"]
__all__ += ["FilesPersistedMessage", "HookOutcome", "InformationalLevel", "InitMcpServer", "InitMessage", "InitPlugin"]
__all__ += ["InitPluginError", "MirrorErrorMessage", "NotificationPriority", "PreservedMessages", "PreservedSegment"]
__all__ += ["SessionState", "SessionStateChangedMessage", "SessionTitleChangedMessage", "SessionWritesLostMessage"]
__all__ += ["StatusMessage", "SystemMessage", "WorkerShuttingDownMessage"]
_names.of(".system_types")
__all__ += ["SYSTEM_TYPES"]
_names.of(".tasks")
__all__ += ["TERMINAL_TASK_STATUSES", "BackgroundTask", "BackgroundTasksChangedMessage", "McpResourceLink"]
__all__ += ["TaskNotificationMessage", "TaskNotificationStatus", "TaskPatch", "TaskProgressMessage"]
__all__ += ["TaskStartedMessage", "TaskUpdatedMessage", "TaskUpdatedStatus"]
_names.of(".tools")
__all__ += ["ToolInput", "ToolOutput"]
_names.of(".tools.agents")
__all__ += ["AgentCompleted", "AgentInput", "AgentLaunched", "AgentLaunchedRemotely", "AgentOutput", "AgentText"]
__all__ += ["AgentToolStats", "ListAgentsInput", "SendMessageInput", "SkillInput", "SubagentHandbackInput"]
__all__ += ["ToolSearchInput", "WorkflowInput", "WorkflowOutput"]
_names.of(".tools.files")
__all__ += ["ArtifactRead", "FileEditInput", "FileEditOutput", "FileReadImageOutput", "FileReadInput"]
__all__ += ["FileReadNotebookOutput", "FileReadOutput", "FileReadPartsOutput", "FileReadPdfOutput"]
__all__ += ["FileReadTextOutput", "FileWriteInput", "FileWriteOutput", "GitDiff", "GlobInput", "GlobOutput"]
__all__ += ["GrepInput", "GrepOutput", "ImageDimensions", "LSPInput", "NotebookEditInput", "NotebookEditOutput"]
__all__ += ["PatchHunk", "ReadImage", "ReadNotebook", "ReadPage", "ReadParts", "ReadPdf", "ReadText"]
_names.of(".tools.network")
__all__ += ["ListMcpResourcesInput", "ListedMcpResource", "McpResourceContent", "ReadMcpResourceDirInput"]
__all__ += ["ReadMcpResourceDirOutput", "ReadMcpResourceInput", "ReadMcpResourceOutput", "RefreshMcpToolsInput"]
__all__ += ["RefreshedMcpServer", "SubscribeMcpResourceInput", "SubscribeOutput", "SubscribePollingInput"]
__all__ += ["UnsubscribeMcpResourceInput", "UnsubscribeOutput", "UnsubscribePollingInput", "WaitForMcpServersInput"]
__all__ += ["WebFetchInput", "WebFetchOutput", "WebSearchHit", "WebSearchHits", "WebSearchInput", "WebSearchOutput"]
_names.of(".tools.planning")
__all__ += ["AllowedPrompt", "EnterPlanModeInput", "EnterPlanModeOutput", "EnterWorktreeInput", "EnterWorktreeOutput"]
__all__ += ["ExitPlanModeInput", "ExitPlanModeOutput", "ExitWorktreeInput", "ExitWorktreeOutput", "TaskCreateInput"]
__all__ += ["TaskCreateOutput", "TaskGetInput", "TaskGetOutput", "TaskListInput", "TaskListOutput", "TaskStatusChange"]
__all__ += ["TaskSummary", "TaskUpdateInput", "TaskUpdateOutput", "Todo", "TodoWriteInput", "TodoWriteOutput"]
_names.of(".tools.questions")
__all__ += ["AskUserQuestionInput", "AskUserQuestionOutput", "Question", "QuestionAnnotation", "QuestionOption"]
__all__ += ["answer_questions"]
_names.of(".tools.schedule")
__all__ += ["CronCreateInput", "CronCreateOutput", "CronDeleteInput", "CronDeleteOutput", "CronJob", "CronListInput"]
__all__ += ["CronListOutput", "PushNotificationInput", "PushNotificationOutput", "QueuedNotification"]
__all__ += ["ReadNotificationsInput", "ReadNotificationsOutput", "RemoteTriggerInput", "RemoteTriggerOutput"]
__all__ += ["ScheduleWakeupInput", "ScheduleWakeupOutput"]
_names.of(".tools.services")
__all__ += ["ArtifactInput", "ClaudeDesignInput", "ClaudeDesignOutput", "ConfigInput", "ConfigOutput", "Finding"]
__all__ += ["OfferChromeSetupInput", "OfferChromeSetupOutput", "ProjectsInput", "ProposeGoalInput", "ProposeGoalOutput"]
__all__ += ["ProposeSkillsInput", "ProposeSkillsOutput", "ReportFindingsInput", "ReportFindingsOutput"]
__all__ += ["SendFeedbackInput", "SendFeedbackOutput", "SendUserFileInput", "ShowOnboardingRolePickerInput"]
__all__ += ["ShowOnboardingRolePickerOutput", "SkillProposal", "TextReplacement"]
_names.of(".tools.shell")
__all__ += ["BashInput", "BashOutput", "BashOutputInput", "GitBranch", "GitCommit", "GitOperation", "GitPush"]
__all__ += ["MonitorInput", "MonitorOutput", "MonitorSocket", "PowerShellInput", "PullRequest", "TaskOutputInput"]
__all__ += ["TaskStopInput", "TaskStopOutput"]
_names.of(".tools.tables")
__all__ += ["TOOL_ALIASES", "TOOL_INPUT_TYPES", "TOOL_OUTPUT_TYPES", "parse_tool_input", "parse_tool_output"]
_names.of(".usage")
__all__ += ["CacheCreation", "ContextUsage", "FallbackCredit", "IterationUsage", "ModelUsage", "OutputTokensDetails"]
__all__ += ["RateLimitInfo", "RateLimitStatus", "RateLimitType", "RateLimitWindow", "ServerToolUsage", "SessionUsage"]
__all__ += ["TaskUsage", "Usage", "UsageReport"]
_names.of(".vocabulary")
__all__ += ["BUILTIN_TOOL_NAMES", "EXIT_REASONS", "LEGACY_TOOL_NAME_ALIASES", "ORG_POLICY_LIMIT_PREFIXES"]
__all__ += ["USAGE_LIMIT_ERROR_PREFIXES", "USAGE_TRANSITION_PREFIXES", "USAGE_WARNING_PREFIXES", "ExitReason"]
