"""Retries, the warm pool and tracing on the real CLI."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from e2e.kit import LIMIT_S, Stage, of_kind, reached, until
from quarterdeck import (
    Message,
    ProcessError,
    ResultMessage,
    Retry,
    RetryNotice,
    RetryRefused,
    Session,
    TransportClosed,
    WarmPool,
    prompt,
)
from quarterdeck.testing.model import Error, Stall, ToolUse

pytestmark = pytest.mark.real

GIVES_UP_AT_ONCE = {"CLAUDE_CODE_MAX_RETRIES": "0"}


async def at_once(_: float) -> None:
    """In the place of waiting."""


def kill(session: Session) -> None:
    pid = session.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def notices(messages: list[Message]) -> list[RetryNotice]:
    return of_kind(messages, RetryNotice)


# Retries


async def test_an_overloaded_prompt_is_sent_again(any_stage: Stage) -> None:
    stage = any_stage
    heard: list[RetryNotice] = []
    # 2.0.77 asks twice of its own accord, streaming and not
    stage.model.on(lambda request: request.kind == "main" and not heard, Error(529))
    stage.model.reply("back again")
    retry = Retry(sleep=at_once, on_notice=heard.append)
    async with stage.session(env=GIVES_UP_AT_ONCE, retry=retry) as session:
        messages = [message async for message in session.prompt("hello")]
        (notice,) = notices(messages)
        assert (notice.kind, notice.attempt, notice.action) == ("overload", 2, "resend")
        assert [result.result for result in of_kind(messages, ResultMessage)] == ["back again"]
        assert stage.model.conversation[-1].last_user_text.endswith("hello")


async def test_after_overloads_the_fallback_model_is_asked(stage: Stage) -> None:
    heard: list[RetryNotice] = []
    retry = Retry(attempts=4, fallback_models=("claude-haiku-4-5",), sleep=at_once, on_notice=heard.append)
    for _ in range(2):
        stage.model.reply(Error(529))
    stage.model.reply("by another")
    ended = await prompt("hello", stage.options(env=GIVES_UP_AT_ONCE), retry=retry, **stage.at)
    assert ended.result == "by another"
    assert [notice.model for notice in heard] == [None, "claude-haiku-4-5"]
    assert stage.model.conversation[-1].model.startswith("claude-haiku-4-5")
    assert not stage.model.conversation[0].model.startswith("claude-haiku-4-5")


async def test_a_cli_killed_in_a_turn_is_resumed(stage: Stage) -> None:
    async with stage.session(retry=Retry(sleep=at_once)) as session:
        stage.model.reply("remembered")
        await session.prompt("the ship is called Beagle")
        before = session.session_id
        gate = stage.model.gate()
        stage.model.reply("cut off", Stall(after=3, until=gate))
        turn = session.prompt("what is it called?")
        await turn.send()
        await reached(gate)
        kill(session)
        gate.open()
        stage.model.reply("Beagle")
        messages = [message async for message in turn]
        assert [(notice.kind, notice.action) for notice in notices(messages)] == [("exit", "resend")]
        assert turn.result is not None
        assert turn.result.result == "Beagle"
        assert session.session_id == before
        assert "the ship is called Beagle" in stage.model.conversation[-1].text


async def test_what_a_tool_did_before_the_cli_died_is_not_done_twice(stage: Stage) -> None:
    async with stage.session(retry=Retry(sleep=at_once), can_use_tool=stage.allow) as session:
        gate = stage.model.gate()
        stage.model.reply(ToolUse("Bash", {"command": "echo once >> log.txt", "description": "log"}))
        stage.model.reply("cut off", Stall(after=3, until=gate))
        turn = session.prompt("log it")
        await turn.send()
        await reached(gate)
        # The CLI writes its transcript a moment later: a kill before that leaves nothing to resume.
        await until(lambda: any(b"tool_result" in one.read_bytes() for one in stage.home.rglob("*.jsonl")))
        kill(session)
        gate.open()
        stage.model.reply("it was logged")
        messages = [message async for message in turn]
        (notice,) = notices(messages)
        assert (notice.action, notice.tools, notice.unfinished) == ("continue", ("Bash",), ())
        assert "These tools had already run: Bash." in stage.model.conversation[-1].last_user_text
        assert (stage.cwd / "log.txt").read_text() == "once\n"


async def test_a_tool_that_was_cut_off_is_not_tried_again(stage: Stage) -> None:
    async with stage.session(retry=Retry(sleep=at_once), can_use_tool=stage.allow) as session:
        command = "echo begun >> log.txt; sleep 100"
        stage.model.reply(ToolUse("Bash", {"command": command, "description": "slow"}))
        turn = session.prompt("log it")
        await turn.send()
        await until((stage.cwd / "log.txt").exists)
        kill(session)
        with pytest.raises(RetryRefused, match=r"Bash \(without a result: Bash\)") as caught:
            await turn
        assert caught.value.session_id == session.session_id


# The warm pool


def _pool(size: int, stage: Stage) -> WarmPool:
    return WarmPool(size, stage.options(), health_timeout_s=10.0, new_session=stage.connect)


async def test_a_warm_session_of_every_cli_is_healthy(any_stage: Stage) -> None:
    stage = any_stage
    async with asyncio.timeout(LIMIT_S), _pool(1, stage) as pool:
        await pool.ready()
        stage.model.reply("served")
        async with pool.session(permission_mode="plan") as session:
            assert (await session.prompt("hi")).result == "served"
        assert (pool.counts.warm, pool.counts.cold, pool.counts.died) == (1, 0, 0)


async def test_a_pool_of_three_killed_at_random_serves_on(stage: Stage) -> None:
    chance = random.Random(3)
    stage.model.on(lambda request: request.kind == "main", "served")
    async with asyncio.timeout(LIMIT_S * 2), _pool(3, stage) as pool:
        await pool.ready()

        async def served(doomed: bool) -> str:
            for _ in range(5):
                try:
                    async with pool.session() as session:
                        if doomed:
                            doomed = False
                            kill(session)
                        return str((await session.prompt("hi")).result)
                except (ProcessError, TransportClosed):
                    continue
            raise AssertionError("five sessions died in a row")

        kill(chance.choice(pool._idle).session)
        await until(lambda: pool.counts.died == 1)
        dooms = [chance.random() < 0.5 for _ in range(6)]
        for doomed in dooms:
            assert await served(doomed) == "served"
        assert pool.counts.warm + pool.counts.cold == len(dooms) + sum(dooms)


# Tracing


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", lambda name, version: provider.get_tracer(name, version))
    yield exporter
    provider.shutdown()


async def test_a_turn_with_a_tool_is_traced(stage: Stage, exporter: InMemorySpanExporter) -> None:
    async with stage.session(can_use_tool=stage.allow) as session:
        stage.model.reply(ToolUse("Bash", {"command": "touch made.txt", "description": "look"}))
        stage.model.reply("done")
        await session.prompt("go")
        session_id = session.session_id
    wanted = {
        "quarterdeck.session",
        "invoke_agent claude-code",
        "execute_tool Bash",
        "quarterdeck.permission_wait Bash",
    }
    traces: dict[int, dict[str, Any]] = {}
    for span in exporter.get_finished_spans():
        traces.setdefault(span.context.trace_id, {})[span.name] = span
    (spans,) = [names for names in traces.values() if set(names) == wanted]
    turn = dict(spans["invoke_agent claude-code"].attributes or {})
    assert turn["gen_ai.conversation.id"] == session_id
    assert turn["gen_ai.usage.output_tokens"]
    tool, wait = spans["execute_tool Bash"], spans["quarterdeck.permission_wait Bash"]
    assert wait.parent is not None
    assert wait.parent.span_id == tool.context.span_id


async def test_the_trace_goes_on_in_the_cli(stage: Stage, exporter: InMemorySpanExporter) -> None:
    async with stage.session(can_use_tool=stage.allow) as session:
        stage.model.reply(ToolUse("Bash", {"command": "echo in=$TRACEPARENT > made.txt", "description": "look"}))
        stage.model.reply("done")
        await session.prompt("go")
    (context,) = [span.context for span in exporter.get_finished_spans() if span.name == "quarterdeck.session"]
    expected = f"in=00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}\n"
    assert (stage.cwd / "made.txt").read_text() == expected
