"""Runs the program's hook callbacks. One that decides about something and fails is answered with a refusal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quarterdeck import wire
from quarterdeck.wire import HookCallbackRequest

from .dispatch import needs_await
from .guard import BadHookAnswerError, check_answer, describe_failure, give_up_after_s, is_guard, refusal
from .hook_input import hook_input

if TYPE_CHECKING:
    from .launch_initialize import RegisteredHook
    from .serving import CancelSignal

logger = logging.getLogger(__name__)


class HookRunner:
    """The hooks of one session, by the ids that the CLI knows them by."""

    def __init__(self, hooks: Mapping[str, RegisteredHook]) -> None:
        self._hooks = hooks
        self.refusals: dict[str, dict[str, Any]] = {}
        """For each guard that has not answered yet, what to say if it never will."""

    async def run(self, request_id: str, request: HookCallbackRequest, signal: CancelSignal) -> dict[str, Any]:
        hook, event = self._hooks.get(request.callback_id), str(request.input.get("hook_event_name"))
        if hook is None:
            unknown = f"no hook callback is registered as {request.callback_id!r}"
            if is_guard(event):
                return refusal(event, describe_failure(event, unknown))
            raise LookupError(unknown)
        if not hook.guards:
            opinion = hook.callback(hook_input(request.input), request.tool_use_id, {"signal": signal})
            return wire.hook_answer(await opinion if needs_await(opinion) else opinion)
        self.refusals[request_id] = refusal(hook.event, describe_failure(hook.event, "the session was closed"))
        answer = await self._run_guard(hook, request, signal)
        del self.refusals[request_id]
        return answer

    async def _run_guard(
        self, hook: RegisteredHook, request: HookCallbackRequest, signal: CancelSignal
    ) -> dict[str, Any]:
        try:
            async with asyncio.timeout(None) as limit:
                opinion = hook.callback(hook_input(request.input), request.tool_use_id, {"signal": signal})
                if needs_await(opinion):
                    if hook.timeout_s is not None:
                        limit.reschedule(asyncio.get_running_loop().time() + give_up_after_s(hook.timeout_s))
                    opinion = await opinion
            return _checked(hook, opinion)
        except asyncio.CancelledError:
            if signal.is_set():  # nobody waits for the answer any more
                raise
            return refusal(hook.event, describe_failure(hook.event, "it was cancelled"))
        except Exception as error:  # noqa: BLE001  # whatever a guard does wrong is a no
            if limit.expired():
                signal.set("the hook took too long")
                return refusal(hook.event, describe_failure(hook.event, f"no answer within {hook.timeout_s:g} s"))
            _report(hook.event, error)
            return refusal(hook.event, describe_failure(hook.event, error))


def _checked(hook: RegisteredHook, opinion: Any) -> dict[str, Any]:
    must_answer = hook.on_failure == "block"  # as in the official SDK, where None is then a failure too
    if opinion is None and must_answer:
        raise BadHookAnswerError("it returned None; return {} for no opinion")
    return check_answer(hook.event, wire.hook_answer(opinion), strict=must_answer)


def _report(event: str, error: Exception) -> None:
    """The CLI has been told; tell the program too."""
    logger.error("The %s hook failed; what it guards was refused: %s", event, error, exc_info=error)
