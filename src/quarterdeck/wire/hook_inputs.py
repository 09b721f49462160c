"""Hook inputs from the CLI: one class per event, discriminated by ``hook_event_name``.

Names and types follow CLI 2.1.325. Older versions send fewer fields, so a field is required only if the event is
meaningless without it. Values from a fixed set (``source``, ``trigger`` …) are plain strings, so that a new value does
not make the input unreadable; the known values are listed next to the field.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ._base import HIDDEN
from ._shapes import Number
from ._view import View
from .mcp import McpServerProvenance


class HookEffort(View, kw_only=True):
    level: str | None = None  # low, medium, high, xhigh, max: what the model runs at after any silent downgrade


class BackgroundTaskSummary(View, kw_only=True):
    """Work still running in the background. Texts are truncated to 1000 characters, with a note of how
    much is missing."""

    id: str
    type: str | None = None  # shell, subagent, monitor, workflow …
    status: str | None = None
    description: str | None = None
    command: str | None = None  # shell
    agent_type: str | None = None  # subagent
    server: str | None = None  # monitor
    tool: str | None = None  # monitor
    name: str | None = None  # workflow


class SessionCronSummary(View, kw_only=True):
    id: str
    schedule: str | None = None
    recurring: bool | None = None
    prompt: str | None = None


class PostToolBatchToolCall(View, kw_only=True):
    """One call of a batch. Here ``tool_response`` is the text the model reads, not the tool's own result object."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    tool_response: Any = None


class HookInput(View, kw_only=True):
    """Fields common to all events."""

    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    permission_mode: str | None = None
    prompt_id: str | None = None  # joins all events of one prompt; absent until the first; not sent by 2.0.77, 2.1.25
    effort: HookEffort | None = None
    agent_id: str | None = None  # set only inside a subagent: distinguishes its calls from the main thread's
    agent_type: str | None = None  # also set on the main thread of a session started as an agent

    @property
    def hook_event_name(self) -> str:
        name = self.get("hook_event_name")
        return name if isinstance(name, str) else ""


class UnknownHookInput(HookInput, kw_only=True):
    """An event that this version does not know, or whose shape differs. It reads like the dict it was."""

    reason: str = msgspec.field(default="", name=HIDDEN + "reason")  # hidden: events have their own `reason`


class _Event(HookInput, kw_only=True, tag_field="hook_event_name"):
    pass


class _ToolEvent(_Event, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    mcp_server: McpServerProvenance | None = None


class PreToolUseHookInput(_ToolEvent, kw_only=True, tag="PreToolUse"):
    tool_use_id: str | None = None


class PostToolUseHookInput(_ToolEvent, kw_only=True, tag="PostToolUse"):
    tool_response: Any = None
    tool_use_id: str | None = None
    duration_ms: Number | None = None  # without the time spent in permission prompts and hooks


class PostToolUseFailureHookInput(_ToolEvent, kw_only=True, tag="PostToolUseFailure"):
    tool_use_id: str | None = None
    error: str
    is_interrupt: bool | None = None
    duration_ms: Number | None = None


class PostToolBatchHookInput(_Event, kw_only=True, tag="PostToolBatch"):
    tool_calls: list[PostToolBatchToolCall]


class NotificationHookInput(_Event, kw_only=True, tag="Notification"):
    message: str
    title: str | None = None
    notification_type: str | None = None


class UserPromptSubmitHookInput(_Event, kw_only=True, tag="UserPromptSubmit"):
    prompt: str
    source: str | None = None  # user, sdk, system, loop_wakeup, schedule_wakeup, poll_event
    session_title: str | None = None


class UserPromptExpansionHookInput(_Event, kw_only=True, tag="UserPromptExpansion"):
    command_name: str
    expansion_type: str | None = None  # slash_command, mcp_prompt
    command_args: str | None = None
    command_source: str | None = None
    prompt: str | None = None


class SessionStartHookInput(_Event, kw_only=True, tag="SessionStart"):
    """Over the control channel only ``compact`` and ``clear`` arrive: the others fire before hooks are registered."""

    source: str  # startup, resume, clear, compact, fork
    model: str | None = None
    session_title: str | None = None
    # of a resumed or forked session, about the transcript it continues
    seconds_since_last_response: Number | None = None
    context_tokens: int | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: Number | None = None


class SessionEndHookInput(_Event, kw_only=True, tag="SessionEnd"):
    reason: str  # one of EXIT_REASONS


class _StopEvent(_Event, kw_only=True):
    stop_hook_active: bool = False  # true when a stop hook already made this turn continue: do not block forever
    last_assistant_message: str | None = None
    background_tasks: list[BackgroundTaskSummary] | None = None
    session_crons: list[SessionCronSummary] | None = None


class StopHookInput(_StopEvent, kw_only=True, tag="Stop"):
    pass


class StopFailureHookInput(_Event, kw_only=True, tag="StopFailure"):
    error: str
    error_details: str | None = None
    last_assistant_message: str | None = None


class SubagentStartHookInput(_Event, kw_only=True, tag="SubagentStart"):
    agent_id: str
    agent_type: str = ""


class SubagentStopHookInput(_StopEvent, kw_only=True, tag="SubagentStop"):
    """Compaction runs as a subagent too: it stops with an empty ``agent_type`` (2.1.325)."""

    agent_id: str
    agent_type: str = ""
    agent_transcript_path: str | None = None


class PreCompactHookInput(_Event, kw_only=True, tag="PreCompact"):
    trigger: str  # manual, auto
    custom_instructions: str | None = None


class PostCompactHookInput(_Event, kw_only=True, tag="PostCompact"):
    trigger: str  # manual, auto
    compact_summary: str | None = None


class _ModelSwitchEvent(_Event, kw_only=True):
    from_model: str
    to_model: str
    requested_model: str | None = None  # None: the default model was asked for
    source: str | None = None  # command, picker, sdk; after the switch also auto, resume
    context_tokens: int | None = None
    prompt_cache_warm: bool | None = None
    cache_ttl: str | None = None  # 5m, 1h
    estimated_cache_write_usd: Number | None = None
    pricing: str | None = None  # configured, catalog, default


class PreModelSwitchHookInput(_ModelSwitchEvent, kw_only=True, tag="PreModelSwitch"):
    pass


class PostModelSwitchHookInput(_ModelSwitchEvent, kw_only=True, tag="PostModelSwitch"):
    pass


class PermissionRequestHookInput(_ToolEvent, kw_only=True, tag="PermissionRequest"):
    """Unlike the other tool events it has no ``tool_use_id``."""

    permission_suggestions: list[dict[str, Any]] | None = None


class PermissionDeniedHookInput(_ToolEvent, kw_only=True, tag="PermissionDenied"):
    tool_use_id: str | None = None
    reason: str | None = None


class SetupHookInput(_Event, kw_only=True, tag="Setup"):
    trigger: str  # init, maintenance


class TeammateIdleHookInput(_Event, kw_only=True, tag="TeammateIdle"):
    teammate_name: str
    team_name: str | None = None  # deprecated by the CLI: a session has one team


class _TaskEvent(_Event, kw_only=True):
    task_id: str
    task_subject: str | None = None
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None  # deprecated by the CLI: a session has one team


class TaskCreatedHookInput(_TaskEvent, kw_only=True, tag="TaskCreated"):
    pass


class TaskCompletedHookInput(_TaskEvent, kw_only=True, tag="TaskCompleted"):
    pass


class _ElicitationEvent(_Event, kw_only=True):
    mcp_server_name: str
    mode: str | None = None  # form, url
    elicitation_id: str | None = None


class ElicitationHookInput(_ElicitationEvent, kw_only=True, tag="Elicitation"):
    message: str | None = None
    url: str | None = None
    requested_schema: dict[str, Any] | None = None


class ElicitationResultHookInput(_ElicitationEvent, kw_only=True, tag="ElicitationResult"):
    action: str  # accept, decline, cancel
    content: dict[str, Any] | None = None


class ConfigChangeHookInput(_Event, kw_only=True, tag="ConfigChange"):
    source: str  # user_settings, project_settings, local_settings, policy_settings, skills
    file_path: str | None = None


class WorktreeCreateHookInput(_Event, kw_only=True, tag="WorktreeCreate"):
    name: str


class WorktreeRemoveHookInput(_Event, kw_only=True, tag="WorktreeRemove"):
    worktree_path: str


class InstructionsLoadedHookInput(_Event, kw_only=True, tag="InstructionsLoaded"):
    file_path: str
    memory_type: str | None = None  # User, Project, Local, Managed
    load_reason: str | None = None  # session_start, nested_traversal, path_glob_match, include, compact
    globs: list[str] | None = None
    trigger_file_path: str | None = None
    parent_file_path: str | None = None


class CwdChangedHookInput(_Event, kw_only=True, tag="CwdChanged"):
    old_cwd: str | None = None
    new_cwd: str


class FileChangedHookInput(_Event, kw_only=True, tag="FileChanged"):
    file_path: str
    event: str | None = None  # change, add, unlink


class DirectoryAddedHookInput(_Event, kw_only=True, tag="DirectoryAdded"):
    directory: str
    source: str | None = None  # slash_command, register_repo_root


class MessageDisplayHookInput(_Event, kw_only=True, tag="MessageDisplay"):
    """Whole lines of an assistant message as they are shown; the last part may be empty and has ``final``."""

    delta: str
    message_id: str | None = None
    turn_id: str | None = None
    index: int | None = None
    final: bool | None = None
