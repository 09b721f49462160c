"""The client without an event loop of one's own, on the real CLI with a scripted model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import stage_in
from e2e.kit import LIMIT_S, Stage, of_kind
from quarterdeck import (
    ControlError,
    HookMatcher,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
    create_sdk_mcp_server,
    sync,
    tool,
)
from quarterdeck.policy import Policy
from quarterdeck.testing.model import Stall, ToolUse

pytestmark = pytest.mark.real

TOUCH = ToolUse("Bash", {"command": "touch made.txt", "description": "Make a file"})


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with stage_in(tmp_path) as stage:
        yield stage


def test_a_conversation_with_permission_hook_tool_and_control_calls(stage: Stage) -> None:
    seen: list[Any] = []

    def allow(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        seen.append((name, session.set_permission_mode("default").mode))
        return PermissionResultAllow()

    def hook(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append(event.hook_event_name)
        return {}

    @tool
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        seen.append(threading.current_thread().name)
        return str(a + b)

    hooks: Any = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]}
    servers: Any = {"calc": create_sdk_mcp_server("calc", tools=[add])}
    stage.model.reply(TOUCH)
    stage.model.reply("made")
    stage.model.reply(ToolUse("mcp__calc__add", {"a": 2, "b": 3}))
    stage.model.reply("five")
    with sync.connect(stage.options(can_use_tool=allow, hooks=hooks, mcp_servers=servers)) as session:
        assert session.prompt("make it").wait().result == "made"
        assert "".join(session.prompt("add").text()) == "five"
        assert stage.tool_results() == ["5"]
        assert session.context_usage().total_tokens > 0
        with pytest.raises(ControlError):
            session.request("make_coffee")
    asked = ("Bash", "default"), ("mcp__calc__add", "default")
    assert seen == ["PreToolUse", asked[0], asked[1], "quarterdeck-callback"]
    assert (stage.cwd / "made.txt").exists()


async def test_inside_a_running_loop_and_from_threads_and_resumed(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", "hello")
    first = sync.prompt("hi", stage.options())
    results: list[Any] = []

    def ask() -> None:
        messages = list(sync.query(prompt="hi", options=stage.options()))
        results.extend(message.result for message in of_kind(messages, ResultMessage))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert results == ["hello", "hello"]
    with sync.resume_session(first.session_id, stage.options()) as session:
        assert session.prompt("again").wait().session_id == first.session_id


def test_an_interrupt_from_another_thread_and_the_official_client(stage: Stage) -> None:
    stage.model.reply("1 2 3 4 5 6 7 8 9 10 11 12 13", Stall(after=4), delta_size=5)
    stage.model.reply("hello")
    with sync.ClaudeSDKClient(stage.options(include_partial_messages=True)) as client:
        client.query("count")
        stopper: threading.Thread | None = None
        for message in client.receive_response():
            if stopper is None and isinstance(message, StreamEvent):
                stopper = threading.Thread(target=client.interrupt)
                stopper.start()
        assert stopper is not None
        stopper.join(LIMIT_S)
        client.query("hi")
        assert [message.result for message in of_kind(client.receive_response(), ResultMessage)] == ["hello"]


def test_what_a_policy_denies_is_not_run_although_permissions_are_bypassed(stage: Stage) -> None:
    policy = Policy.from_rules(deny=["Bash(touch:*)"], cwd=stage.cwd)
    stage.model.reply(TOUCH)
    stage.model.reply("not made")
    options = stage.options(
        can_use_tool=policy,
        permission_mode="bypassPermissions",
        allow_dangerously_skip_permissions=True,
        env={"IS_SANDBOX": "1"},
    )
    with sync.connect(options) as session:
        session.prompt("make it").wait()
    assert "Bash(touch:*) matches" in stage.tool_results()[0]
    assert not (stage.cwd / "made.txt").exists()
