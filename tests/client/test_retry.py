from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from client.fake import FakeCli, session_and_cli, until
from quarterdeck import (
    ClaudeAgentOptions,
    ControlError,
    Message,
    ProcessExited,
    ResultError,
    ResultMessage,
    Retry,
    RetryNotice,
    RetryRefused,
    Session,
    UserMessage,
    connect,
    prompt,
)
from quarterdeck.client.retry import failure_kind
from quarterdeck.protocol import RequestReceived
from quarterdeck.testing.kit import FakeClaude
from quarterdeck.wire import InitMessage

OVERLOADED = {"is_error": True, "result": "API Error: Repeated 529 Overloaded errors.", "api_error_status": 529}


class Waits:
    """A clock that does not tick: it remembers how long would have been waited."""

    def __init__(self) -> None:
        self.all_s: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.all_s.append(seconds)


def tool_use(name: str, call: str = "t1") -> dict[str, Any]:
    block = {"type": "tool_use", "id": call, "name": name, "input": {}}
    message = {"role": "assistant", "model": "m", "content": [block]}
    return {"type": "assistant", "message": message, "session_id": "s1", "uuid": call}


def tool_result(call: str = "t1") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "session_id": "s1", "uuid": f"r-{call}"}


def notices(messages: list[Message]) -> list[RetryNotice]:
    return [message for message in messages if isinstance(message, RetryNotice)]


async def played(
    cli: FakeCli, retry: Retry, session: Session, play: Callable[[], Awaitable[Any]]
) -> tuple[list[Message], Any]:
    task = asyncio.ensure_future(play())
    messages = [message async for message in session.prompt("go", retry=retry)]
    return messages, await task


async def test_an_overloaded_turn_is_announced_and_sent_again() -> None:
    waits = Waits()
    async with session_and_cli() as (session, cli):

        async def play() -> list[UserMessage]:
            return [await cli.turn(**OVERLOADED), await cli.turn(**OVERLOADED), await cli.turn(result="at last")]

        messages, prompts = await played(cli, Retry(sleep=waits, backoff_s=2.0), session, play)
        first, second = notices(messages)
        assert (first.kind, first.attempt, first.attempts, first.wait_s, first.action) == (
            "overload",
            2,
            3,
            2.0,
            "resend",
        )
        assert first.result is not None
        assert first.result.api_error_status == 529
        assert (second.attempt, second.wait_s) == (3, 4.0)
        assert waits.all_s == [2.0, 4.0]
        assert [one.result for one in messages if isinstance(one, ResultMessage)] == ["at last"]
        assert [one.content for one in prompts] == ["go", "go", "go"]
        assert len({one.uuid for one in prompts}) == 3


async def test_tries_are_bounded_and_the_last_failure_is_the_result() -> None:
    async with session_and_cli(ClaudeAgentOptions(retry=Retry(attempts=2, sleep=Waits()))) as (session, cli):

        async def play() -> None:
            await cli.turn(**OVERLOADED)
            await cli.turn(**OVERLOADED)

        task = asyncio.create_task(play())
        with pytest.raises(ResultError, match="529"):
            await session.prompt("go").checked()
        await task


async def test_what_is_not_listed_is_not_tried_again() -> None:
    async with session_and_cli(ClaudeAgentOptions(retry=Retry(on=("exit",), sleep=Waits()))) as (session, cli):
        task = asyncio.create_task(cli.turn(**OVERLOADED))
        assert (await session.prompt("go")).api_error_status == 529
        await task


async def test_after_several_overloads_the_next_model_takes_over() -> None:
    heard: list[RetryNotice] = []
    retry = Retry(attempts=4, fallback_models=("haiku",), fallback_after=2, sleep=Waits(), on_notice=heard.append)
    async with session_and_cli(ClaudeAgentOptions(retry=retry)) as (session, cli):

        async def play() -> Any:
            await cli.turn(**OVERLOADED)
            await cli.turn(**OVERLOADED)
            asked = await cli.expect(RequestReceived)
            cli.answer(asked.request_id)
            await cli.turn(result="by haiku")
            return asked.request

        task = asyncio.create_task(play())
        assert (await session.prompt("go")).result == "by haiku"
        assert [notice.model for notice in heard] == [None, "haiku"]
        request = await task
        assert (request.get("subtype"), request.get("model")) == ("set_model", "haiku")


async def test_after_a_tool_the_conversation_goes_on_instead_of_being_repeated() -> None:
    async with session_and_cli() as (session, cli):

        async def play() -> UserMessage:
            await cli.turn(tool_use("Bash"), tool_result(), **OVERLOADED)
            return await cli.turn(result="done")

        messages, sent = await played(cli, Retry(sleep=Waits()), session, play)
        (notice,) = notices(messages)
        assert (notice.action, notice.tools, notice.unfinished) == ("continue", ("Bash",), ())
        assert "These tools had already run: Bash." in sent.content
        assert sent.content != "go"


async def test_harmless_tools_do_not_keep_a_prompt_from_being_sent_again() -> None:
    async with session_and_cli() as (session, cli):

        async def play() -> UserMessage:
            await cli.turn(tool_use("Read"), tool_result(), **OVERLOADED)
            return await cli.turn(result="done")

        messages, sent = await played(cli, Retry(sleep=Waits()), session, play)
        assert [notice.action for notice in notices(messages)] == ["resend"]
        assert sent.content == "go"


@pytest.mark.parametrize(
    ("after_tools", "lines"),
    [("refuse", [tool_use("Bash"), tool_result()]), ("finished", [tool_use("Bash")])],
)
async def test_a_retry_that_could_repeat_something_is_refused(after_tools: Any, lines: list[dict[str, Any]]) -> None:
    async with session_and_cli() as (session, cli):
        task = asyncio.create_task(cli.turn(*lines, **OVERLOADED))
        with pytest.raises(RetryRefused, match="after tools had run: Bash") as caught:
            await session.prompt("go", retry=Retry(after_tools=after_tools, sleep=Waits()))
        await task
        assert caught.value.tools == ("Bash",)
        assert caught.value.unfinished == (() if after_tools == "refuse" else ("Bash",))
        assert caught.value.session_id == "s1"
        assert isinstance(caught.value.__cause__, ResultError)


async def test_an_unfinished_tool_is_told_to_the_model_when_the_program_wants_to_go_on() -> None:
    async with session_and_cli() as (session, cli):

        async def play() -> UserMessage:
            await cli.turn(tool_use("Bash"), **OVERLOADED)
            return await cli.turn(result="done")

        messages, sent = await played(cli, Retry(after_tools="always", sleep=Waits()), session, play)
        assert [notice.unfinished for notice in notices(messages)] == [("Bash",)]
        assert "unknown whether these finished, or what they did: Bash." in sent.content


async def test_a_session_on_a_foreign_transport_says_how_its_cli_died() -> None:
    async with session_and_cli() as (session, cli):
        turn = session.prompt("go", retry=Retry(attempts=1))
        await turn.send()
        await cli.expect(UserMessage)
        cli.end(code=9)
        with pytest.raises(ProcessExited):
            await turn


# With processes


@pytest.fixture
def claude(tmp_path: Path) -> FakeClaude:
    return FakeClaude(tmp_path)


async def collected(session: Session, text: str) -> list[Message]:
    async with asyncio.timeout(30):
        return [message async for message in session.prompt(text)]


async def test_a_cli_that_died_in_its_first_turn_is_started_anew(claude: FakeClaude) -> None:
    claude.play(rules=[{"when": "go", "steps": [{"exit": 9}]}])

    def mended(_: RetryNotice) -> None:
        claude.play(["here again"])

    async with connect(claude.options(retry=Retry(sleep=Waits(), on_notice=mended))) as session:
        messages = await collected(session, "go")
        (notice,) = notices(messages)
        assert (notice.kind, notice.action, notice.result) == ("exit", "resend", None)
        assert [one.result for one in messages if isinstance(one, ResultMessage)] == ["here again"]


async def test_a_cli_that_died_later_is_resumed_with_what_was_set_meanwhile(claude: FakeClaude) -> None:
    claude.play(["first"], [{"exit": 9}])

    def mended(_: RetryNotice) -> None:
        claude.play(["resumed"])

    async with connect(claude.options(retry=Retry(sleep=Waits(), on_notice=mended))) as session:
        await session.set_permission_mode("plan")
        await collected(session, "one")
        before = session.session_id
        messages = await collected(session, "two")
        assert [notice.kind for notice in notices(messages)] == ["exit"]
        last = messages[-1]
        assert isinstance(last, ResultMessage)
        assert last.result == "resumed"
        assert session.session_id == before
        assert [one.permission_mode for one in messages if isinstance(one, InitMessage)][-1] == "plan"


async def test_a_cli_that_died_between_turns_is_resumed(claude: FakeClaude) -> None:
    claude.play(["first"], ["second"])
    async with connect(claude.options(retry=Retry(sleep=Waits()))) as session:
        await collected(session, "one")
        before = session.session_id
        os.kill(session.pid or 0, signal.SIGKILL)
        await until(lambda: session.exit_status is not None)
        messages = await collected(session, "two")
        assert [(one.kind, one.action) for one in notices(messages)] == [("exit", "resend")]
        assert isinstance(messages[-1], ResultMessage)
        assert session.session_id == before


async def test_rights_that_cannot_be_set_again_end_the_session(claude: FakeClaude) -> None:
    claude.play(["first"], [{"exit": 9}])
    async with connect(claude.options(retry=Retry(sleep=Waits()))) as session:
        await session.request("set_permission_mode", mode="plan")
        await collected(session, "one")
        session._lasting["set_permission_mode"] = ("set_permission_mode", {"mode": "bypassPermissions"})
        with pytest.raises(ControlError):
            await collected(session, "two")
        assert session.closed


async def test_a_cli_that_dies_each_time_is_given_up(claude: FakeClaude) -> None:
    heard: list[RetryNotice] = []
    claude.play(rules=[{"when": "go", "steps": [{"exit": 9}]}])
    options = claude.options(retry=Retry(attempts=3, sleep=Waits(), on_notice=heard.append))
    with pytest.raises(ProcessExited):
        await prompt("go", options)
    assert [notice.attempt for notice in heard] == [2, 3]


async def test_a_conversation_that_was_not_kept_cannot_be_resumed(claude: FakeClaude) -> None:
    claude.play(["first"], [{"exit": 9}])
    async with connect(claude.options(persist_session=False, retry=Retry(sleep=Waits()))) as session:
        await collected(session, "one")
        with pytest.raises(ProcessExited):
            await collected(session, "two")


# What counts


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"is_error": True, "api_error_status": 529}, "overload"),
        ({"is_error": True, "api_error_status": 500}, "overload"),
        ({"is_error": True, "api_error_status": 429}, "rate_limit"),
        ({"is_error": True, "api_error_status": 400}, None),
        ({"is_error": True, "result": "API Error: Repeated 529 Overloaded errors"}, "overload"),
        ({"is_error": True, "result": "API Error: 503 {}"}, "overload"),
        ({"is_error": True, "result": "the port is 5290"}, None),
        ({"result": "API Error: 529 is what you would see"}, None),
    ],
)
def test_a_failure_is_known_by_its_status_or_its_words(fields: dict[str, Any], kind: str | None) -> None:
    assert failure_kind(ResultMessage(subtype="success", **fields)) == kind


def test_waits_double_up_to_a_minute_or_are_a_function() -> None:
    assert [Retry(backoff_s=1.5).wait_s(failed) for failed in (1, 2, 3, 30)] == [1.5, 3.0, 6.0, 60.0]
    assert Retry(backoff_s=lambda failed: failed * 10.0).wait_s(3) == 30.0


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"on": ("rain",)}, {"after_tools": "maybe"}, {"fallback_after": 0}])
def test_a_policy_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Retry"):
        Retry(**wrong)
