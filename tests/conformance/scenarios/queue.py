"""Prompts that come during a turn."""

from __future__ import annotations

from conformance.scenario import scenario
from conformance.stage import NotThere, Stage, bash, expect, expect_that
from quarterdeck.testing.model import Stall
from quarterdeck.wire import CommandLifecycleMessage, ResultMessage


@scenario("prompt queue", "Two prompts sent at once are both answered", "000-multi-turn")
async def two_at_once(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("The first.", Stall(after=2, until=gate))
    stage.reply("The second.")
    async with stage.session() as session:
        await session.send("one")
        await stage.reached(gate)
        await session.send("two")
        gate.open()
        results = [(await stage.next_of(session, ResultMessage)).result for _ in range(2)]
    expect("the results", results, ["The first.", "The second."])


@scenario("prompt queue", "A queued prompt can be cancelled, once")
async def cancelled_prompt(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("A long answer.", Stall(after=3, until=gate))
    async with stage.session() as session:
        turn = session.prompt("first")
        await turn.send()
        await stage.reached(gate)
        queued = await session.send("second", priority="later")
        taken = [await session.cancel_prompt(queued), await session.cancel_prompt(queued)]
        expect("taken back", taken, [True, False])
        gate.open()
        expect("the result", (await turn).result, "A long answer.")
        expect("requests to the model", len(stage.heard), 1)


@scenario("prompt queue", "A prompt is reported as queued, started, completed")
async def lifecycle(stage: Stage) -> None:
    stage.reply("Hello.")
    async with stage.session() as session:
        prompt = await session.send("hello")
        states: list[str] = []
        async for message in session.messages():
            if isinstance(message, CommandLifecycleMessage) and message.command_uuid == prompt:
                states.append(message.state)
                if message.state == "completed":
                    break
            if isinstance(message, ResultMessage) and not states:
                raise NotThere("no command_lifecycle")
    expect("the states", states, ["queued", "started", "completed"])


@scenario("prompt queue", "A prompt sent during a turn joins it after the next tool")
async def steering(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("I look.", bash("echo one"), Stall(after=3, until=gate))
    stage.reply("Both answered.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        turn = session.prompt("first")
        await turn.send()
        await stage.reached(gate)
        await session.send("second, while you work")
        await session.mcp_status()  # once it answers this, it has read the prompt
        gate.open()
        result = await turn
        expect("the result", result.result, "Both answered.")
        expect_that("second, while you work" in stage.heard[-1].text, "the prompt was not folded in")


@scenario("prompt queue", "A prompt with `priority: later` starts its own turn")
async def later_prompt(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("I look.", bash("echo one"), Stall(after=3, until=gate))
    stage.reply("The first.")
    stage.reply("The later one.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        await session.send("first")
        await stage.reached(gate)
        await session.send("third, for later", priority="later")
        await session.mcp_status()
        gate.open()
        results = [(await stage.next_of(session, ResultMessage)).result for _ in range(2)]
    expect("the results", results, ["The first.", "The later one."])
