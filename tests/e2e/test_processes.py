"""What takes a process of its own, on every supported CLI: one-shot prompts, streams of prompts, resume and fork."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from e2e.kit import LIMIT_S, Stage, of_kind, reached
from quarterdeck import (
    ClaudeSDKClient,
    ResultError,
    ResultMessage,
    UserMessage,
    prompt,
    query,
    resume_session,
)
from quarterdeck.testing.model import Error, Stall

pytestmark = pytest.mark.real

UNKNOWN = "99999999-2222-4333-8444-555555555555"


async def test_query_takes_a_stream_of_prompts(any_stage: Stage) -> None:
    stage = any_stage
    ended = asyncio.Event()

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for text in ("first", "second"):
            yield {"type": "user", "message": {"role": "user", "content": text}}
            await ended.wait()
            ended.clear()

    stage.model.reply("to the first")
    stage.model.reply("to the second")
    results = []
    async for message in query(prompt=prompts(), options=stage.options(), **stage.at):
        if isinstance(message, ResultMessage):
            results.append(message.result)
            ended.set()
    assert results == ["to the first", "to the second"]


async def test_a_conversation_is_resumed_and_forked(any_stage: Stage) -> None:
    stage = any_stage
    stage.model.reply("the original")
    messages = [message async for message in query(prompt="remember the ship", options=stage.options(), **stage.at)]
    (first,) = of_kind(messages, ResultMessage)
    assert first.result == "the original"
    stage.model.reply("resumed")
    async with resume_session(first.session_id, stage.options(), **stage.at) as session:
        await session.prompt("which?")
        assert session.session_id == first.session_id
        assert "remember the ship" in stage.model.conversation[-1].text
    stage.model.reply("forked")
    async with resume_session(first.session_id, stage.options(), fork=True, **stage.at) as session:
        await session.prompt("and now?")
        assert session.session_id != first.session_id
        assert "remember the ship" in stage.model.conversation[-1].text


async def test_the_official_client_talks_twice_and_interrupts(any_stage: Stage) -> None:
    stage = any_stage
    async with asyncio.timeout(LIMIT_S), ClaudeSDKClient(stage.options(), **stage.at) as client:
        for text in ("one", "two"):
            stage.model.reply(text)
            await client.query("say it")
            results = of_kind([message async for message in client.receive_response()], ResultMessage)
            assert [result.result for result in results] == [text]
        info = await client.get_server_info()
        assert info is not None
        assert info["commands"]
        gate = stage.model.gate()
        stage.model.reply("A long answer.", Stall(after=4, until=gate))
        await client.query("talk")
        await reached(gate)
        await client.interrupt()
        messages = [message async for message in client.receive_response()]
        assert of_kind(messages, UserMessage)[-1].content[0].text.startswith("[Request interrupted")


async def test_prompt_returns_the_result_or_raises_it(stage: Stage) -> None:
    stage.model.reply("short and good")
    assert (await prompt("hi", stage.options(), max_turns=3, **stage.at)).result == "short and good"
    stage.model.on(lambda request: request.kind == "main", Error(400, "no"))
    with pytest.raises(ResultError) as caught:
        await prompt("hi", stage.options(env={"CLAUDE_CODE_MAX_RETRIES": "0"}), **stage.at)
    assert caught.value.api_error_status == 400


async def test_query_yields_an_error_result_and_then_raises_it(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", Error(400, "no"))
    seen: list[bool] = []
    with pytest.raises(ResultError) as caught:
        async for message in query(prompt="hi", options=stage.options(), **stage.at):
            seen += [message.failed] if isinstance(message, ResultMessage) else []
    assert seen == [True]
    assert caught.value.exit_code == 1


async def test_resuming_an_unknown_conversation_says_so(stage: Stage) -> None:
    with pytest.raises(ResultError, match="No conversation found") as caught:
        async with stage.session(resume=UNKNOWN):
            pass
    assert caught.value.exit_code == 1
    assert caught.value.subtype == "error_during_execution"
