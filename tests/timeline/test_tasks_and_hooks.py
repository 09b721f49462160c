"""Tasks that run beside the conversation, and hooks."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline import Limits
from quarterdeck.timeline.events import (
    HookEnded,
    HookProgressed,
    HookStarted,
    TaskChanged,
    TaskEnded,
    TaskNotified,
    TaskProgressed,
    TaskStarted,
    ToolEnded,
)
from quarterdeck.timeline.items import Hook, ToolCall
from quarterdeck.timeline.parts import Kept
from quarterdeck.timeline.state import Task

from .talk import Talk, answer, ask, assistant, call, cancel, failure, init, kinds, only, result, system, turn_end

USAGE = {"total_tokens": 120, "tool_uses": 2, "duration_ms": 1500}


def started(**more: Any) -> dict[str, Any]:
    line = {"task_id": "t", "tool_use_id": "tool_1", "description": "errand", "task_type": "local_agent"}
    return system("task_started", **{**line, "subagent_type": "explorer", "is_backgrounded": True, **more})


def test_a_task_is_started_progresses_and_ends_once() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="Task", description="errand")), started())
    talk.hear(system("task_progress", task_id="t", description="Running ls", usage=USAGE, last_tool_name="Bash"))
    talk.hear(result(output="launched", facts={"status": "async_launched"}), turn_end())
    talk.hear(system("task_updated", task_id="t", patch={"status": "completed", "end_time": 1}))
    talk.hear(
        system("task_notification", task_id="t", status="completed", output_file="/o", summary="Done", usage=USAGE)
    )
    assert only(TaskStarted, talk.events) == TaskStarted(
        2.0, "t", "tool_1", "errand", "local_agent", "explorer", background=True
    )
    assert only(TaskProgressed, talk.events) == TaskProgressed(3.0, "t", "tool_1", "Running ls", 120, 2, 1.5, "Bash")
    assert only(TaskEnded, talk.events) == TaskEnded(6.0, "t", "tool_1", "completed", "errand", None, True, 120, 2, 1.5)
    told = TaskNotified(7.0, "t", "tool_1", "completed", "Done", "/o", background=True, while_idle=True)
    assert only(TaskNotified, talk.events) == told
    assert only(ToolEnded, talk.events).status == "finished"
    item = talk.item(ToolCall, "tool_1")
    assert (item.task_id, item.agent_type, item.agent_id) == ("t", "explorer", "t")


def test_an_end_that_only_the_notification_tells_is_an_end() -> None:
    talk = Talk()
    talk.hear(init(), started(is_backgrounded=False))
    events = talk.hear(system("task_notification", task_id="t", status="failed", summary="Broke", output_file=""))
    assert kinds(events) == ["task_ended", "task_notified"]
    assert not only(TaskNotified, events).while_idle
    assert talk.state.tasks["t"].status == "failed"


def test_a_stopped_task_interrupts_its_call() -> None:
    talk = Talk()
    talk.hear(assistant(call(command="sleep 60")), started(task_type="local_bash"))
    talk.hear(result(facts={"stdout": "", "stderr": "", "backgroundTaskId": "t"}))
    talk.hear(system("task_updated", task_id="t", patch={"status": "killed"}))
    assert (talk.state.tasks["t"].status, only(ToolEnded, talk.events).status) == ("stopped", "interrupted")


def test_a_task_put_into_the_background_changes_once() -> None:
    talk = Talk()
    talk.hear(started(is_backgrounded=False))
    listed = {"task_id": "t", "task_type": "local_bash", "description": "errand"}
    events = talk.hear(
        system("background_tasks_changed", tasks=[listed]),
        system("task_updated", task_id="t", patch={"is_backgrounded": True}),
    )
    assert events == [TaskChanged(2.0, "t", "running", background=True, description="errand", tool_id="tool_1")]


def test_a_paused_task_says_so() -> None:
    talk = Talk()
    talk.hear(started())
    (event,) = talk.hear(system("task_updated", task_id="t", patch={"status": "paused"}))
    assert event == TaskChanged(2.0, "t", "paused", background=True, description="errand", tool_id="tool_1")


def test_a_task_that_began_before_we_looked_is_followed_too() -> None:
    talk = Talk()
    talk.hear(system("task_progress", task_id="t", tool_use_id="x", description="Still at it", usage=USAGE))
    assert talk.state.tasks["t"] == Task(
        id="t", at=1.0, tool_id="x", tokens=120, tool_uses=2, duration_s=1.5, doing="Still at it"
    )


def test_only_so_many_finished_tasks_are_kept() -> None:
    talk = Talk(limits=Limits(finished_tasks=2))
    for number in range(5):
        key = f"t{number}"
        talk.hear(started(task_id=key), system("task_updated", task_id=key, patch={"status": "completed"}))
    talk.hear(started(task_id="running"))
    assert list(talk.state.tasks) == ["t3", "t4", "running"]


# Hooks

HOOK = {"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"}


def test_a_command_hook_is_started_progresses_and_ends() -> None:
    talk = Talk()
    talk.hear(system("hook_started", **HOOK))
    talk.hear(system("hook_progress", **HOOK, stdout="a", stderr="", output="a"))
    talk.hear(system("hook_response", **HOOK, output="ab", stdout="ab", stderr="", exit_code=0, outcome="success"))
    assert talk.events == [
        HookStarted(1.0, "h", "PreToolUse", "PreToolUse:Bash"),
        HookProgressed(2.0, "h", Kept("a")),
        HookEnded(3.0, "h", "PreToolUse", "success", "PreToolUse:Bash", Kept("ab"), 0),
    ]


def test_a_hook_of_which_only_the_end_is_told_has_a_beginning_too() -> None:
    talk = Talk()
    talk.hear(system("hook_response", hook_name="Stop", hook_event="Stop", stdout="", stderr="bad", exit_code=2))
    assert kinds(talk.events) == ["hook_started", "hook_ended"]
    assert only(HookEnded, talk.events).outcome == "error"


def callback(key: str = "cb", event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    return ask(
        key, "hook_callback", callback_id="hook_0", input={"hook_event_name": event, **more}, tool_use_id="random"
    )


@pytest.mark.parametrize(
    ("payload", "outcome", "reason"),
    [
        ({}, "success", None),
        ({"async": True}, "async", None),
        ({"continue": False, "stopReason": "enough"}, "stop", Kept("enough")),
        ({"decision": "block", "reason": "not yet"}, "block", Kept("not yet")),
        (
            {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "house rule"}},
            "deny",
            Kept("house rule"),
        ),
    ],
)
def test_a_callback_ends_with_what_it_decided(payload: Any, outcome: str, reason: Kept | None) -> None:
    talk = Talk()
    talk.hear(callback(tool_use_id="tool_1"))
    talk.say(answer("cb", payload))
    assert talk.events == [
        HookStarted(1.0, "cb", "PreToolUse", "hook_0", "callback", "tool_1"),
        HookEnded(2.0, "cb", "PreToolUse", outcome, "hook_0", reason, None, "tool_1"),
    ]


def test_a_call_that_our_hook_denied_is_denied() -> None:
    talk = Talk()
    talk.hear(assistant(call(command="ls")), callback(tool_use_id="tool_1"))
    talk.say(
        answer("cb", {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "house rule"}})
    )
    talk.hear(result(output="house rule", error=True))
    ended = only(ToolEnded, talk.events)
    assert (ended.status, ended.reason) == ("denied", "house rule")


def test_a_callback_that_failed_or_was_too_slow_says_so() -> None:
    talk = Talk()
    talk.hear(callback("one"), callback("two"))
    talk.say(failure("one", "exploded"))
    talk.hear(cancel("two"))
    assert talk.say(answer("two", {})) == []
    assert [talk.item(Hook, key).outcome for key in ("one", "two")] == ["error", "cancelled"]
