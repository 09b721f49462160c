"""The running turn and what it runs on: interrupt, queued prompts, model, permission mode, background tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from quarterdeck import wire
from quarterdeck.wire.permissions import PermissionMode
from quarterdeck.wire.requests.session import ProactivityLevel

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        BackgroundTasksResult,
        InterruptReceipt,
        ModelAnswer,
        PermissionModeAnswer,
        TaskOutput,
        ThinkingDisplay,
    )


class TurnControls(ControlsBase):
    """Steering what runs now and what runs next."""

    async def interrupt(
        self,
        cancel_queued: bool = False,
        *,
        reason: str | None = None,
        send_now: bool = False,
        message_uuid: str | None = None,
        for_user_message_uuids: Sequence[str] | None = None,
        spare_background_tasks: bool = False,
    ) -> InterruptReceipt:
        """Stop the running turn; no error when there is none. The turn still ends with its ``ResultMessage``.

        Args:
            cancel_queued: Drop the prompts that still wait, too; the receipt's ``cancelled`` lists them.
            reason: Why, for the transcript.
            send_now: Let the prompts that wait begin at once.
            message_uuid: The prompt this is about.
            for_user_message_uuids: Stop only a turn that serves one of these prompts.
            spare_background_tasks: Leave tasks in the background alone; commands are left alone in any case (2.1.325).

        Returns:
            What is left: ``still_queued`` are the ids of prompts that will still run. 2.0.77 and 2.1.25 answer without
            a payload: the receipt is empty, and nothing is known about the queue.
        """
        request = wire.InterruptRequest(
            cancel_queued=cancel_queued or None,
            reason=reason,
            send_now=send_now or None,
            message_uuid=message_uuid,
            for_user_message_uuids=None if for_user_message_uuids is None else list(for_user_message_uuids),
            spare_background_tasks=spare_background_tasks or None,
        )
        return await self._ask(request, wire.InterruptReceipt)

    async def cancel_prompt(self, uuid: str) -> bool:
        """Take back a prompt that still waits; False if it runs already, is done, or was never known."""
        answer = await self._ask(wire.CancelAsyncMessageRequest(uuid), wire.CancelAsyncMessageResult)
        return bool(answer.get("cancelled"))

    async def set_model(
        self,
        model: str | None = None,
        *,
        system_prompt: str | None = None,
        only_if_model_is_current: bool = False,
    ) -> ModelAnswer:
        """Change the model, also in the middle of a turn; None goes back to the default.

        A name that no model has is taken without an error (2.1.325): look at the answer's ``model``, which is the full
        name, or at ``models()``.
        """
        request = wire.SetModelRequest(model, system_prompt, only_if_model_is_current or None)
        return await self._ask(request, wire.ModelAnswer)

    async def set_max_thinking_tokens(
        self,
        max_thinking_tokens: int | UnsetType | None = UNSET,
        *,
        thinking_display: ThinkingDisplay | UnsetType | None = UNSET,
    ) -> None:
        """Change the thinking budget and how thinking is shown. None takes a change back; left out, it stays."""
        await self._tell(wire.SetMaxThinkingTokensRequest(max_thinking_tokens, thinking_display))

    async def set_permission_mode(self, mode: PermissionMode, *, ultraplan: bool = False) -> PermissionModeAnswer:
        """Change the permission mode; the answer has the mode in effect.

        ``bypassPermissions`` must have been allowed at launch, else the error's ``code`` is ``bypass_not_launched``; a
        mode that is none has ``invalid_mode`` (2.1.325).
        """
        return await self._ask(wire.SetPermissionModeRequest(mode, ultraplan or None), wire.PermissionModeAnswer)

    async def set_proactivity_level(self, level: ProactivityLevel, *, offer_bypass: bool = False) -> dict[str, Any]:
        """How much to do unasked; refused unless ``initialize`` said ``proactivity`` (2.1.325)."""
        return await self._ask_freely(wire.SetProactivityLevelRequest(level, offer_bypass or None))

    async def set_prompt_suggestions_paused(self, paused: bool) -> None:
        """Stop or resume suggesting the next prompt."""
        await self._tell(wire.SetPromptSuggestionsPausedRequest(paused))

    # Background tasks: messages (``TaskStarted`` and those after it) tell which there are, not a request

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
