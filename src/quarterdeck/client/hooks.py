"""Runs the program's hook callbacks. A deciding hook that fails is answered with a refusal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from time import monotonic
from types import CoroutineType, coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

from quarterdeck import wire
from quarterdeck.wire import HookCallbackRequest

from .dispatch import needs_await
from .guard import (
    BadHookAnswerError,
    answered,
    check_answer,
    describe_failure,
    give_up_after_s,
    is_guard,
    reason_of,
    refusal,
    wants_to_ask,
)
from .hook_input import hook_input

if TYPE_CHECKING:
    from .launch_initialize import RegisteredHook
    from .serving import CancelSignal

logger = logging.getLogger(__name__)
AskForHook: TypeAlias = "Callable[[str, HookCallbackRequest, str | None, CancelSignal], Awaitable[Any]]"


class HookRunner:
    """The hooks of one session, by the ids that the CLI knows them by."""

    def __init__(self, hooks: Mapping[str, RegisteredHook], *, ask: AskForHook) -> None:
        """``ask`` asks on behalf of a hook where the CLI does not."""
        self._hooks = hooks
        self._ask = ask
        self._deciding: dict[str, RegisteredHook] = {}
        """Request id → the guard that has not answered yet."""

    def refusals(self) -> dict[str, dict[str, Any]]:
        """The refusal to send for each guard that never answers."""
        return {request_id: _refused(hook, "the session was closed") for request_id, hook in self._deciding.items()}

    def run(self, request_id: str, request: HookCallbackRequest, signal: CancelSignal) -> Awaitable[dict[str, Any]]:
        hook = self._hooks.get(request.callback_id)
        if hook is None:
            return _run_unknown(request)
        run = self._run_guard if hook.guards else _run
        return run(request_id, hook, request, signal)

    async def _run_guard(
        self, request_id: str, hook: RegisteredHook, request: HookCallbackRequest, signal: CancelSignal
    ) -> dict[str, Any]:
        try:
            began = monotonic()
            opinion: Any = hook.callback(hook_input(request.input), request.tool_use_id, {"signal": signal})
            if type(opinion) is CoroutineType:
                try:
                    waits_for = opinion.send(None)
                except StopIteration as done:  # like most, it has answered without waiting: it needs no timer
                    opinion = done.value
                else:
                    opinion = await self._in_time(request_id, hook, _resumed(opinion, waits_for), began)
            elif needs_await(opinion):
                opinion = await self._in_time(request_id, hook, opinion, began)
            if type(opinion) is dict and not opinion:
                return {}
            answer = _checked(hook, opinion)
            if wants_to_ask(answer):
                asking = self._ask(request_id, request, reason_of(answer), signal)
                decided = await self._in_time(request_id, hook, asking, began)
                answer = answer if decided is None else answered(answer, decided)
            return answer
        except asyncio.CancelledError:
            if signal.is_set():  # nobody is waiting for the answer any more
                raise
            return _refused(hook, "it was cancelled")
        except _TookTooLongError:
            signal.set("the hook took too long")
            return _refused(hook, f"no answer within {hook.timeout_s:g} s")
        except Exception as error:  # noqa: BLE001  # whatever a guard does wrong is a no
            _report(hook.event, error)
            return _refused(hook, error)

    async def _in_time(self, request_id: str, hook: RegisteredHook, opinion: Awaitable[Any], began: float) -> Any:
        """What a guard answers that was called at ``began``."""
        timeout_s = hook.timeout_s
        limit = asyncio.timeout(None if timeout_s is None else began + give_up_after_s(timeout_s) - monotonic())
        self._deciding[request_id] = hook
        try:
            async with limit:
                return await opinion
        except Exception as error:
            if limit.expired():
                raise _TookTooLongError from error
            raise
        finally:
            del self._deciding[request_id]


async def _run(_: str, hook: RegisteredHook, request: HookCallbackRequest, signal: CancelSignal) -> dict[str, Any]:
    opinion = hook.callback(hook_input(request.input), request.tool_use_id, {"signal": signal})
    return wire.hook_answer(await opinion if needs_await(opinion) else opinion)


async def _run_unknown(request: HookCallbackRequest) -> dict[str, Any]:
    event = str(request.input.get("hook_event_name"))
    unknown = f"no hook callback is registered as {request.callback_id!r}"
    if is_guard(event):
        return refusal(event, describe_failure(event, unknown))
    raise LookupError(unknown)


class _TookTooLongError(Exception):
    """A guard's time was over before it answered."""


@coroutine
def _resumed(begun: CoroutineType[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    """The rest of a coroutine whose first step was taken by hand and gave ``waits_for``."""
    while True:
        try:
            yield waits_for
        except GeneratorExit:
            begun.close()
            raise
        except BaseException as error:  # noqa: BLE001  # whatever is thrown in belongs to the coroutine
            try:
                waits_for = begun.throw(error)
            except StopIteration as done:
                return done.value
        else:
            return (yield from begun.__await__())


def _refused(hook: RegisteredHook, problem: BaseException | str) -> dict[str, Any]:
    return refusal(hook.event, describe_failure(hook.event, problem))


def _checked(hook: RegisteredHook, opinion: Any) -> dict[str, Any]:
    must_answer = hook.on_failure == "block"  # as in the official SDK, where None is then a failure too
    if opinion is None and must_answer:
        raise BadHookAnswerError("it returned None; return {} for no opinion")
    return check_answer(hook.event, wire.hook_answer(opinion), strict=must_answer)


def _report(event: str, error: Exception) -> None:
    """The CLI has its answer; now report the failure to the program."""
    logger.error("The %s hook failed, so the call was refused: %s", event, error, exc_info=error)
