"""Tools that start other agents, talk to them, or load abilities: subagents, messages, skills, workflows."""

from __future__ import annotations

from typing import Any, TypeAlias

from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View
from quarterdeck.wire.usage import Usage

from . import ToolInput, ToolOutput


class AgentInput(ToolInput, kw_only=True):
    """``Agent`` to the model; ``Task`` in the lists and messages of the stream (2.1.325)."""

    prompt: str
    description: str | None = None
    subagent_type: str | None = None
    model: str | None = None
    effort: str | None = None
    run_in_background: bool | None = None  # newer CLIs run agents in the background unless this is false
    name: str | None = None
    isolation: str | None = None  # worktree, remote
    team_name: str | None = None  # ignored by 2.1.325
    mode: str | None = None  # ignored by 2.1.325
    resume: str | None = None  # up to 2.1.52
    max_turns: int | None = None  # up to 2.1.52


class SendMessageInput(ToolInput, kw_only=True):
    to: str
    message: str
    summary: str | None = None
    notify_when_idle: bool | None = None


class ListAgentsInput(ToolInput, kw_only=True):
    channel: str | None = None
    q: str | None = None


class SubagentHandbackInput(ToolInput, kw_only=True):
    message: str


class SkillInput(ToolInput, kw_only=True):
    skill: str
    args: str | None = None


class ToolSearchInput(ToolInput, kw_only=True):
    query: str
    max_results: Number | None = None


class WorkflowInput(ToolInput, kw_only=True, rename="camel"):
    script: str | None = None
    name: str | None = None
    description: str | None = None
    title: str | None = None
    args: Any = None
    script_path: str | None = None
    resume_from_run_id: str | None = None


class AgentText(View, kw_only=True):
    text: str
    type: str | None = None
    citations: list[Any] | None = None


class AgentToolStats(ToolOutput, kw_only=True):
    read_count: int | None = None
    search_count: int | None = None
    bash_count: int | None = None
    edit_file_count: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    other_tool_count: int | None = None
    frame_count: int | None = None


class AgentCompleted(ToolOutput, kw_only=True, tag_field="status", tag="completed"):
    content: list[AgentText]
    agent_id: str | None = None
    agent_type: str | None = None
    prompt: str | None = None
    resolved_model: str | None = None
    models_used: list[str] | None = None
    total_tool_use_count: int | None = None
    total_duration_ms: Number | None = None
    total_tokens: int | None = None
    usage: Usage | None = None
    tools_used: list[str] | None = None
    tool_stats: AgentToolStats | None = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    can_continue_agent: bool | None = None
    # bookkeeping of the CLI, seen in 2.1.325
    harness_note_count: int | None = None
    harness_tail_count: int | None = None
    harness_section_hash: str | None = None


class AgentLaunched(ToolOutput, kw_only=True, tag_field="status", tag="async_launched"):
    agent_id: str
    is_async: bool | None = None
    description: str | None = None
    prompt: str | None = None
    resolved_model: str | None = None
    models_used: list[str] | None = None
    output_file: str | None = None
    can_read_output_file: bool | None = None
    can_continue_agent: bool | None = None


class AgentLaunchedRemotely(ToolOutput, kw_only=True, tag_field="status", tag="remote_launched"):
    task_id: str
    session_url: str | None = None
    description: str | None = None
    prompt: str | None = None
    output_file: str | None = None


AgentOutput: TypeAlias = AgentCompleted | AgentLaunched | AgentLaunchedRemotely


class WorkflowOutput(ToolOutput, kw_only=True):
    task_id: str
    status: str | None = None  # async_launched, remote_launched
    task_type: str | None = None
    workflow_name: str | None = None
    run_id: str | None = None
    summary: str | None = None
    transcript_dir: str | None = None
    script_path: str | None = None
    session_url: str | None = None
    warning: str | None = None
    error: str | None = None
