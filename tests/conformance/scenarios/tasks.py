"""Sub-agents, commands in the background, and interrupts."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.scenario import scenario
from conformance.stage import (
    Differs,
    NotThere,
    Stage,
    bash,
    expect,
    expect_that,
    of_kind,
    result_of,
    text_of,
    told,
    tool_results,
)
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.wire import (
    AssistantMessage,
    ResultMessage,
    StreamEvent,
    TaskNotificationMessage,
    TaskStartedMessage,
    ToolPermissionContext,
    ToolUseBlock,
)


def _errand(**more: Any) -> ToolUse:
    task = {"description": "an errand", "prompt": "ERRAND please", "subagent_type": "general-purpose"}
    return ToolUse("Task", task | more, id="toolu_01errand")


@scenario("sub-agents and tasks", "A foreground sub-agent is a tool call with a nested conversation", "003-tool-Task")
async def subagent(stage: Stage) -> None:
    stage.reply(_errand(run_in_background=False))
    stage.reply(bash("touch errand.txt"))
    stage.reply("The errand is done.")
    stage.reply("The helper is back.")
    async with stage.session(can_use_tool=stage.allow) as session:
        messages = await told(session.prompt("delegate"))
    expect("the result", result_of(messages).result, "The helper is back.")
    expect_that("The errand is done." in text_of(tool_results(messages)[-1]), "the model was not told what came of it")
    expect("asked about", [name for name, _ in stage.asked], ["Bash"])
    expect("who asked the model", [heard.kind for heard in stage.heard], ["main", "subagent", "subagent", "main"])


@scenario("sub-agents and tasks", "Messages of a sub-agent carry the id of its tool call", "003-parent-link")
async def subagent_parent(stage: Stage) -> None:
    stage.reply(_errand(run_in_background=False))
    stage.reply(bash("touch errand.txt"))
    stage.reply("The errand is done.")
    stage.reply("The helper is back.")
    async with stage.session(can_use_tool=stage.allow) as session:
        messages = await told(session.prompt("delegate"))
    calls = [
        (message.parent_tool_use_id, block.name)
        for message in of_kind(messages, AssistantMessage)
        for block in message.content
        if isinstance(block, ToolUseBlock)
    ]
    inside = [name for parent, name in calls if parent == "toolu_01errand"]
    outside = [name for parent, name in calls if parent is None]
    expect("calls inside", inside, ["Bash"])
    expect("calls outside", len(outside), 1)


@scenario("sub-agents and tasks", "A sub-agent's permission request names the agent", "003-permission-fields")
async def subagent_permission(stage: Stage) -> None:
    contexts: list[ToolPermissionContext] = []

    async def decide(name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
        contexts.append(context)
        return await stage.allow(name, given, context)

    stage.reply(_errand(run_in_background=False))
    stage.reply(bash("touch errand.txt"))
    stage.reply("The errand is done.")
    stage.reply("The helper is back.")
    async with stage.session(can_use_tool=decide) as session:
        await session.prompt("delegate")
    expect("requests with an agent", [bool(context.agent_id) for context in contexts], [True])


@scenario(
    "sub-agents and tasks",
    "Sub-agents run in the background by default",
    "003-subagent-blocks",
    alone=True,
)
async def subagent_background(stage: Stage) -> None:
    stage.reply_to("subagent", "The errand is done.")
    stage.reply(_errand())
    stage.reply("It is under way.")
    stage.reply("It came back.")
    async with stage.session(can_use_tool=stage.allow) as session:
        expect("the first result", (await session.prompt("delegate")).result, "It is under way.")
        try:
            again = await stage.next_of(session, ResultMessage)
        except NotThere:
            raise Differs("it runs in the foreground") from None
        expect("the second result", again.result, "It came back.")


@scenario(
    "sub-agents and tasks",
    "A background command: started, notification, a turn that follows",
    "003-background-notification",
    "004-task-started",
    "004-task-notification",
    alone=True,
)
async def background_command(stage: Stage) -> None:
    stage.reply(bash("sleep 1; echo bgdone", run_in_background=True))
    stage.reply("It runs in the background.")
    stage.reply("It has ended.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        await session.send("background")
        started = await stage.next_of(session, TaskStartedMessage)
        expect("the first result", (await stage.next_of(session, ResultMessage)).result, "It runs in the background.")
        ended = await stage.next_of(session, TaskNotificationMessage)
        expect("the exit status", (ended.task_id, ended.status), (started.task_id, "completed"))
        expect("its turn", (await stage.next_of(session, ResultMessage)).result, "It has ended.")


@scenario(
    "sub-agents and tasks",
    "A background command returns immediately with its id",
    "003-background-result",
    alone=True,
)
async def background_result(stage: Stage) -> None:
    stage.reply(bash("sleep 30", run_in_background=True))
    stage.reply("It runs.")
    async with stage.session(allowed_tools=["Bash"], close_grace_s=0.5) as session:
        messages = await told(session.prompt("background"))
    (block,) = tool_results(messages)
    expect_that("running in background with ID" in text_of(block), f"the model was told {text_of(block)!r}")


@scenario("sub-agents and tasks", "A background command can be stopped", "003-background-status", alone=True)
async def stopped_task(stage: Stage) -> None:
    stage.reply(bash("sleep 30", run_in_background=True))
    stage.reply("It runs.")
    async with stage.session(allowed_tools=["Bash"], close_grace_s=0.5) as session:
        await session.send("background")
        started = await stage.next_of(session, TaskStartedMessage)
        await stage.next_of(session, ResultMessage)
        await session.stop_task(started.task_id)
        expect("the exit status", (await stage.next_of(session, TaskNotificationMessage)).status, "stopped")


@scenario("sub-agents and tasks", "A background command's output can be read", alone=True)
async def task_output(stage: Stage) -> None:
    stage.reply(bash("echo started; sleep 30", run_in_background=True))
    stage.reply("It runs.")
    async with stage.session(allowed_tools=["Bash"], close_grace_s=0.5) as session:
        await session.send("background")
        started = await stage.next_of(session, TaskStartedMessage)
        await stage.next_of(session, ResultMessage)
        output = await session.task_output(started.task_id)
        expect_that(isinstance(output.output, str), "no output")
        await session.stop_task(started.task_id)


@scenario("interrupts", "The answer to an interrupt lists the prompts still queued", "000-interrupt-ack")
async def interrupt_receipt(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("A long answer.", Stall(after=3, until=gate))
    async with stage.session() as session:
        turn = session.prompt("talk")
        await turn.send()
        await stage.reached(gate)
        queued = await session.send("later", priority="later")
        receipt = await session.interrupt(cancel_queued=True)
        expect("the answer", (receipt.still_queued, receipt.cancelled), ([], [queued]))
        result = await turn
        expect("the reason", result.terminal_reason, "aborted_streaming")


@scenario("interrupts", "An interrupt is answered even when idle")
async def interrupt_idle(stage: Stage) -> None:
    async with stage.session() as session:
        await session.interrupt()
        stage.reply("hi")
        expect("the next turn", (await session.prompt("hi")).result, "hi")


@scenario(
    "interrupts",
    "An interrupt during streaming ends the turn, not the session",
    "000-interrupt-ack",
    "004-interrupt",
)
async def interrupt_stream(stage: Stage) -> None:
    stage.reply("A long answer that nobody hears to its end.", Stall(after=4, until=stage.gate()))
    async with stage.session(include_partial_messages=True) as session:
        turn = session.prompt("talk")
        async for message in turn:
            if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                break
        await session.interrupt()
        expect("the result", (await turn).subtype, "error_during_execution")
        stage.reply("Still here.")
        expect("the next turn", (await session.prompt("there?")).result, "Still here.")


@scenario("interrupts", "An interrupt withdraws an open permission request", "000-cancel-from-cli")
async def interrupt_permission(stage: Stage) -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def decide(*_: Any) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    stage.reply(bash("touch never.txt"))
    async with stage.session(can_use_tool=decide) as session:
        turn = session.prompt("touch")
        await turn.send()
        await asked.wait()
        await session.interrupt()
        expect("the result", (await turn).subtype, "error_during_execution")
        async with asyncio.timeout(stage.patience_s):
            await ended.wait()
    expect_that(not (stage.cwd / "never.txt").exists(), "the tool ran")


@scenario("interrupts", "An interrupt ends a running command")
async def interrupt_command(stage: Stage) -> None:
    stage.reply(bash("touch started.txt; sleep 20"))
    async with stage.session(allowed_tools=["Bash"]) as session:
        turn = session.prompt("sleep")
        await turn.send()
        async with asyncio.timeout(stage.patience_s):
            while not (stage.cwd / "started.txt").exists():  # noqa: ASYNC110  # a file tells nobody
                await asyncio.sleep(0.02)
        await session.interrupt()
        result = await turn
        expect("the result", (result.subtype, result.duration_ms < 15_000), ("error_during_execution", True))
