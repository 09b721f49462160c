"""Guards that wait for something: they are given their time, and whatever reaches them reaches their own code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from quarterdeck import ClaudeAgentOptions, HookMatcher, PermissionResultAllow, PermissionResultDeny
from quarterdeck.client.dispatch import Dispatcher
from quarterdeck.client.guard import refusal
from quarterdeck.client.hooks import HookRunner
from quarterdeck.client.launch import plan_launch
from quarterdeck.client.launch_initialize import RegisteredHook
from quarterdeck.client.serving import LATER, CancelSignal
from quarterdeck.wire import HookCallbackRequest, ToolPermissionContext

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
SOON_S = 0.001
Guard = Callable[[Any, str | None, Any], Any]


async def leave_to_the_cli(*_: Any) -> None:
    """As with a CLI that asks itself."""


def decide(
    guard: Guard,
    *,
    timeout_s: float = 60.0,
    signal: CancelSignal | None = None,
    ask: Callable[..., Awaitable[Any]] = leave_to_the_cli,
) -> Awaitable[dict[str, Any]]:
    runner = HookRunner({"hook_0": RegisteredHook("PreToolUse", guard, timeout_s=timeout_s, guards=True)}, ask=ask)
    request = HookCallbackRequest("hook_0", {"hook_event_name": "PreToolUse", "tool_name": "Bash"}, "toolu_1")
    return runner.run("r1", request, signal or CancelSignal())


def refused(reason: str) -> dict[str, Any]:
    return refusal("PreToolUse", f"A PreToolUse hook failed, so this is refused: {reason}")


async def test_a_guard_may_wait_several_times_before_it_answers() -> None:
    async def guard(*_: Any) -> dict[str, Any]:
        heard = [await asyncio.sleep(0, word) for word in ("one", "two", "three")]
        return DENY | {"reason": " ".join(heard)}

    assert await decide(guard) == DENY | {"reason": "one two three"}


async def test_a_guard_may_return_any_awaitable() -> None:
    future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    deciding = asyncio.ensure_future(decide(lambda *_: future))
    await asyncio.sleep(0)
    future.set_result(DENY)
    assert await deciding == DENY


async def test_what_a_guard_waits_for_may_fail_in_its_hands() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def guard(*_: Any) -> dict[str, Any]:
        try:
            await future
        except LookupError as error:
            return DENY | {"reason": str(error)}
        return {}

    asyncio.get_running_loop().call_soon(future.set_exception, LookupError("gone"))
    assert await decide(guard) == DENY | {"reason": "gone"}


async def test_a_guard_that_takes_too_long_is_refused_and_told() -> None:
    signal, seen = CancelSignal(), list[str]()

    async def guard(*_: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("cancelled")
        return {}

    assert await decide(guard, timeout_s=SOON_S, signal=signal) == refused("no answer within 0.001 s")
    assert (seen, signal.reason) == (["cancelled"], "the hook took too long")


async def test_a_guard_that_is_stopped_in_its_first_wait_may_wait_once_more_to_clean_up() -> None:
    cleaned = []

    async def guard(*_: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cleaned.append(await asyncio.sleep(0, "up"))
            raise
        return {}

    assert await decide(guard, timeout_s=SOON_S) == refused("no answer within 0.001 s")
    assert cleaned == ["up"]


async def test_a_guard_that_answers_when_it_is_stopped_in_its_first_wait_is_heard() -> None:
    async def guard(*_: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return DENY
        return {}

    assert await decide(guard, timeout_s=SOON_S) == DENY


async def test_a_timeout_of_the_guards_own_is_its_failure_not_its_lateness() -> None:
    async def guard(*_: Any) -> dict[str, Any]:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
        return {}

    assert await decide(guard) == refused("TimeoutError")


async def test_a_guard_that_cancels_its_own_task_is_refused() -> None:
    async def guard(*_: Any) -> dict[str, Any]:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()
        return {}

    task = asyncio.ensure_future(decide(guard))
    assert await task == refused("it was cancelled")


async def test_a_request_that_is_taken_back_stops_its_guard() -> None:
    signal, started = CancelSignal(), asyncio.Event()

    async def guard(*_: Any) -> dict[str, Any]:
        started.set()
        await asyncio.Event().wait()
        return {}

    task = asyncio.ensure_future(decide(guard, signal=signal))
    await started.wait()
    signal.set("taken back")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_guard_that_is_dropped_in_its_first_wait_is_closed() -> None:
    closed = []

    async def guard(*_: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("yes")
        return {}

    deciding: Any = decide(guard)
    deciding.send(None)
    deciding.close()
    assert closed == ["yes"]


def asks(*_: Any) -> dict[str, Any]:
    said = {"permissionDecision": "ask", "permissionDecisionReason": "a second look"}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}, "systemMessage": "kept"}


def dispatcher(version: str | None, can_use_tool: Any) -> Dispatcher:
    options = ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher(hooks=[asks])]}, can_use_tool=can_use_tool)
    hooks = plan_launch(options, cli=["claude"], version="2.1.52").hooks
    assert hooks is not None
    return Dispatcher(options, hooks, version=lambda: version)


async def answer_of(version: str | None, can_use_tool: Any) -> dict[str, Any]:
    called = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "agent_id": "a1"}
    request = HookCallbackRequest("hook_0", called, "toolu_1")
    answer: dict[str, Any] = await dispatcher(version, can_use_tool)("r1", request, CancelSignal())
    return answer


@pytest.mark.parametrize("version", ["2.0.77", "2.1.52", "2.1.324", None])
async def test_where_the_cli_does_not_ask_for_a_hook_the_permission_callback_is_asked_at_once(
    version: str | None,
) -> None:
    seen: list[Any] = []

    async def allow(name: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        seen.append((name, given, context.tool_use_id, context.agent_id, context.decision_reason))
        return PermissionResultAllow(updated_input={"command": "ls -l"})

    answer = await answer_of(version, allow)
    assert seen == [("Bash", {"command": "ls"}, "toolu_1", "a1", "a second look")]
    assert answer["systemMessage"] == "kept"
    assert answer["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert answer["hookSpecificOutput"]["updatedInput"] == {"command": "ls -l"}


@pytest.mark.parametrize("how", ["nobody", "says no", "fails", "answers nonsense", "answers later"])
async def test_where_the_cli_does_not_ask_for_a_hook_only_a_yes_lets_the_call_run(how: str) -> None:
    def callback(*_: Any) -> Any:
        if how == "fails":
            raise RuntimeError("broken")
        return {"says no": PermissionResultDeny(message="not now"), "answers later": LATER}.get(how, "yes")

    answer = await answer_of("2.1.52", None if how == "nobody" else callback)
    said = answer["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    reasons = {"nobody": "nobody can allow this", "says no": "not now"}
    assert reasons.get(how, "A PreToolUse hook failed, so this is refused") in said["permissionDecisionReason"]


async def test_a_cli_that_asks_for_hooks_is_left_to_do_so_and_so_is_any_for_a_callback_that_answers_later() -> None:
    class Later:
        answers_later = True

        async def __call__(self, *_: Any) -> Any:
            raise AssertionError("the CLI has not asked")

    assert await answer_of("2.1.325", Later.__call__) == asks()
    assert await answer_of("2.1.52", Later()) == asks()
