"""Tools for planning: plan mode, to-do lists, tasks, worktrees."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput


class AllowedPrompt(View, kw_only=True):
    """A kind of action that the plan needs, in plain words."""

    tool: str
    prompt: str


class EnterPlanModeInput(ToolInput, kw_only=True):
    pass


class ExitPlanModeInput(ToolInput, kw_only=True, rename="camel"):
    """The plan is here only in the model's own call: 2.1.325 removes it before asking for permission."""

    plan: str | None = None
    plan_file_path: str | None = None
    allowed_prompts: list[AllowedPrompt] | None = None
    # up to 2.1.25
    push_to_remote: bool | None = None
    remote_session_id: str | None = None
    remote_session_url: str | None = None
    remote_session_title: str | None = None


class Todo(View, kw_only=True, rename="camel"):
    content: str
    status: str  # pending, in_progress, completed
    active_form: str | None = None


class TodoWriteInput(ToolInput, kw_only=True):
    todos: list[Todo]


class TaskCreateInput(ToolInput, kw_only=True, rename="camel"):
    subject: str
    description: str | None = None
    active_form: str | None = None
    metadata: dict[str, Any] | None = None


class TaskGetInput(ToolInput, kw_only=True, rename="camel"):
    task_id: str


class TaskUpdateInput(ToolInput, kw_only=True, rename="camel"):
    task_id: str
    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    status: str | None = None  # pending, in_progress, completed, deleted
    add_blocks: list[str] | None = None
    add_blocked_by: list[str] | None = None
    owner: str | None = None
    metadata: dict[str, Any] | None = None


class TaskListInput(ToolInput, kw_only=True):
    pass


class EnterWorktreeInput(ToolInput, kw_only=True):
    name: str | None = None
    path: str | None = None


class ExitWorktreeInput(ToolInput, kw_only=True):
    action: str  # keep, remove
    discard_changes: bool | None = None


class EnterPlanModeOutput(ToolOutput, kw_only=True):
    message: str


class ExitPlanModeOutput(ToolOutput, kw_only=True):
    plan: str | None = None
    is_agent: bool | None = None
    file_path: str | None = None
    has_task_tool: bool | None = None
    plan_was_edited: bool | None = None
    awaiting_leader_approval: bool | None = None
    request_id: str | None = None


class TodoWriteOutput(ToolOutput, kw_only=True):
    new_todos: list[Todo]
    old_todos: list[Todo] | None = None


class TaskSummary(ToolOutput, kw_only=True):
    """A task as the four task tools show it, each with some of the fields."""

    id: str
    subject: str | None = None
    description: str | None = None
    status: str | None = None  # pending, in_progress, completed
    owner: str | None = None
    blocks: list[str] | None = None
    blocked_by: list[str] | None = None


class TaskCreateOutput(ToolOutput, kw_only=True):
    task: TaskSummary


class TaskGetOutput(ToolOutput, kw_only=True):
    task: TaskSummary | None = None  # None: no such task


class TaskListOutput(ToolOutput, kw_only=True):
    tasks: list[TaskSummary]


class TaskStatusChange(View, kw_only=True):
    from_: str | None = msgspec.field(default=None, name="from")
    to: str | None = None


class TaskUpdateOutput(ToolOutput, kw_only=True):
    task_id: str
    success: bool | None = None
    updated_fields: list[str] | None = None
    error: str | None = None
    status_change: TaskStatusChange | None = None


class EnterWorktreeOutput(ToolOutput, kw_only=True):
    worktree_path: str
    worktree_branch: str | None = None
    message: str | None = None


class ExitWorktreeOutput(ToolOutput, kw_only=True):
    worktree_path: str
    action: str | None = None
    original_cwd: str | None = None
    worktree_branch: str | None = None
    tmux_session_name: str | None = None
    discarded_files: int | None = None
    discarded_commits: int | None = None
    message: str | None = None
