"""Tasks: sub-agents, shells and workflows that run in the background or for a long time.

A task belongs to a call (``tool_use_id``). In the background the call gets its result immediately and its task
continues; the end comes as ``task_notification``, or only as ``task_updated`` with a final status, mostly as both
(2.1.325); it is reported once. If no turn is running, the CLI then starts one on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quarterdeck.wire import (
    BackgroundTasksChangedMessage,
    TaskNotificationMessage,
    TaskPatch,
    TaskProgressMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    TaskUsage,
)

from ._words import TaskStatus, ToolStatus
from .activity import settle
from .events import Event, TaskChanged, TaskEnded, TaskNotified, TaskProgressed, TaskStarted, ToolOutputAdded
from .limits import clip
from .state import State, Task
from .toolcalls import background_ended, call_of

_STATUSES: dict[str, TaskStatus] = {
    "pending": "running",
    "running": "running",
    "paused": "paused",
    "completed": "completed",
    "failed": "failed",
    "killed": "stopped",
    "stopped": "stopped",
}
_CALL_STATUSES: dict[TaskStatus, ToolStatus] = {"completed": "finished", "failed": "failed", "stopped": "interrupted"}


def fold_task_started(state: State, message: TaskStartedMessage, at: float, out: list[Event]) -> None:
    task = Task(
        id=message.task_id,
        at=at,
        tool_id=message.tool_use_id,
        description=message.description,
        kind=message.task_type,
        agent_type=message.subagent_type,
        background=bool(message.is_backgrounded),
        parent_task_id=message.parent_task_id,
    )
    state.tasks[task.id] = task
    _forget_old(state)
    call = call_of(state, task.tool_id)
    if call is not None:
        call.task_id = task.id
        call.agent_type = task.agent_type or call.agent_type
        call.agent_id = task.id if task.agent_type else call.agent_id
    out.append(
        TaskStarted(
            at, task.id, task.tool_id, task.description, task.kind, task.agent_type, task.background,
            task.parent_task_id,
        )
    )  # fmt: skip
    settle(state, at, out)


def _forget_old(state: State) -> None:
    ended = [key for key, task in state.tasks.items() if task.ended_at is not None]
    for key in ended[: max(0, len(ended) - state.limits.finished_tasks)]:
        del state.tasks[key]


def _task(state: State, key: str, tool_id: str | None, at: float) -> Task:
    """The task, even one that started before we were watching."""
    task = state.tasks.get(key)
    if task is None:
        state.tasks[key] = task = Task(id=key, at=at, tool_id=tool_id)
    return task


def _count(task: Task, said: Mapping[str, Any] | None) -> None:
    if said:
        usage = TaskUsage.of(said)
        task.tokens, task.tool_uses = usage.total_tokens, usage.tool_uses
        task.duration_s = usage.duration_ms / 1000


def fold_task_progress(state: State, message: TaskProgressMessage, at: float, out: list[Event]) -> None:
    task = _task(state, message.task_id, message.tool_use_id, at)
    _count(task, message.usage)
    task.doing, task.last_tool = message.description, message.last_tool_name
    task.summary = message.summary or task.summary
    out.append(
        TaskProgressed(
            at, task.id, task.tool_id, message.description, task.tokens, task.tool_uses, task.duration_s,
            task.last_tool, task.summary,
        )
    )  # fmt: skip


def fold_task_updated(state: State, message: TaskUpdatedMessage, at: float, out: list[Event]) -> None:
    task = _task(state, message.task_id, None, at)
    patch = TaskPatch.of(message.patch)
    if task.ended_at is not None:
        return
    before = msgspec.structs.replace(task)
    task.description = patch.description or task.description
    task.error = patch.error or task.error
    if patch.is_backgrounded is not None:
        task.background = patch.is_backgrounded
    status = _STATUSES.get(patch.status or "", task.status)
    if status in _CALL_STATUSES:
        _end(state, task, status, at, out)
        return
    task.status = status
    if task != before:
        out.append(TaskChanged(at, task.id, status, task.background, task.description, task.tool_id))
    settle(state, at, out)


def fold_task_notification(state: State, message: TaskNotificationMessage, at: float, out: list[Event]) -> None:
    task = _task(state, message.task_id, message.tool_use_id, at)
    _count(task, message.usage)
    task.tool_id = task.tool_id or message.tool_use_id
    task.summary = message.summary or task.summary
    task.output_path = message.output_file or task.output_path
    task.error = message.reason or task.error
    if task.ended_at is None:
        _end(state, task, _STATUSES.get(message.status, "completed"), at, out)
    task.told = True
    out.append(
        TaskNotified(
            at, task.id, task.tool_id, task.status, task.summary or "", task.output_path,
            background=task.background, while_idle=state.turn_started_at is None,
        )
    )  # fmt: skip


def _end(state: State, task: Task, status: TaskStatus, at: float, out: list[Event]) -> None:
    task.status, task.ended_at, task.doing = status, at, None
    out.append(
        TaskEnded(
            at, task.id, task.tool_id, status, task.description, task.error, task.background, task.tokens,
            task.tool_uses, task.duration_s,
        )
    )  # fmt: skip
    call = call_of(state, task.tool_id)
    if call is not None:
        background_ended(state, call, _CALL_STATUSES[status], at, out)
    settle(state, at, out)


def end_tasks(state: State, at: float, out: list[Event]) -> None:
    """The CLI has ended, and its tasks with it."""
    for task in list(state.tasks.values()):
        if task.ended_at is None:
            _end(state, task, "stopped", at, out)


def fold_background_tasks(state: State, message: BackgroundTasksChangedMessage, at: float, out: list[Event]) -> None:
    """The whole list. It precedes ``task_started`` for a new task and follows the notification for an old one."""
    for listed in message.tasks:
        task = state.tasks.get(listed.task_id)
        if task is not None and task.ended_at is None and not task.background:
            task.background = True
            out.append(TaskChanged(at, task.id, task.status, True, task.description, task.tool_id))
    settle(state, at, out)


def fold_task_output(state: State, key: str, output: str, at: float, out: list[Event]) -> None:
    """The answer to ``get_task_output``: what a task has written so far."""
    task = state.tasks.get(key)
    kept = clip(output, state.limits.output_chars)
    call = call_of(state, task.tool_id) if task is not None else None
    if task is not None:
        task.output = kept
    if call is not None:
        call.live_output = msgspec.structs.replace(kept)
    out.append(ToolOutputAdded(at, call.id if call is not None else "", kept, key))
