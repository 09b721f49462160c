"""Steers the running turn: interrupt, queued prompts, model, permission mode, background tasks."""

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
    """Steers what runs now and what runs next."""

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
        """Stop the running turn, if there is one. The turn still ends with its ``ResultMessage``.

        Args:
            cancel_queued: Also drop queued prompts; the receipt's ``cancelled`` lists them.
            reason: Why, for the transcript.
            send_now: Start queued prompts at once.
            message_uuid: The prompt this is about.
            for_user_message_uuids: Stop only a turn that serves one of these prompts.
            spare_background_tasks: Leave background tasks running; background commands always are (2.1.325).

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
        """Cancel a queued prompt; False if it is running, done or unknown."""
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

        The CLI accepts names of models that do not exist (2.1.325): check the answer's ``model``, the full name, or
        ``models()``.
        """
        request = wire.SetModelRequest(model, system_prompt, only_if_model_is_current or None)
        return await self._ask(request, wire.ModelAnswer)

    async def set_max_thinking_tokens(
        self,
        max_thinking_tokens: int | UnsetType | None = UNSET,
        *,
        thinking_display: ThinkingDisplay | UnsetType | None = UNSET,
    ) -> None:
        """Change the thinking budget and how thinking is shown. None restores the default; omitted values are
        unchanged."""
        await self._tell(wire.SetMaxThinkingTokensRequest(max_thinking_tokens, thinking_display))

    async def set_permission_mode(self, mode: PermissionMode, *, ultraplan: bool = False) -> PermissionModeAnswer:
        """Change the permission mode; the answer has the mode in effect.

        ``bypassPermissions`` must have been allowed at launch, else the error's ``code`` is ``bypass_not_launched``;
        for an unknown mode it is ``invalid_mode`` (2.1.325).
        """
        return await self._ask(wire.SetPermissionModeRequest(mode, ultraplan or None), wire.PermissionModeAnswer)

    async def set_proactivity_level(self, level: ProactivityLevel, *, offer_bypass: bool = False) -> dict[str, Any]:
        """Set how proactive Claude is; refused unless ``initialize`` had ``proactivity`` (2.1.325)."""
        return await self._ask_freely(wire.SetProactivityLevelRequest(level, offer_bypass or None))

    async def set_prompt_suggestions_paused(self, paused: bool) -> None:
        """Stop or resume suggesting the next prompt."""
        await self._tell(wire.SetPromptSuggestionsPausedRequest(paused))

    # Background tasks: messages (``TaskStarted`` and those after it) tell which there are, not a request

    async def stop_task(self, task_id: str) -> None:
        """Stop a task. Messages before the answer report the stop.

        An unknown task is an error on 2.1.52 but not on 2.1.325; older CLIs do not know the request.
        """
        await self._tell(wire.StopTaskRequest(task_id))

    async def background_tasks(self, tool_use_id: str | None = None) -> BackgroundTasksResult:
        """Move a running tool call (or all of them) to the background, so that the turn continues.

        In a command's first seconds, before it is a task, this has no effect and the answer does not say so; without a
        ``tool_use_id`` it never does (2.1.325).
        """
        return await self._ask(wire.BackgroundTasksRequest(tool_use_id), wire.BackgroundTasksResult)

    async def task_output(self, task_id: str) -> TaskOutput:
        """What a task has written so far, or the end of it. An unknown task is an error."""
        return await self._ask(wire.GetTaskOutputRequest(task_id), wire.TaskOutput)
