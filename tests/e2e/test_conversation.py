"""Prompting, steering and interrupting, in one session with the newest CLI."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.conftest import running_in
from e2e.kit import Running, next_of, of_kind, reached, until
from quarterdeck import (
    AssistantMessage,
    CommandLifecycleMessage,
    Message,
    ResultMessage,
    StreamEvent,
    TaskStartedMessage,
    TextAccumulator,
    TextBlock,
    ThinkingBlock,
    ToolPermissionContext,
)
from quarterdeck.testing.model import Stall, Thinking, ToolUse

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_in(tmp_path_factory.mktemp("conversation"), include_partial_messages=True) as running:
        yield running


@pytest.fixture
def running(shared: Running) -> Running:
    shared.reset()
    return shared


async def test_text_comes_as_it_is_written(running: Running) -> None:
    running.model.reply("one two three four five six seven eight", delta_size=5)
    pieces = [piece async for piece in running.session.prompt("count").text()]
    assert "".join(pieces) == "one two three four five six seven eight"
    assert len(pieces) > 3


async def test_thinking_and_text_are_typed_blocks(running: Running) -> None:
    running.model.reply(Thinking("hm, let me see"), "The answer.")
    accumulator = TextAccumulator()
    blocks = []
    async for message in running.session.prompt("think"):
        accumulator.add(message)
        if isinstance(message, AssistantMessage):
            blocks += message.content
    assert [type(block) for block in blocks] == [ThinkingBlock, TextBlock]
    assert accumulator.text == "The answer."


async def test_content_blocks_are_prompts_too(running: Running) -> None:
    running.model.reply("seen")
    await running.session.prompt([TextBlock(text="first"), {"type": "text", "text": "second"}])
    assert running.model.conversation[-1].last_user_text.endswith("first\nsecond")


async def test_batches_and_messages_read_on_where_a_turn_was_left(running: Running) -> None:
    session = running.session
    running.model.reply("A few words, in pieces.", delta_size=4)
    async for message in session.prompt("talk"):
        if isinstance(message, StreamEvent):
            break
    seen: list[Message] = []
    async for batch in session.batches():
        seen += batch
        if of_kind(batch, ResultMessage):
            break
    assert of_kind(seen, StreamEvent)
    running.model.reply("again")
    await session.send("go on")
    assert (await next_of(session, ResultMessage)).result == "again"


async def test_a_prompt_during_a_turn_steers_it_and_a_later_one_waits_for_its_own(running: Running) -> None:
    session, gate = running.session, running.model.gate()
    running.model.reply("I look.", ToolUse("Bash", {"command": "echo one"}), Stall(after=3, until=gate))
    running.model.reply("Both answered.")
    running.model.reply("The later one.")
    turn = session.prompt("first")
    await turn.send()
    await reached(gate)
    steering = await session.send("second, while you work")
    later = await session.send("third, for later", priority="later")
    await next_of(session, CommandLifecycleMessage, command_uuid=later, state="queued")
    gate.open()
    results = [await next_of(session, ResultMessage) for _ in range(2)]
    assert [result.result for result in results] == ["Both answered.", "The later one."]
    assert "second, while you work" in running.model.conversation[-2].text
    assert "third, for later" not in running.model.conversation[-2].text
    assert "third, for later" in running.model.conversation[-1].text
    assert steering in (results[0].user_message_uuids or [])
    assert results[1].user_message_uuids == [later]


async def test_a_prompt_that_waits_can_be_taken_back_once(running: Running) -> None:
    session, gate = running.session, running.model.gate()
    running.model.reply("A long answer.", Stall(after=3, until=gate))
    turn = session.prompt("first")
    await turn.send()
    await reached(gate)
    queued = await session.send("second", priority="later")
    await next_of(session, CommandLifecycleMessage, command_uuid=queued, state="queued")
    assert [await session.cancel_prompt(queued), await session.cancel_prompt(queued)] == [True, False]
    gate.open()
    assert (await turn).result == "A long answer."
    assert "second" not in running.model.conversation[-1].last_user_text


async def test_an_interrupt_tells_which_prompts_stay_and_can_drop_them(running: Running) -> None:
    session, gate = running.session, running.model.gate()
    running.model.reply("A long answer.", Stall(after=3, until=gate))
    await session.prompt("first").send()
    await reached(gate)
    queued = await session.send("second", priority="later")
    await next_of(session, CommandLifecycleMessage, command_uuid=queued, state="queued")
    receipt = await session.interrupt(cancel_queued=True)
    assert (receipt.still_queued, receipt.cancelled) == ([], [queued])
    assert (await next_of(session, ResultMessage)).terminal_reason == "aborted_streaming"


async def test_an_interrupt_ends_a_command_that_runs(running: Running) -> None:
    session = running.session
    running.model.reply(ToolUse("Bash", {"command": "echo started; sleep 50"}))
    await session.send("sleep")
    await next_of(session, TaskStartedMessage)
    await session.interrupt()
    assert (await next_of(session, ResultMessage)).terminal_reason == "aborted_tools"
    await until(lambda: not [line for line in running.stage.left_running() if "sleep 50" in line])


async def test_an_interrupt_cancels_the_permission_callback_and_sets_its_signal(running: Running) -> None:
    session = running.session
    asked: asyncio.Queue[ToolPermissionContext] = asyncio.Queue()
    ended = asyncio.Event()

    async def decide(_: str, __: dict[str, Any], context: ToolPermissionContext) -> None:
        asked.put_nowait(context)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running.decide = decide
    running.model.reply(ToolUse("Bash", {"command": "touch never"}))
    await session.send("touch")
    context = await asked.get()
    assert context.signal is not None
    assert not context.signal.aborted
    await session.interrupt()
    await ended.wait()
    assert context.signal.aborted
    assert session.pending() == {}
    assert (await next_of(session, ResultMessage)).subtype == "error_during_execution"
    assert not (running.stage.cwd / "never").exists()


async def test_model_mode_and_thinking_change_between_turns(running: Running) -> None:
    session = running.session
    answer = await session.set_model("claude-sonnet-4-5")
    assert "sonnet-4-5" in (answer.model or "")
    assert (await session.set_permission_mode("acceptEdits")).mode == "acceptEdits"
    await session.set_max_thinking_tokens(4000)
    running.model.reply("as sonnet", ToolUse("Write", {"file_path": str(running.stage.cwd / "w"), "content": "x"}))
    running.model.reply("written")
    await session.prompt("write")
    request = running.model.conversation[-1]
    assert "sonnet-4-5" in request.model
    # Newer models think as they see fit; an older one is given the number.
    assert request.json["thinking"]["budget_tokens"] == 4000
    assert running.stage.asked == []
    assert (running.stage.cwd / "w").exists()
    await session.set_model(None)
    await session.set_max_thinking_tokens(None)
    running.model.reply("thinking again")
    await session.prompt("think")
    assert running.model.conversation[-1].json["thinking"]["type"] == "adaptive"
    assert (await session.set_permission_mode("default")).mode == "default"


async def test_clear_starts_a_conversation_under_a_new_id_and_compact_sums_one_up(running: Running) -> None:
    session, before = running.session, running.session.session_id
    running.model.reply("words to sum up")
    await session.prompt("talk")
    kinds = [type(message).__name__ async for message in session.prompt("/compact")]
    assert "CompactBoundaryMessage" in kinds
    kinds = [type(message).__name__ async for message in session.prompt("/clear")]
    assert "ConversationResetMessage" in kinds
    assert session.session_id != before
    running.model.reply("a fresh start")
    result = await session.prompt("hello")
    assert result.session_id == session.session_id
    assert "words to sum up" not in running.model.conversation[-1].text
