"""Tasks in the background: commands and sub-agents that run beside the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        BackgroundTasksResult,
        TaskOutput,
    )


class TaskControls(ControlsBase):
    """Tasks in the background. Which there are is told by messages (``TaskStarted`` and after), not by a request."""

    async def stop_task(self, task_id: str) -> None:
        """Stop a task. That it stopped is told by messages that come before the answer.

        An unknown task is no error on 2.1.325, and one on 2.1.52; older CLIs do not know the request.
        """
        await self._tell(wire.StopTaskRequest(task_id))

    async def background_tasks(self, tool_use_id: str | None = None) -> BackgroundTasksResult:
        """Send what runs in the foreground to the background, so that the turn goes on: this tool call, or all.

        In a command's first seconds, before it is a task, nothing happens and the answer does not say so; without a
        ``tool_use_id`` it never says (2.1.325).
        """
        return await self._ask(wire.BackgroundTasksRequest(tool_use_id), wire.BackgroundTasksResult)

    async def task_output(self, task_id: str) -> TaskOutput:
        """What a task has written so far, or the end of it. An unknown task is an error."""
        return await self._ask(wire.GetTaskOutputRequest(task_id), wire.TaskOutput)
