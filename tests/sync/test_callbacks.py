"""Callbacks of a program without an event loop: plain functions in threads, coroutines in the loop."""

from __future__ import annotations

import contextvars
import threading
from pathlib import Path
from typing import Any

import pytest

from chaos.kit import Chaos
from quarterdeck import (
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    Retry,
    create_sdk_mcp_server,
    sync,
    tool,
)
from quarterdeck.sync.thread_runner import BackgroundCalls
from simulated import ASKS, ASKS_FOR_TEA, DIES_ONCE, LIMIT_S, Simulated, until

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


def test_a_permission_callback_may_block_and_call_its_session(fake: Simulated) -> None:
    fake.play([ASKS, "done"])
    seen: list[Any] = []

    def allow(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        seen.append(
            (name, tool_input["command"], threading.current_thread().name, session.context_usage().total_tokens)
        )
        seen.append((context.signal.is_set(), context.signal.aborted, context.signal.reason, context.signal.wait(0)))
        return PermissionResultAllow()

    with sync.connect(fake.options(can_use_tool=allow)) as session:
        assert session.prompt("hi").wait().result == "done"
        used = seen[0][3]
    assert seen == [("Bash", "touch made.txt", "quarterdeck-callback", used), (False, False, None, False)]
    assert used > 0 and (fake.cwd / "made.txt").exists()


def test_a_callback_may_be_a_coroutine_but_then_may_not_block_on_its_own_loop(fake: Simulated) -> None:
    fake.play([ASKS, "done"])
    errors: list[RuntimeError] = []

    async def decide(*_: Any) -> PermissionResultDeny:
        try:
            session.context_usage()
        except RuntimeError as error:
            errors.append(error)
        return PermissionResultDeny(message="no")

    with sync.connect(fake.options(can_use_tool=decide)) as session:
        assert session.prompt("hi").wait().result == "done"
    assert ["would deadlock" in str(error) for error in errors] == [True]


def test_hooks_of_both_kinds_are_called_with_a_signal_that_suits_them(fake: Simulated) -> None:
    fake.play([{**ASKS, "result": "made"}, "done"])
    seen: list[Any] = []

    def plain(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append(("plain", event.tool_name, context["signal"].wait(0)))
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}

    async def coroutine(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append(("coroutine", event.tool_name, context["signal"].is_set()))
        return {}

    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[plain])], "PostToolUse": [HookMatcher(hooks=[coroutine])]}
    assert sync.prompt("hi", fake.options(hooks=hooks)).result == "done"
    assert seen == [("plain", "Bash", False), ("coroutine", "Bash", False)]


def test_a_callback_sees_the_context_of_who_opened_the_session(fake: Simulated) -> None:
    fake.play([ASKS, "done"])
    seen: list[str] = []

    def allow(*_: Any) -> PermissionResultAllow:
        seen.append(WHO.get())
        return PermissionResultAllow()

    def ask() -> None:
        WHO.set("me")
        sync.prompt("hi", fake.options(can_use_tool=allow))

    contextvars.copy_context().run(ask)
    assert (seen, WHO.get()) == (["me"], "nobody")


def test_a_question_a_plan_and_tools_of_both_kinds_are_served(fake: Simulated) -> None:
    fake.play(
        [
            {"ask": "Which?", "options": ["Red", "Blue"]},
            {"tool": "mcp__calc__add", "input": {"a": 2, "b": 3}},
            {"tool": "mcp__calc__twice", "input": {"a": 4}},
            "done",
        ]
    )
    seen: list[Any] = []

    @tool
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        seen.append((a + b, threading.current_thread().name, session.turn_state.name))
        return str(a + b)

    @tool
    async def twice(a: int) -> str:
        """Double a number."""
        seen.append((2 * a, threading.current_thread().name))
        return str(2 * a)

    def answer(asked: Any, context: Any) -> dict[str, str]:
        return {asked.questions[0].question: "Blue"}

    options = fake.options(
        on_question=answer,
        mcp_servers={"calc": create_sdk_mcp_server("calc", tools=[add, twice])},
        allowed_tools=["mcp__calc__add", "mcp__calc__twice"],
    )
    with sync.connect(options) as session:
        assert session.prompt("hi").wait().result == "done"
    assert [entry[0] for entry in seen] == [5, 8]
    assert [entry[1] for entry in seen] == ["quarterdeck-callback", "quarterdeck-loop"]


def test_a_callback_that_waits_for_ever_keeps_nobody_from_closing(fake: Simulated) -> None:
    fake.play([ASKS, "never"])
    asked, told = threading.Event(), threading.Event()

    def wait(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultDeny:
        asked.set()
        if context.signal.wait(LIMIT_S):
            told.set()
        return PermissionResultDeny(message="too late")

    with sync.connect(fake.options(can_use_tool=wait)) as session:
        session.send("hi")
        assert asked.wait(LIMIT_S)
    assert told.wait(LIMIT_S)


def test_a_request_that_this_version_does_not_know_gets_its_handler(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path)
    with sync.connect(chaos.options(ASKS_FOR_TEA)) as session:
        session.on_request("make_tea", lambda request, signal: {"cups": request["cups"] + int(signal.wait(0))})
        assert session.prompt("hi").wait().result == "2"
    assert chaos.left_running() == []


def test_a_store_may_have_plain_methods(fake: Simulated) -> None:
    fake.play(["hello"])
    kept: dict[str, list[Any]] = {}

    class Store:
        def append(self, key: Any, entries: list[Any]) -> None:
            kept.setdefault(key["session_id"], []).extend(entries)

        def load(self, key: Any) -> list[Any] | None:
            return kept.get(key["session_id"])

    result = sync.prompt("hi", fake.options(session_store=Store()))
    assert result.result == "hello"
    assert list(kept) == [result.session_id]


def test_what_is_only_told_comes_in_order_and_a_failure_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[int] = []

    def take(number: int) -> None:
        seen.append(number)
        if number == 3:
            raise ValueError("three")

    told = BackgroundCalls(take)
    for number in range(100):
        told.take(number)
    until(lambda: len(seen) == 100)
    assert seen == list(range(100))
    assert [record.message.startswith("A notification callback failed") for record in caplog.records] == [True]


def test_stderr_is_told_line_by_line(fake: Simulated) -> None:
    fake.play(["hello", {"exit": 3, "stderr": "one\ntwo"}])
    lines: list[str] = []
    with sync.connect(fake.options(stderr=lines.append)) as session:
        assert session.prompt("hi").wait().result == "hello"
    until(lambda: lines == ["one", "two"])


def test_a_retry_tells_its_notices_to_a_function_that_may_call_the_session(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path)
    told: list[Any] = []
    retry = Retry(backoff_s=0.0, on_notice=lambda notice: told.append((notice.kind, session.closed)))
    with sync.connect(chaos.options(DIES_ONCE)) as session:
        assert session.prompt("hi", retry=retry).wait().result == "done"
    until(lambda: told == [("exit", False)])
    assert chaos.left_running() == []
