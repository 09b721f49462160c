from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from client.fake import FakeCli, session_and_cli, until
from client.spans import Spans
from protocol.pair import init, result
from quarterdeck import LATER, ClaudeAgentOptions, PermissionResultAllow, Session, UserMessage
from quarterdeck.client.tracing import SessionTracer
from quarterdeck.protocol import AnswerReceived
from quarterdeck.testing.kit import FakeClaude


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spans]:
    collected = Spans()
    monkeypatch.setattr(trace, "get_tracer", lambda name, version: collected.provider.get_tracer(name, version))
    yield collected
    collected.provider.shutdown()


def tool_use(name: str, call: str, parent: str | None = None) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call, "name": name, "input": {"command": "secret"}}
    message = {"role": "assistant", "model": "m", "content": [block]}
    return {
        "type": "assistant",
        "message": message,
        "session_id": "s1",
        "uuid": f"a-{call}",
        "parent_tool_use_id": parent,
    }


def tool_result(call: str, *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "session_id": "s1", "uuid": f"r-{call}"}


USAGE = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}


async def play(cli: FakeCli, session: Session, *lines: Any, **of_result: Any) -> None:
    task = asyncio.create_task(cli.turn(*lines, **of_result))
    await session.prompt("hi")
    await task


async def test_a_turn_is_an_agents_invocation_with_what_it_used(spans: Spans) -> None:
    async with session_and_cli() as (session, cli):
        await play(cli, session, usage=USAGE, stop_reason="end_turn", total_cost_usd=0.5)
    turn = spans.one("invoke_agent claude-code")
    assert turn.kind is SpanKind.CLIENT
    assert turn.attributes is not None
    told = dict(turn.attributes)
    assert told.pop("gen_ai.request.model")
    told.pop("gen_ai.agent.version", None)
    assert told == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.name": "claude-code",
        "gen_ai.conversation.id": "s1",
        "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.usage.input_tokens": 125,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_creation.input_tokens": 20,
        "quarterdeck.cost_usd": 0.5,
    }
    assert spans.parent("invoke_agent claude-code") == "quarterdeck.session"
    assert spans.one("quarterdeck.session").attributes == {
        "gen_ai.provider.name": "anthropic",
        "gen_ai.conversation.id": "s1",
    }


async def test_tools_are_spans_below_their_turn_or_the_tool_that_called_them(spans: Spans) -> None:
    async with session_and_cli() as (session, cli):
        await play(
            cli, session, tool_use("Task", "t1"), tool_use("mcp__calc__add", "t2", "t1"),
            tool_result("t2", failed=True), tool_result("t1"),
        )  # fmt: skip
    assert spans.parent("execute_tool Task") == "invoke_agent claude-code"
    assert spans.parent("execute_tool mcp__calc__add") == "execute_tool Task"
    inner = spans.one("execute_tool mcp__calc__add")
    assert inner.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "mcp__calc__add",
        "gen_ai.tool.call.id": "t2",
        "gen_ai.tool.type": "extension",
        "error.type": "tool_error",
    }
    assert inner.status.status_code is StatusCode.ERROR
    assert "secret" not in "".join(span.to_json() for span in spans.all)


@pytest.mark.parametrize("later", [False, True], ids=["at once", "later"])
async def test_a_wait_for_permission_is_a_span_that_tells_the_decision(spans: Spans, later: bool) -> None:
    async def decide(*_: Any) -> Any:
        return LATER if later else PermissionResultAllow()

    async with session_and_cli(ClaudeAgentOptions(can_use_tool=decide)) as (session, cli):
        turn = session.prompt("hi")
        await turn.send()
        await cli.expect(UserMessage)
        cli.say(init(), tool_use("Bash", "t1"))
        asked = cli.ask("can_use_tool", tool_name="Bash", input={}, tool_use_id="t1")
        if later:
            await until(session.pending)
            session.answer(asked, PermissionResultAllow())
        await cli.expect(AnswerReceived)
        cli.say(tool_result("t1"), result())
        await turn
    wait = spans.one("quarterdeck.permission_wait Bash")
    assert wait.attributes == {
        "gen_ai.tool.name": "Bash",
        "gen_ai.tool.call.id": "t1",
        "quarterdeck.permission.decision": "allow",
    }
    assert spans.parent("quarterdeck.permission_wait Bash") == "execute_tool Bash"


async def test_a_turn_belongs_to_the_span_it_was_asked_in_and_is_linked_to_its_session(spans: Spans) -> None:
    tracer = spans.provider.get_tracer("test")
    async with session_and_cli() as (session, cli):
        with tracer.start_as_current_span("web request"):
            await play(cli, session)
    assert spans.parent("invoke_agent claude-code") == "web request"
    (link,) = spans.one("invoke_agent claude-code").links
    assert link.context.span_id == spans.one("quarterdeck.session").context.span_id


async def test_failed_turns_say_why(spans: Spans) -> None:
    async with session_and_cli() as (session, cli):
        await play(cli, session, is_error=True, api_error_status=529)
    turn = spans.one("invoke_agent claude-code")
    assert turn.attributes is not None
    assert turn.attributes["error.type"] == "529"
    assert turn.status.status_code is StatusCode.ERROR


async def test_everything_open_ends_with_the_session(spans: Spans) -> None:
    async with session_and_cli(ClaudeAgentOptions(can_use_tool=lambda *_: LATER)) as (session, cli):
        await session.send("hi")
        await cli.expect(UserMessage)
        cli.say(init(), tool_use("Bash", "t1"))
        cli.ask("can_use_tool", tool_name="Bash", input={}, tool_use_id="t1")
        await until(session.pending)
    names = ["quarterdeck.permission_wait Bash", "execute_tool Bash", "invoke_agent claude-code", "quarterdeck.session"]
    assert [span.name for span in spans.all] == names
    assert dict(spans.one("invoke_agent claude-code").attributes or {})["error.type"] == "session_closed"


async def test_without_a_collector_nothing_is_watched() -> None:
    async with session_and_cli(ClaudeAgentOptions(tracing=True)) as (session, _):
        assert session.journal.readers == ()


async def test_tracing_can_be_turned_off(spans: Spans) -> None:
    async with session_and_cli(ClaudeAgentOptions(tracing=False)) as (session, cli):
        await play(cli, session)
    assert spans.all == []


def environment_of(pid: int | None) -> dict[str, str]:
    variables = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(variable.split("=", 1) for variable in variables if variable)


async def test_the_cli_gets_the_context_of_the_session_span(
    spans: Spans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACESTATE", "of=another")
    claude = FakeClaude(tmp_path)
    async with Session(claude.options()) as session:
        env = environment_of(session.pid)
    span = spans.one("quarterdeck.session").context
    assert env["TRACEPARENT"] == f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
    assert env["TRACESTATE"] == ""


def test_the_programs_own_variables_win(spans: Spans) -> None:
    options = ClaudeAgentOptions(env={"TRACEPARENT": "mine"})
    assert SessionTracer(options).propagated(options).env["TRACEPARENT"] == "mine"


def test_a_program_that_does_not_trace_never_imports_opentelemetry(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from quarterdeck import Session
from quarterdeck.testing.kit import FakeClaude
from pathlib import Path
async def main():
    async with Session(FakeClaude(Path(sys.argv[1])).options()) as session:
        await session.prompt("hello")
asyncio.run(main())
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
assert "quarterdeck.client.tracing" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=60)


async def test_a_session_that_is_closed_twice_ends_its_span_once(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    async with session_and_cli() as (session, _):
        await session.close()
    assert [span.name for span in spans.all] == ["quarterdeck.session"]
    assert caplog.text == ""


async def test_asking_for_tracing_without_its_package_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quarterdeck.client.tracing", None)
    with pytest.raises(ImportError, match="opentelemetry-api"):
        async with session_and_cli(ClaudeAgentOptions(tracing=True)):
            raise AssertionError("it must not open")
