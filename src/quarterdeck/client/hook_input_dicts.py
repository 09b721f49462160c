"""What a hook callback gets, as typed dicts with the official SDK's names: one per event, by ``hook_event_name``.

Those of events that the official SDK knows have exactly its keys; the others require what every CLI sends.
``quarterdeck.wire`` has classes of these names, with attributes for all keys, which say what values a key may have.
"""

# Annotations are not kept as text here: typed dicts would not notice ``NotRequired`` in it.

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class HookEffort(TypedDict):
    level: str


class BackgroundTaskSummary(TypedDict):
    """Work still running in the background. Texts are truncated to 1000 characters."""

    id: str
    type: str
    status: str
    description: str
    command: NotRequired[str]
    agent_type: NotRequired[str]
    server: NotRequired[str]
    tool: NotRequired[str]
    name: NotRequired[str]


class SessionCronSummary(TypedDict):
    id: str
    schedule: str
    recurring: bool
    prompt: str


class BaseHookInput(TypedDict):
    """What every event carries."""

    session_id: str
    transcript_path: str
    cwd: str
    permission_mode: NotRequired[str]
    prompt_id: NotRequired[str]
    effort: NotRequired[HookEffort]


class _Agent(TypedDict, total=False):
    """Apart from ``BaseHookInput``: two events require these, and some of the official ones have none."""

    agent_id: str
    agent_type: str


class _Event(BaseHookInput, _Agent):
    pass


class _ToolEvent(_Event):
    tool_name: str
    tool_input: dict[str, Any]


class PreToolUseHookInput(_ToolEvent):
    hook_event_name: Literal["PreToolUse"]
    tool_use_id: str


class PostToolUseHookInput(_ToolEvent):
    hook_event_name: Literal["PostToolUse"]
    tool_response: Any
    tool_use_id: str
    duration_ms: NotRequired[int]


class PostToolUseFailureHookInput(_ToolEvent):
    hook_event_name: Literal["PostToolUseFailure"]
    tool_use_id: str
    error: str
    is_interrupt: NotRequired[bool]
    duration_ms: NotRequired[int]


class PostToolBatchToolCall(TypedDict):
    """One call of a batch. Here ``tool_response`` is the text the model reads, not the tool's own result object."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: NotRequired[str]
    tool_response: NotRequired[Any]


class PostToolBatchHookInput(_Event):
    hook_event_name: Literal["PostToolBatch"]
    tool_calls: list[PostToolBatchToolCall]


class NotificationHookInput(BaseHookInput):
    hook_event_name: Literal["Notification"]
    message: str
    title: NotRequired[str]
    notification_type: str


class UserPromptSubmitHookInput(BaseHookInput):
    hook_event_name: Literal["UserPromptSubmit"]
    prompt: str


class UserPromptExpansionHookInput(_Event):
    hook_event_name: Literal["UserPromptExpansion"]
    command_name: str
    expansion_type: NotRequired[str]
    command_args: NotRequired[str]
    command_source: NotRequired[str]
    prompt: NotRequired[str]


class SessionStartHookInput(_Event):
    hook_event_name: Literal["SessionStart"]
    source: str
    model: NotRequired[str]
    session_title: NotRequired[str]
    seconds_since_last_response: NotRequired[float]
    context_tokens: NotRequired[int]
    prompt_cache_likely_expired: NotRequired[bool]
    estimated_cache_write_usd: NotRequired[float]


class SessionEndHookInput(_Event):
    hook_event_name: Literal["SessionEnd"]
    reason: str


class _Stop(TypedDict):
    stop_hook_active: bool
    last_assistant_message: NotRequired[str]
    background_tasks: NotRequired[list[BackgroundTaskSummary]]
    session_crons: NotRequired[list[SessionCronSummary]]


class StopHookInput(BaseHookInput, _Stop):
    hook_event_name: Literal["Stop"]


class StopFailureHookInput(_Event):
    hook_event_name: Literal["StopFailure"]
    error: str
    error_details: NotRequired[str]
    last_assistant_message: NotRequired[str]


class SubagentStartHookInput(BaseHookInput):
    hook_event_name: Literal["SubagentStart"]
    agent_id: str
    agent_type: str


class SubagentStopHookInput(BaseHookInput, _Stop):
    hook_event_name: Literal["SubagentStop"]
    agent_id: str
    agent_type: str
    agent_transcript_path: str


class PreCompactHookInput(BaseHookInput):
    hook_event_name: Literal["PreCompact"]
    trigger: Literal["manual", "auto"]
    custom_instructions: str | None


class PostCompactHookInput(_Event):
    hook_event_name: Literal["PostCompact"]
    trigger: Literal["manual", "auto"]
    compact_summary: NotRequired[str]


class _ModelSwitchEvent(_Event):
    from_model: str
    to_model: str
    requested_model: NotRequired[str | None]
    source: NotRequired[str]
    context_tokens: NotRequired[int]
    prompt_cache_warm: NotRequired[bool]
    cache_ttl: NotRequired[str]
    estimated_cache_write_usd: NotRequired[float]
    pricing: NotRequired[str]


class PreModelSwitchHookInput(_ModelSwitchEvent):
    hook_event_name: Literal["PreModelSwitch"]


class PostModelSwitchHookInput(_ModelSwitchEvent):
    hook_event_name: Literal["PostModelSwitch"]


class PermissionRequestHookInput(_ToolEvent):
    hook_event_name: Literal["PermissionRequest"]
    permission_suggestions: NotRequired[list[Any]]


class PermissionDeniedHookInput(_ToolEvent):
    hook_event_name: Literal["PermissionDenied"]
    mcp_server: NotRequired[dict[str, Any]]
    tool_use_id: NotRequired[str]
    reason: NotRequired[str]


class SetupHookInput(_Event):
    hook_event_name: Literal["Setup"]
    trigger: str


class TeammateIdleHookInput(_Event):
    hook_event_name: Literal["TeammateIdle"]
    teammate_name: str
    team_name: NotRequired[str]


class _TaskEvent(_Event):
    task_id: str
    task_subject: NotRequired[str]
    task_description: NotRequired[str]
    teammate_name: NotRequired[str]
    team_name: NotRequired[str]


class TaskCreatedHookInput(_TaskEvent):
    hook_event_name: Literal["TaskCreated"]


class TaskCompletedHookInput(_TaskEvent):
    hook_event_name: Literal["TaskCompleted"]


class _ElicitationEvent(_Event):
    mcp_server_name: str
    mode: NotRequired[str]
    elicitation_id: NotRequired[str]


class ElicitationHookInput(_ElicitationEvent):
    hook_event_name: Literal["Elicitation"]
    message: NotRequired[str]
    url: NotRequired[str]
    requested_schema: NotRequired[dict[str, Any]]


class ElicitationResultHookInput(_ElicitationEvent):
    hook_event_name: Literal["ElicitationResult"]
    action: str
    content: NotRequired[dict[str, Any]]


class ConfigChangeHookInput(_Event):
    hook_event_name: Literal["ConfigChange"]
    source: str
    file_path: NotRequired[str]


class WorktreeCreateHookInput(_Event):
    hook_event_name: Literal["WorktreeCreate"]
    name: str


class WorktreeRemoveHookInput(_Event):
    hook_event_name: Literal["WorktreeRemove"]
    worktree_path: str


class InstructionsLoadedHookInput(_Event):
    hook_event_name: Literal["InstructionsLoaded"]
    file_path: str
    memory_type: NotRequired[str]
    load_reason: NotRequired[str]
    globs: NotRequired[list[str]]
    trigger_file_path: NotRequired[str]
    parent_file_path: NotRequired[str]


class CwdChangedHookInput(_Event):
    hook_event_name: Literal["CwdChanged"]
    old_cwd: NotRequired[str]
    new_cwd: str


class FileChangedHookInput(_Event):
    hook_event_name: Literal["FileChanged"]
    file_path: str
    event: NotRequired[str]


class DirectoryAddedHookInput(_Event):
    hook_event_name: Literal["DirectoryAdded"]
    directory: str
    source: NotRequired[str]


class MessageDisplayHookInput(_Event):
    hook_event_name: Literal["MessageDisplay"]
    delta: str
    message_id: NotRequired[str]
    turn_id: NotRequired[str]
    index: NotRequired[int]
    final: NotRequired[bool]


HookInput: TypeAlias = (
    PreToolUseHookInput
    | PostToolUseHookInput
    | PostToolUseFailureHookInput
    | PostToolBatchHookInput
    | NotificationHookInput
    | UserPromptSubmitHookInput
    | UserPromptExpansionHookInput
    | SessionStartHookInput
    | SessionEndHookInput
    | StopHookInput
    | StopFailureHookInput
    | SubagentStartHookInput
    | SubagentStopHookInput
    | PreCompactHookInput
    | PostCompactHookInput
    | PreModelSwitchHookInput
    | PostModelSwitchHookInput
    | PermissionRequestHookInput
    | PermissionDeniedHookInput
    | SetupHookInput
    | TeammateIdleHookInput
    | TaskCreatedHookInput
    | TaskCompletedHookInput
    | ElicitationHookInput
    | ElicitationResultHookInput
    | ConfigChangeHookInput
    | WorktreeCreateHookInput
    | WorktreeRemoveHookInput
    | InstructionsLoadedHookInput
    | CwdChangedHookInput
    | FileChangedHookInput
    | DirectoryAddedHookInput
    | MessageDisplayHookInput
)

__all__ = [
    "BackgroundTaskSummary",
    "BaseHookInput",
    "ConfigChangeHookInput",
    "CwdChangedHookInput",
    "DirectoryAddedHookInput",
    "ElicitationHookInput",
    "ElicitationResultHookInput",
    "FileChangedHookInput",
    "HookEffort",
    "HookInput",
    "InstructionsLoadedHookInput",
    "MessageDisplayHookInput",
    "NotificationHookInput",
    "PermissionDeniedHookInput",
    "PermissionRequestHookInput",
    "PostCompactHookInput",
    "PostModelSwitchHookInput",
    "PostToolBatchHookInput",
    "PostToolBatchToolCall",
    "PostToolUseFailureHookInput",
    "PostToolUseHookInput",
    "PreCompactHookInput",
    "PreModelSwitchHookInput",
    "PreToolUseHookInput",
    "SessionCronSummary",
    "SessionEndHookInput",
    "SessionStartHookInput",
    "SetupHookInput",
    "StopFailureHookInput",
    "StopHookInput",
    "SubagentStartHookInput",
    "SubagentStopHookInput",
    "TaskCompletedHookInput",
    "TaskCreatedHookInput",
    "TeammateIdleHookInput",
    "UserPromptExpansionHookInput",
    "UserPromptSubmitHookInput",
    "WorktreeCreateHookInput",
    "WorktreeRemoveHookInput",
]
