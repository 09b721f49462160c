"""``system`` lines about tasks: sub-agents, background shells, workflows.

``task_started`` … ``task_progress`` … then the end, which may come as ``task_notification`` or only as a
``task_updated`` whose status is final: follow both with ``TERMINAL_TASK_STATUSES``. ``background_tasks_changed`` is the
whole list each time (2.1.325).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ._base import HIDDEN, WireObject
from ._official import official
from ._shapes import Number, TaskUsageDict, Word, constant
from .system import SystemMessage

TaskNotificationStatus = Literal["completed", "failed", "stopped"]
TaskUpdatedStatus = Literal["pending", "running", "paused", "completed", "failed", "killed"]

TERMINAL_TASK_STATUSES: frozenset[str] = frozenset({"completed", "failed", "stopped", "killed"})
"""A task with one of these is over. A stopped task is ``killed`` in an update and ``stopped`` in a notification."""


@official("subtype data task_id description uuid session_id", "tool_use_id task_type")
class TaskStartedMessage(SystemMessage, kw_only=True, tag="system"):
    subtype: str = constant("task_started")
    task_id: str
    description: str = constant("")
    tool_use_id: str | None = None
    task_type: str | None = None
    run_id: str | None = None
    subagent_type: str | None = None
    is_backgrounded: bool | None = None
    spawn_depth: int | None = None
    parent_task_id: str | None = None
    workflow_name: str | None = None
    prompt: str | None = None
    skip_transcript: bool | None = None
    ambient: bool | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            subtype: str = ...,
            data: dict[str, Any] = ...,
            task_id: str = ...,
            description: str = "",
            uuid: str | None = None,
            session_id: str | None = None,
            tool_use_id: str | None = None,
            task_type: str | None = None,
            **ours: Any,
        ) -> None: ...


@official("subtype data task_id description usage uuid session_id", "tool_use_id last_tool_name")
class TaskProgressMessage(SystemMessage, kw_only=True, tag="system"):
    subtype: str = constant("task_progress")
    task_id: str
    description: str = constant("")
    usage: TaskUsageDict = msgspec.field(default_factory=dict)  # type: ignore[assignment]  # {}: it said nothing
    tool_use_id: str | None = None
    last_tool_name: str | None = None
    run_id: str | None = None
    subagent_type: str | None = None
    summary: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            subtype: str = ...,
            data: dict[str, Any] = ...,
            task_id: str = ...,
            description: str = "",
            usage: TaskUsageDict = ...,
            uuid: str | None = None,
            session_id: str | None = None,
            tool_use_id: str | None = None,
            last_tool_name: str | None = None,
            **ours: Any,
        ) -> None: ...


class McpResourceLink(WireObject):
    """A resource of an MCP server that a task has produced."""

    uri: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = msgspec.field(default=None, name="mimeType")
    size: int | None = None
    annotations: dict[str, Any] | None = None


@official("subtype data task_id status output_file summary uuid session_id", "tool_use_id usage")
class TaskNotificationMessage(SystemMessage, kw_only=True, tag="system"):
    """A task has ended; the CLI then starts a turn to tell the model."""

    subtype: str = constant("task_notification")
    task_id: str
    status: Word[TaskNotificationStatus]
    output_file: str = constant("")
    summary: str = constant("")
    tool_use_id: str | None = None
    usage: TaskUsageDict | None = None
    run_id: str | None = None
    reason: str | None = None
    resource_links: list[McpResourceLink] | None = None
    skip_transcript: bool | None = None
    ambient: bool | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            subtype: str = ...,
            data: dict[str, Any] = ...,
            task_id: str = ...,
            status: Word[TaskNotificationStatus] = ...,
            output_file: str = "",
            summary: str = "",
            uuid: str | None = None,
            session_id: str | None = None,
            tool_use_id: str | None = None,
            usage: TaskUsageDict | None = None,
            **ours: Any,
        ) -> None: ...


class TaskPatch(WireObject):
    """The fields of a task that have changed."""

    status: str | None = None
    description: str | None = None
    end_time: Number | None = None
    total_paused_ms: Number | None = None
    error: str | None = None
    is_backgrounded: bool | None = None


@official("subtype data task_id patch", "status session_id uuid")
class TaskUpdatedMessage(SystemMessage, kw_only=True, tag="system"):
    subtype: str = constant("task_updated")
    task_id: str
    patch: dict[str, Any] = msgspec.field(default_factory=dict)
    """The fields that have changed; typed: ``TaskPatch.of(message.patch)``."""
    status: Any = msgspec.field(default=None, name=HIDDEN + "status")
    """The task's new status, if that has changed; see ``TaskUpdatedStatus``."""
    run_id: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            subtype: str = ...,
            data: dict[str, Any] = ...,
            task_id: str = ...,
            patch: dict[str, Any] = ...,
            status: str | None = None,
            session_id: str | None = None,
            uuid: str | None = None,
            **ours: Any,
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.status is None:
            self.status = self.patch.get("status")


class BackgroundTask(WireObject):
    """A task that runs in the background now."""

    task_id: str
    task_type: str | None = None
    description: str | None = None
    run_id: str | None = None
    subagent_type: str | None = None
    parent_task_id: str | None = None
    ambient: bool | None = None


class BackgroundTasksChangedMessage(SystemMessage, kw_only=True, tag="system"):
    """All tasks that run in the background now."""

    subtype: str = constant("background_tasks_changed")
    tasks: list[BackgroundTask]
