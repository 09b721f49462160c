"""Background tasks, and hooks."""

from __future__ import annotations

from quarterdeck.timeline._words import EventBase, HookSource, TaskStatus
from quarterdeck.timeline.parts import Kept


class TaskStarted(EventBase, frozen=True):
    """A task of a sub-agent, a shell or a workflow started. ``tool_id`` is the call it belongs to."""

    id: str
    tool_id: str | None
    description: str
    kind: str | None = None
    agent_type: str | None = None
    background: bool = False
    parent_task_id: str | None = None


class TaskProgressed(EventBase, frozen=True):
    """A task's progress and usage."""

    id: str
    tool_id: str | None
    doing: str
    tokens: int = 0
    tool_uses: int = 0
    duration_s: float = 0.0
    last_tool: str | None = None
    summary: str | None = None


class TaskChanged(EventBase, frozen=True):
    """A task was paused, continued, or moved to the background."""

    id: str
    status: TaskStatus
    background: bool
    description: str = ""
    tool_id: str | None = None


class TaskEnded(EventBase, frozen=True):
    """A task ended."""

    id: str
    tool_id: str | None
    status: TaskStatus
    description: str = ""
    error: str | None = None
    background: bool = False
    tokens: int = 0
    tool_uses: int = 0
    duration_s: float = 0.0


class TaskNotified(EventBase, frozen=True):
    """The outcome of a task. The model receives it, too, in a new turn if none is running (``while_idle``)."""

    id: str
    tool_id: str | None
    status: TaskStatus
    summary: str
    output_path: str | None = None
    background: bool = False
    while_idle: bool = False


class HookStarted(EventBase, frozen=True):
    """A hook started."""

    id: str
    event: str
    name: str = ""
    source: HookSource = "command"
    tool_id: str | None = None


class HookProgressed(EventBase, frozen=True):
    """A hook's output so far."""

    id: str
    output: Kept


class HookEnded(EventBase, frozen=True):
    """A hook ended: ``success``, ``error``, ``cancelled``, or a callback's decision (``allow``, ``deny`` …)."""

    id: str
    event: str
    outcome: str
    name: str = ""
    output: Kept | None = None
    exit_code: int | None = None
    tool_id: str | None = None
