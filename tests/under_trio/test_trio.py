"""The client under trio: the same names, with callbacks and tools that are coroutines of trio's."""

from __future__ import annotations

import contextvars
import gc
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio

from chaos.kit import Chaos
from quarterdeck import (
    Aborted,
    AssistantMessage,
    ClaudeSDKClient,
    CLINotFoundError,
    ControlError,
    HookMatcher,
    PermissionResultAllow,
    ResultMessage,
    Retry,
    Session,
    TextBlock,
    Transport,
    connect,
    create_sdk_mcp_server,
    query,
    resume_session,
    tool,
)
from quarterdeck.client.oneshot import prompt
from quarterdeck.client.trio_session import TrioSession
from simulated import ASKS, ASKS_FOR_TEA, DIES_ONCE, LIMIT_S, Simulated, until

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    """Under trio, bounded."""

    async def bounded() -> Any:
        with trio.fail_after(LIMIT_S):
            return await main()

    return trio.run(bounded)


async def texts(messages: AsyncIterator[Any]) -> list[str]:
    return [
        block.text
        async for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, TextBlock)
    ]


async def held(fake: Simulated) -> None:
    with trio.fail_after(LIMIT_S):
        while not fake.is_held():  # noqa: ASYNC110  # the condition is a file
            await trio.sleep(0.01)


# Conversations


def test_query_prompt_and_the_official_client_run_under_trio(fake: Simulated) -> None:
    fake.play(["one"], ["two"])

    async def main() -> list[Any]:
        seen: list[Any] = [await texts(query(prompt="hi", options=fake.options()))]
        seen.append((await prompt("hi", fake.options())).result)
        async with ClaudeSDKClient(fake.options()) as client:
            for word in ("a", "b"):
                await client.query(word)
                seen.append(await texts(client.receive_response()))
            seen.append((await client.get_context_usage())["totalTokens"] > 0)
        return seen

    assert run(main) == [["one"], "one", ["one"], ["two"], True]


def test_a_session_has_turns_costs_and_control_calls(fake: Simulated) -> None:
    fake.play(["one"], ["two"], ["three"])

    async def main() -> None:
        async with connect(fake.options()) as session:
            assert type(session) is TrioSession and isinstance(session, Session)
            assert await texts(session.prompt("a")) == ["one"]
            assert [piece async for piece in session.prompt("b").text()] == ["two"]
            turn = session.prompt("c")
            assert (await turn).result == "three"
            assert turn.result == await turn.checked()
            assert turn.prompt_id == await turn.send()
            assert (await session.set_permission_mode("plan")).mode == "plan"
            assert session.turn_cost is not None
            assert session.costs.total_usd > session.turn_cost.cost_usd > 0
            assert (session.pending(), list(session.mirror_errors), session.closed) == ({}, [], False)
            with pytest.raises(ControlError):
                await session.request("make_coffee")
            first = session.session_id
            session.finish()
            assert [batch async for batch in session.batches() if not batch] == []
        assert session.exit_status is not None and session.exit_status.code == 0
        assert first is not None
        async with resume_session(first, fake.options()) as resumed:
            assert (await resumed.prompt("d")).session_id == first

    run(main)


def test_a_session_made_before_trio_ran_runs_under_it(fake: Simulated) -> None:
    fake.play(["hello"])
    session = connect(fake.options())

    async def main() -> Any:
        async with session:
            return (await session.prompt("hi")).result

    assert run(main) == "hello"


def test_prompts_come_from_a_generator_of_trios(fake: Simulated) -> None:
    fake.play(["one"], ["two"])

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for word in ("first", "second"):
            await trio.lowlevel.checkpoint()
            yield {"type": "user", "message": {"role": "user", "content": word}, "priority": "later"}

    async def main() -> list[str]:
        return await texts(query(prompt=prompts(), options=fake.options()))

    assert run(main) == ["one", "two"]


# The program's own code


def test_callbacks_hooks_and_tools_are_coroutines_of_trios_in_the_openers_context(fake: Simulated) -> None:
    fake.play([ASKS, {"tool": "mcp__calc__add", "input": {"a": 2, "b": 3}}, "done"])
    seen: list[Any] = []

    async def allow(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        await trio.lowlevel.checkpoint()
        used = (await session.context_usage()).total_tokens > 0
        seen.append((name, WHO.get(), context.signal.is_set(), context.signal.reason, used))
        return PermissionResultAllow()

    async def hook(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        seen.append((event.tool_name, threading.current_thread() is threading.main_thread()))
        return {}

    @tool
    async def add(a: int, b: int) -> str:
        """Add two numbers."""
        await trio.lowlevel.checkpoint()
        seen.append(a + b)
        return str(a + b)

    @tool
    def unused() -> str:
        """A plain one, which has a thread."""
        return ""

    hooks: Any = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]}
    server = create_sdk_mcp_server("calc", tools=[add, unused])
    session = connect(fake.options(can_use_tool=allow, hooks=hooks, mcp_servers={"calc": server}))

    async def main() -> Any:
        WHO.set("me")
        async with session:
            return (await session.prompt("hi")).result

    assert run(main) == "done"
    asked = ("me", False, None, True)
    assert seen == [("Bash", True), ("Bash", *asked), ("mcp__calc__add", *asked), 5]


def test_a_callback_that_fails_is_an_answer_and_not_the_end(fake: Simulated, caplog: pytest.LogCaptureFixture) -> None:
    fake.play([ASKS, "done"])

    async def fail(*_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        raise ValueError("out of order")

    async def main() -> Any:
        return (await prompt("hi", fake.options(can_use_tool=fail))).result

    assert run(main) == "done"
    assert ["callback for can_use_tool failed" in record.message for record in caplog.records] == [True]


def test_a_callback_is_cancelled_when_its_session_closes(fake: Simulated) -> None:
    fake.play([ASKS, "never"])
    seen: list[str] = []

    async def main() -> None:
        asked, ended = trio.Event(), trio.Event()

        async def wait(name: str, tool_input: dict[str, Any], context: Any) -> Any:
            asked.set()
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                seen.append("cancelled")
                with trio.CancelScope(shield=True):
                    seen.append(await context.signal.wait())
                raise
            finally:
                ended.set()

        async with connect(fake.options(can_use_tool=wait)) as session:
            await session.send("hi")
            await asked.wait()
        await ended.wait()

    run(main)
    assert seen == ["cancelled", "Claude Code has ended"]


def test_a_request_that_this_version_does_not_know_gets_its_handler(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path)

    async def serve(request: Any, signal: Any) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        return {"cups": request["cups"]}

    async def main() -> Any:
        async with connect(chaos.options(ASKS_FOR_TEA)) as session:
            session.on_request("make_tea", serve)
            return (await session.prompt("hi")).result

    assert run(main) == "2"
    assert chaos.left_running() == []


def test_servers_may_be_added_later(fake: Simulated) -> None:
    fake.play([{"tool": "mcp__late__shout", "input": {"word": "hey"}}, "done"])
    seen: list[str] = []

    @tool
    async def shout(word: str) -> str:
        """Say it loudly."""
        await trio.lowlevel.checkpoint()
        seen.append(word.upper())
        return word.upper()

    async def main() -> None:
        async with connect(fake.options(allowed_tools=["mcp__late__shout"])) as session:
            result = await session.set_mcp_servers({"late": create_sdk_mcp_server("late", tools=[shout])})
            assert result.added == ["late"]
            await session.prompt("hi")

    run(main)
    assert seen == ["HEY"]


def test_a_store_and_stderr_are_the_programs(fake: Simulated) -> None:
    fake.play(["hello", {"exit": 3, "stderr": "one\ntwo"}])
    kept: dict[str, int] = {}
    lines: list[str] = []

    class Store:
        async def append(self, key: Any, entries: list[Any]) -> None:
            await trio.lowlevel.checkpoint()
            kept[key["session_id"]] = kept.get(key["session_id"], 0) + len(entries)

        async def load(self, key: Any) -> None:
            return None

    async def main() -> Any:
        async with connect(fake.options(session_store=Store(), stderr=lines.append)) as session:
            result = await session.prompt("hi")
            async for _ in session.messages():
                pass
            return result.session_id

    with pytest.raises(Exception, match="3"):
        run(main)
    assert len(kept) == 1 and all(kept.values())
    assert lines == ["one", "two"]


class Echo(Transport):
    """Says what it is told."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[dict[str, Any]](10)

    async def connect(self) -> None:
        await trio.lowlevel.checkpoint()

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if line["type"] == "control_request":
            done = {"subtype": "success", "request_id": line["request_id"], "response": {}}
            await self._send.send({"type": "control_response", "response": done})
        else:
            await self._send.send({"type": "assistant", "message": {**line["message"], "role": "assistant"}})

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        async for message in self._receive:
            yield message

    async def close(self) -> None:
        await self._send.aclose()

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        await self._send.aclose()


def test_a_transport_for_the_official_sdk_is_run_under_trio() -> None:
    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "anybody?"}]}}

    async def main() -> Any:
        async with ClaudeSDKClient(transport=Echo()) as client:
            await client.query(prompts())
            return await client.session.next_message()

    message = run(main)
    assert isinstance(message, AssistantMessage)
    assert message.content == [TextBlock(text="anybody?")]


def test_a_retry_sleeps_under_trio_and_keeps_the_callbacks(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path)
    told: list[str] = []
    retry = Retry(backoff_s=0.0, on_notice=lambda notice: told.append(notice.kind), sleep=trio.sleep)

    async def main() -> Any:
        async with connect(chaos.options(DIES_ONCE, retry=retry)) as session:
            turn = session.prompt("hi")
            result = (await turn).result
            return result, turn.attempt  # type: ignore[attr-defined]

    assert run(main) == ("done", 2)
    assert (told, chaos.left_running()) == (["exit"], [])


# Cancellation


def test_a_cancelled_scope_ends_the_wait_and_closes_the_session(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])

    async def main() -> None:
        with trio.CancelScope() as scope:
            async with connect(fake.options()) as session, trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_when_held, fake, scope)
                await session.prompt("hi")
        assert scope.cancelled_caught and session.closed
        assert session.exit_status is not None

    run(main)
    assert fake.left_running() == []


async def _cancel_when_held(fake: Simulated, scope: trio.CancelScope) -> None:
    await held(fake)
    scope.cancel()


def test_a_deadline_in_the_middle_of_the_start_leaves_nothing(fake: Simulated) -> None:
    async def main() -> None:
        with trio.move_on_after(0.05) as scope:
            async with connect(fake.options()):
                await trio.sleep_forever()
        assert scope.cancelled_caught

    run(main)
    assert fake.left_running() == []


def test_a_session_is_usable_after_a_call_was_cancelled(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "done"])

    async def main() -> Any:
        async with connect(fake.options()) as session:
            turn = session.prompt("hi")
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_cancel_when_held, fake, scope)
                    await turn
            assert scope.cancelled_caught
            fake.release()
            return (await turn).subtype

    assert run(main) == "success"


def test_an_event_of_trios_aborts_a_session(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])

    async def main() -> None:
        abort = trio.Event()

        async def stop() -> None:
            await held(fake)
            abort.set()

        async with connect(fake.options(abort=abort)) as session, trio.open_nursery() as nursery:
            nursery.start_soon(stop)
            with pytest.raises(Aborted, match="abort option"):
                await session.prompt("hi")

    run(main)


def test_a_nursery_runs_several_sessions_at_once(fake: Simulated) -> None:
    fake.play(["hello"])
    results: list[Any] = []

    async def ask() -> None:
        results.append((await prompt("hi", fake.options())).result)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ask)

    run(main)
    assert results == ["hello"] * 3


def test_a_session_that_was_never_closed_is_warned_about_and_ended(fake: Simulated) -> None:
    fake.play(["hello"])

    async def main() -> None:
        session = connect(fake.options())
        await session.open()
        await session.prompt("hi")
        with pytest.warns(ResourceWarning, match="never closed"):
            del session
            gc.collect()

    run(main)
    until(lambda: fake.left_running() == [])


# Where it runs


async def test_trio_runs_inside_a_coroutine_of_asyncio_as_in_a_notebook(fake: Simulated) -> None:
    fake.play(["hello"])

    async def main() -> Any:
        return (await prompt("hi", fake.options())).result

    assert run(main) == "hello"
    assert (await prompt("hi", fake.options())).result == "hello"


def test_trio_runs_in_several_threads_at_once(fake: Simulated) -> None:
    fake.play(["hello"])
    results: list[Any] = []

    async def main() -> None:
        results.append((await prompt("hi", fake.options())).result)

    threads = [threading.Thread(target=run, args=(main,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert results == ["hello"] * 2


def test_a_program_of_anyio_on_trio_runs(fake: Simulated) -> None:
    fake.play([ASKS, "done"])

    async def allow(*_: Any) -> PermissionResultAllow:
        await anyio.lowlevel.checkpoint()
        return PermissionResultAllow()

    async def main() -> list[Any]:
        messages = query(prompt="hi", options=fake.options(can_use_tool=allow))
        return [message.result async for message in messages if isinstance(message, ResultMessage)]

    assert anyio.run(main, backend="trio") == ["done"]


def test_errors_are_the_same(fake: Simulated) -> None:
    async def main() -> None:
        with pytest.raises(CLINotFoundError):
            await prompt("hi", fake.options(cli_path="/no/such/claude"))
        with pytest.raises(TypeError, match="hooks"):
            await prompt("hi", fake.options(hooks={"PreToolUse": "no list"}))

    run(main)


def test_a_response_ends_with_the_next_result(fake: Simulated) -> None:
    fake.play(["one"], ["two"])

    async def main() -> list[list[str]]:
        async with connect(fake.options()) as session:
            told = []
            for _ in range(2):
                await session.send("go")
                told.append([type(message).__name__ async for message in session.response()])
            return told

    for kinds in run(main):
        assert kinds.count("ResultMessage") == 1 and kinds[-1] == "ResultMessage"
