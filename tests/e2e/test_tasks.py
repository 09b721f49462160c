"""Work beside the turn, on the newest CLI: sub-agents and commands in the background."""

from __future__ import annotations

from typing import Any

import pytest

from e2e.kit import Stage, next_of, of_kind, until
from inside import connection_of
from quarterdeck import (
    AssistantMessage,
    PermissionResultAllow,
    ResultMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    query,
)
from quarterdeck.testing.model import ApiRequest, ToolUse

pytestmark = pytest.mark.real


def helper(word: str, **more: Any) -> ToolUse:
    task = {"description": "a small errand", "prompt": f"{word} please", "subagent_type": "general-purpose"}
    return ToolUse("Task", task | more)


def from_helper(word: str) -> Any:
    def match(request: ApiRequest) -> bool:
        return request.kind == "subagent" and word in request.text

    return match


async def test_a_sub_agent_asks_for_permission_and_its_messages_are_told_apart(stage: Stage) -> None:
    agents: list[str | None] = []

    async def decide(_: str, __: Any, context: Any) -> PermissionResultAllow:
        agents.append(context.agent_id)
        return PermissionResultAllow()

    stage.model.on(from_helper("ERRAND"), "On it.", ToolUse("Bash", {"command": "touch errand.txt"}), times=1)
    stage.model.on(from_helper("ERRAND"), "The errand is done.")
    stage.model.reply("I send a helper.", helper("ERRAND", run_in_background=False))
    stage.model.reply("The helper is back.")
    async with stage.session(can_use_tool=decide, forward_subagent_text=True) as session:
        messages = [message async for message in session.prompt("delegate")]
    assert (stage.cwd / "errand.txt").exists()
    assert len(agents) == 1
    assert agents[0]
    spoken = of_kind(messages, AssistantMessage)
    assert {message.parent_tool_use_id is None for message in spoken} == {True, False}
    assert {message.subagent_type for message in spoken} == {None, "general-purpose"}
    assert "The errand is done." in stage.tool_results()[0]


async def test_a_sub_agent_in_the_background_comes_back_in_a_turn_of_its_own(stage: Stage) -> None:
    stage.model.on(from_helper("ERRAND"), ToolUse("Bash", {"command": "touch errand.txt"}), times=1)
    stage.model.on(from_helper("ERRAND"), "The errand is done.")
    stage.model.reply(helper("ERRAND"))
    stage.model.reply("It is under way.")
    stage.model.reply("It came back.")
    async with stage.session(can_use_tool=stage.allow) as session:
        first = await session.prompt("delegate")
        second = await next_of(session, ResultMessage)
        assert [first.result, second.result] == ["It is under way.", "It came back."]
        assert second.origin is not None
        assert second.origin["kind"] == "task-notification"
    assert [name for name, _ in stage.asked] == ["Bash"]
    assert (stage.cwd / "errand.txt").exists()


async def test_the_input_stays_open_for_a_sub_agent_in_the_background(stage: Stage) -> None:
    """``query`` has no more prompts, but the permission request of the helper must still be answered."""
    stage.model.on(from_helper("ERRAND"), ToolUse("Bash", {"command": "sleep 1; touch errand.txt"}), times=1)
    stage.model.on(from_helper("ERRAND"), "The errand is done.")
    stage.model.reply(helper("ERRAND"))
    stage.model.reply("It is under way.")
    stage.model.reply("It came back.")
    options = stage.options(can_use_tool=stage.allow)
    messages = [message async for message in query(prompt="go", options=options, **stage.at)]
    assert [result.result for result in of_kind(messages, ResultMessage)] == ["It is under way.", "It came back."]
    assert (stage.cwd / "errand.txt").exists()


async def test_a_command_in_the_background_is_told_while_nobody_prompts(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 0.5; echo bgdone", "run_in_background": True}))
    stage.model.reply("It runs.")
    stage.model.reply("It has ended.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        assert (await session.prompt("background")).result == "It runs."
        assert (await next_of(session, TaskNotificationMessage)).status == "completed"
        assert (await next_of(session, ResultMessage)).result == "It has ended."


async def test_a_task_is_listed_read_and_stopped(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo begun; sleep 50", "run_in_background": True}))
    stage.model.reply("It runs.")
    stage.model.reply("It was stopped.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        turn = session.prompt("background")
        await turn.send()
        task = (await next_of(session, TaskStartedMessage)).task_id
        await turn
        assert connection_of(session).side.background_tasks == {task}
        while "begun" not in str((await session.task_output(task)).to_dict()):
            pass
        await session.stop_task(task)
        assert (await next_of(session, TaskNotificationMessage)).status == "stopped"
        await until(lambda: not connection_of(session).side.background_tasks)


async def test_a_command_can_be_sent_to_the_background(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo begun; sleep 50"}, id="toolu_long"))
    stage.model.reply("Moved on.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        await session.send("run it")
        await next_of(session, TaskStartedMessage)
        await session.background_tasks("toolu_long")
        assert (await next_of(session, ResultMessage)).result == "Moved on."
        assert await session.interrupt() is not None
