"""Where each public name of the wire is defined: asking for one imports its module, and no other.

A test compares this with the modules.
"""

from __future__ import annotations

# fmt: off
NAMES: dict[str, str] = {
    "_base": "Message OpenObject WireObject",
    "agents": (
        "AccountInfo AgentDefinition AgentInfo AgentMemory ApiProvider EffortLevel FastModeDisabledReason "
        "FastModeState LoadedPlugin ModelInfo SdkPluginConfig SlashCommand"
    ),
    "answers.base": "Answer parse_answer",
    "answers.conversation": (
        "BackgroundTasksResult CancelAsyncMessageResult ConversationExport ConversationFork ConversationRewind "
        "Diff DiffFileHunks DiffFileStats DiffHunk DiffStats FileContents FileSuggestions NoDiffReason "
        "RewindFilesResult SessionTitle SideAnswer SuggestedFile TaskOutput WorkspaceDiff"
    ),
    "answers.dialogs": (
        "ChromeDialog Memory MemoryDialog MemoryPlace MemorySwitch PlanAnswer SandboxDependencies SandboxDialog "
        "SandboxMode SandboxRestrictions SkillRow SkillState SkillsDialog StatusAnswer StatusRow StatusSection"
    ),
    "answers.mcp": (
        "McpCallResult McpPermissionOverride McpResource McpResourceContents McpSetServersResult "
        "McpStatusResponse"
    ),
    "answers.session": (
        "AuthConflict ClaimedSession FeedbackMode InitializeAnswer InterruptReceipt InterruptedTurn "
        "ManifestOutcome ModelAnswer PermissionModeAnswer SetCwdResult SetCwdStatus"
    ),
    "answers.settings": (
        "AppliedSettings HookEventInfo HookPolicy HooksListing ListedHook PermissionRuleEntry "
        "PermissionRuleSource PermissionRulesAnswer PermissionRulesState RuleDescription RuleEditability "
        "SettingsAnswer SettingsLayer SettingsParseError SettingsSource WorkspaceDirectory"
    ),
    "answers.state": (
        "BinaryVersion CacheImpact ModelList RegisteredRepoRoot ReloadOutputStylesResult ReloadPluginsResult "
        "ReloadSkillsResult SessionCost"
    ),
    "answers.usage": (
        "AccountLimits ContextCategoryKind ContextUsageCategory ContextUsageResponse ExtraUsage LimitWindow "
        "UsageAnswer"
    ),
    "api": "ApiMessage Container ContextManagement Diagnostics MessageParam StopDetails StopReason",
    "blocks": (
        "Base64Source BashCodeExecutionToolResultBlock CodeExecutionToolResultBlock CompactionBlock "
        "ContainerUploadBlock ContentBlock ContentSource DocumentBlock FallbackBlock FileSource ImageBlock "
        "McpToolListingBlock McpToolResultBlock McpToolUseBlock PlainTextSource RedactedThinkingBlock "
        "SearchResultBlock ServerToolName ServerToolResultBlock ServerToolUseBlock Source TextBlock "
        "TextEditorCodeExecutionToolResultBlock ThinkingBlock ToolAdditionBlock ToolReferenceBlock "
        "ToolRemovalBlock ToolResultBlock ToolSearchToolResultBlock ToolUseBlock UnknownBlock UrlSource "
        "WebFetchToolResultBlock WebSearchToolResultBlock typed_block"
    ),
    "codec": "BadLine BadLineHead DEFAULT_LIMIT_BYTES Decoder HEAD_BYTES NOT_UTF8 TYPES UnknownMessage decode encode",
    "control": "ControlCancelRequest ControlFailure ControlRequest ControlResponse ControlSuccess parse_request",
    "events": (
        "ApiError CitationsDelta CompactionDelta ContentBlockDelta ContentBlockStart ContentBlockStop Delta "
        "ErrorEvent Event InputJsonDelta MessageChange MessageDelta MessageStart MessageStop Ping SignatureDelta "
        "TextDelta ThinkingDelta UnknownDelta UnknownEvent decode_event"
    ),
    "hook_inputs": (
        "BackgroundTaskSummary ConfigChangeHookInput CwdChangedHookInput DirectoryAddedHookInput "
        "ElicitationHookInput ElicitationResultHookInput FileChangedHookInput HookEffort HookInput "
        "InstructionsLoadedHookInput MessageDisplayHookInput NotificationHookInput PermissionDeniedHookInput "
        "PermissionRequestHookInput PostCompactHookInput PostModelSwitchHookInput PostToolBatchHookInput "
        "PostToolBatchToolCall PostToolUseFailureHookInput PostToolUseHookInput PreCompactHookInput "
        "PreModelSwitchHookInput PreToolUseHookInput SessionCronSummary SessionEndHookInput SessionStartHookInput "
        "SetupHookInput StopFailureHookInput StopHookInput SubagentStartHookInput SubagentStopHookInput "
        "TaskCompletedHookInput TaskCreatedHookInput TeammateIdleHookInput UnknownHookInput "
        "UserPromptExpansionHookInput UserPromptSubmitHookInput WorktreeCreateHookInput WorktreeRemoveHookInput"
    ),
    "hook_outputs": (
        "AsyncHookJSONOutput CwdChangedHookSpecificOutput ElicitationHookSpecificOutput "
        "ElicitationResultHookSpecificOutput FileChangedHookSpecificOutput HookJSONOutput HookPermissionAllow "
        "HookPermissionDeny HookSpecificOutput MessageDisplayHookSpecificOutput NotificationHookSpecificOutput "
        "PermissionDeniedHookSpecificOutput PermissionRequestHookSpecificOutput PostModelSwitchHookSpecificOutput "
        "PostToolBatchHookSpecificOutput PostToolUseFailureHookSpecificOutput PostToolUseHookSpecificOutput "
        "PreModelSwitchHookSpecificOutput PreToolUseHookSpecificOutput SPECIFIC_OUTPUT_TYPES "
        "SessionStartHookSpecificOutput SetupHookSpecificOutput StopHookSpecificOutput "
        "SubagentStartHookSpecificOutput SubagentStopHookSpecificOutput SyncHookJSONOutput "
        "UserPromptExpansionHookSpecificOutput UserPromptSubmitHookSpecificOutput "
        "WorktreeCreateHookSpecificOutput hook_answer"
    ),
    "hooks": (
        "BaseHookInput FAILURE_NEVER_BLOCKS HOOK_EVENTS HOOK_INPUT_TYPES MATCHER_EVENTS PERMISSION_DECISIONS "
        "WITHOUT_MATCHER parse_hook_input"
    ),
    "inbound": (
        "CanUseToolRequest ComputerFolder ElicitationAction ElicitationAnswer ElicitationMode ElicitationRequest "
        "HookCallbackRequest INCOMING_REQUESTS IncomingRequest MatchedAskRule McpMessageAnswer McpMessageRequest "
        "SdkControlInterruptRequest UnknownRequest UserDialogAnswer UserDialogBehavior UserDialogRequest"
    ),
    "mcp": (
        "JsonRpcError JsonRpcMessage McpClaudeAIProxyServerConfig McpHttpServerConfig McpOrganizationPermission "
        "McpPermissionPolicy McpSSEServerConfig McpSdkServerConfigStatus McpServerConnectionStatus McpServerInfo "
        "McpServerProvenance McpServerStatus McpServerStatusConfig McpServerToolPolicy McpStdioServerConfig "
        "McpToolAnnotations McpToolInfo parse_server_config"
    ),
    "messages": (
        "ActiveGoal ActiveGoalMessage AssistantMessage AssistantMessageError AuthStatusMessage "
        "CommandLifecycleMessage CommandState ConversationResetMessage ConversationResetTrigger ErrorMessage "
        "KeepAliveMessage MESSAGE_TYPES PromptSuggestionMessage RateLimitEvent SubagentRetry ToolProgressMessage "
        "ToolResultMeta ToolUseMeta ToolUseSummaryMessage TranscriptMirrorMessage UpdateEnvironmentVariables "
        "UserMessage UserMessagePriority"
    ),
    "notices": (
        "ApiRetryMessage ControlRequestProgressMessage ElicitationCompleteMessage HookEventMessage "
        "HookProgressMessage HookResponseMessage HookStartedMessage InformationalMessage "
        "LocalCommandOutputMessage MemoryRecallMessage ModelFallbackMessage ModelRefusalFallbackMessage "
        "ModelRefusalNoFallbackMessage NotificationMessage PermissionDeniedMessage PluginInstallMessage "
        "ThinkingTokensMessage"
    ),
    "permissions": (
        "PermissionBehavior PermissionDecisionClassification PermissionDecisionReasonType PermissionMode "
        "PermissionResult PermissionResultAllow PermissionResultDeny PermissionRuleValue PermissionUpdate "
        "PermissionUpdateDestination PermissionUpdateType ToolPermissionContext parse_permission_answer "
        "permission_answer"
    ),
    "requests.tables": "OUTGOING_REQUESTS REQUEST_TYPES",
    "requests.base": "OutgoingRequest",
    "requests.conversation": (
        "BackgroundTasksRequest CancelAsyncMessageRequest ExportConversationRequest FileEncoding "
        "FileSuggestionsRequest ForkConversationRequest GenerateSessionTitleRequest GetTaskOutputRequest "
        "GetWorkspaceDiffRequest MessageRatedRequest RatedSurface ReadFileRequest RewindConversationRequest "
        "RewindFilesRequest SeedReadStateRequest Sentiment SideExchange SideQuestionRequest StopTaskRequest"
    ),
    "requests.mcp": (
        "AskForTool McpAuthenticateRequest McpCallRequest McpClearAuthRequest McpOauthCallbackUrlRequest "
        "McpReadResourceRequest McpReconnectRequest McpSetServersRequest McpStatusRequest McpToggleRequest "
        "SetMcpPermissionModeOverrideRequest StagedInput StagedOutput"
    ),
    "requests.session": (
        "ClaimSessionRequest EndSessionRequest HookCallbackMatcher HookFailurePolicy InitializeRequest "
        "InterruptRequest ProactivityLevel RenameSessionRequest SdkMcpServerManifest SdkMcpServerOptions "
        "SetColorRequest SetCwdRequest SetHasSubscribersRequest SetMaxThinkingTokensRequest SetModelRequest "
        "SetPermissionModeRequest SetProactivityLevelRequest SetPromptSuggestionsPausedRequest ThinkingDisplay "
        "WorkspaceTrust"
    ),
    "requests.state": (
        "ApplyFlagSettingsRequest ContextUsageDetail EditableSettings GetBinaryVersionRequest "
        "GetChromeDialogRequest GetContextUsageRequest GetHooksListingRequest GetMemoryDialogRequest "
        "GetPlanRequest GetSandboxDialogRequest GetSessionCostRequest GetSettingsRequest GetSkillsDialogRequest "
        "GetStatusRequest GetUsageRequest ListModelsRequest ListPermissionRulesRequest RegisterRepoRootRequest "
        "ReloadOutputStylesRequest ReloadPluginsRequest ReloadSkillsRequest UpdateSettingsRequest"
    ),
    "result": (
        "DeferredToolUse InvalidConfigFile MessageOrigin MessageOriginKind PermissionDenial ResultMessage "
        "ResultSubtype StartupFailureReason SubagentStats TaskNotificationOriginSubkind TerminalReason"
    ),
    "stream": "StreamEvent",
    "system": (
        "ApiKeySource CommandsChangedMessage CompactBoundaryMessage CompactMetadata FilesPersistedMessage "
        "HookOutcome InformationalLevel InitMcpServer InitMessage InitPlugin InitPluginError MirrorErrorMessage "
        "NotificationPriority PreservedMessages PreservedSegment SessionState SessionStateChangedMessage "
        "SessionTitleChangedMessage SessionWritesLostMessage StatusMessage SystemInitData SystemInitMcpServer "
        "SystemInitPlugin SystemInitPluginError SystemMessage WorkerShuttingDownMessage"
    ),
    "system_types": "SYSTEM_TYPES",
    "tasks": (
        "BackgroundTask BackgroundTasksChangedMessage McpResourceLink TERMINAL_TASK_STATUSES "
        "TaskNotificationMessage TaskNotificationStatus TaskPatch TaskProgressMessage TaskStartedMessage "
        "TaskUpdatedMessage TaskUpdatedStatus"
    ),
    "tools": "TOOL_ALIASES TOOL_INPUT_TYPES TOOL_OUTPUT_TYPES parse_tool_input parse_tool_output",
    "tools._base": "ToolInput ToolOutput",
    "tools.agents": (
        "AgentCompleted AgentInput AgentLaunched AgentLaunchedRemotely AgentOutput AgentText AgentToolStats "
        "ListAgentsInput SendMessageInput SkillInput SubagentHandbackInput ToolSearchInput WorkflowInput "
        "WorkflowOutput"
    ),
    "tools.files": (
        "ArtifactRead FileEditInput FileEditOutput FileReadImageOutput FileReadInput FileReadNotebookOutput "
        "FileReadOutput FileReadPartsOutput FileReadPdfOutput FileReadTextOutput FileWriteInput FileWriteOutput "
        "GitDiff GlobInput GlobOutput GrepInput GrepOutput ImageDimensions LSPInput NotebookEditInput "
        "NotebookEditOutput PatchHunk ReadImage ReadNotebook ReadPage ReadParts ReadPdf ReadText"
    ),
    "tools.network": (
        "ListMcpResourcesInput McpResourceContent ReadMcpResourceDirInput ReadMcpResourceDirOutput "
        "ReadMcpResourceInput ReadMcpResourceOutput RefreshMcpToolsInput RefreshedMcpServer "
        "SubscribeMcpResourceInput SubscribeOutput SubscribePollingInput UnsubscribeMcpResourceInput "
        "UnsubscribeOutput UnsubscribePollingInput WaitForMcpServersInput WebFetchInput WebFetchOutput "
        "WebSearchHit WebSearchHits WebSearchInput WebSearchOutput"
    ),
    "tools.planning": (
        "AllowedPrompt EnterPlanModeInput EnterPlanModeOutput EnterWorktreeInput EnterWorktreeOutput "
        "ExitPlanModeInput ExitPlanModeOutput ExitWorktreeInput ExitWorktreeOutput TaskCreateInput "
        "TaskCreateOutput TaskGetInput TaskGetOutput TaskListInput TaskListOutput TaskStatusChange TaskSummary "
        "TaskUpdateInput TaskUpdateOutput Todo TodoWriteInput TodoWriteOutput"
    ),
    "tools.questions": (
        "AskUserQuestionInput AskUserQuestionOutput Question QuestionAnnotation QuestionOption answer_questions"
    ),
    "tools.schedule": (
        "CronCreateInput CronCreateOutput CronDeleteInput CronDeleteOutput CronJob CronListInput CronListOutput "
        "PushNotificationInput PushNotificationOutput QueuedNotification ReadNotificationsInput "
        "ReadNotificationsOutput RemoteTriggerInput RemoteTriggerOutput ScheduleWakeupInput ScheduleWakeupOutput"
    ),
    "tools.services": (
        "ArtifactInput ClaudeDesignInput ClaudeDesignOutput ConfigInput ConfigOutput Finding "
        "OfferChromeSetupInput OfferChromeSetupOutput ProjectsInput ProposeGoalInput ProposeGoalOutput "
        "ProposeSkillsInput ProposeSkillsOutput ReportFindingsInput ReportFindingsOutput SendFeedbackInput "
        "SendFeedbackOutput SendUserFileInput ShowOnboardingRolePickerInput ShowOnboardingRolePickerOutput "
        "SkillProposal TextReplacement"
    ),
    "tools.shell": (
        "BashInput BashOutput BashOutputInput GitBranch GitCommit GitOperation GitPush MonitorInput MonitorOutput "
        "MonitorSocket PowerShellInput PullRequest TaskOutputInput TaskStopInput TaskStopOutput"
    ),
    "usage": (
        "CacheCreation ContextUsage FallbackCredit IterationUsage ModelUsage OutputTokensDetails RateLimitInfo "
        "RateLimitStatus RateLimitType RateLimitWindow ServerToolUsage SessionUsage TaskUsage Usage UsageReport"
    ),
}
# fmt: on

HOMES = {name: module for module, names in NAMES.items() for name in names.split()}
