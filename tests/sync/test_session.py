"""The client without an event loop of one's own: the same names, and every call waits."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

import quarterdeck
from quarterdeck import (
    Aborted,
    AssistantMessage,
    CLIConnectionError,
    CLINotFoundError,
    ControlError,
    PermissionResultAllow,
    ResultError,
    ResultMessage,
    TextBlock,
    sync,
)
from quarterdeck.client.loop_thread import LOOP_THREAD
from quarterdeck.client.turn import Turn as AsyncTurn
from simulated import ASKS, LIMIT_S, Simulated, until


def texts(messages: Any) -> list[str]:
    return [
        block.text
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, TextBlock)
    ]


# The same names


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (sync.Session, quarterdeck.Session),
        (sync.ClaudeSDKClient, quarterdeck.ClaudeSDKClient),
        (sync.Turn, AsyncTurn),
    ],
)
def test_everything_that_the_asynchronous_one_has_is_there_with_the_same_parameters(
    ours: type, theirs: type, fake: Simulated
) -> None:
    missing, different = [], []
    for name, member in inspect.getmembers(theirs):
        if name.startswith("_") or name == "ignore_messages":  # for readers of the journal, which sync has not
            continue
        mine = inspect.getattr_static(ours, name, None)
        if mine is None:
            missing.append(name)
        elif inspect.isfunction(member):
            method = getattr(ours.__new__(ours), name)
            known = [parameter for parameter in inspect.signature(member).parameters if parameter != "self"]
            if list(inspect.signature(method).parameters) != known:
                different.append(name)
        elif not isinstance(mine, property):
            different.append(name)
    assert (missing, [name for name in different if name != "set_mcp_servers"]) == ([], [])


def test_the_package_has_it_as_an_attribute() -> None:
    assert quarterdeck.sync is sync
    assert sorted(sync.__all__) == [
        "ClaudeSDKClient",
        "Session",
        "Turn",
        "connect",
        "prompt",
        "query",
        "resume_session",
    ]


def test_a_method_has_the_documentation_of_the_asynchronous_one() -> None:
    assert sync.Session.interrupt.__doc__ == quarterdeck.Session.interrupt.__doc__


# Conversations


def test_query_yields_every_message_and_ends(fake: Simulated) -> None:
    fake.play(["hello"])
    messages = list(sync.query(prompt="hi", options=fake.options()))
    assert texts(messages) == ["hello"]
    assert [message.result for message in messages if isinstance(message, ResultMessage)] == ["hello"]


def test_query_takes_prompts_of_a_plain_generator(fake: Simulated) -> None:
    fake.play(["one"], ["two"])

    def prompts() -> Iterator[dict[str, Any]]:
        for word in ("first", "second"):
            yield {"type": "user", "message": {"role": "user", "content": word}, "priority": "later"}

    assert texts(sync.query(prompt=prompts(), options=fake.options())) == ["one", "two"]


def test_leaving_a_query_early_ends_the_cli(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    for message in sync.query(prompt="hi", options=fake.options()):
        if isinstance(message, AssistantMessage):
            break
    gc.collect()
    until(lambda: fake.left_running() == [])


def test_prompt_returns_the_result(fake: Simulated) -> None:
    fake.play(["4"])
    assert sync.prompt("2 + 2?", fake.options(), max_turns=1).result == "4"


def test_a_session_has_turns_costs_and_control_calls(fake: Simulated) -> None:
    fake.play(["one"], ["two"], ["three"])
    with sync.connect(fake.options()) as session:
        assert texts(session.prompt("a")) == ["one"]
        assert "".join(session.prompt("b").text()) == "two"
        turn = session.prompt("c")
        assert (turn.wait().result, turn.result, turn.checked()) == ("three", turn.wait(), turn.wait())
        assert session.set_permission_mode("plan").mode == "plan"
        assert session.context_usage().total_tokens > 0
        assert session.turn_cost is not None
        assert session.costs.total_usd > session.turn_cost.cost_usd > 0
        assert (session.pending(), list(session.mirror_errors), session.closed) == ({}, [], False)
        assert session.session_id is not None
    assert session.exit_status is not None
    assert session.exit_status.code == 0


def test_a_resumed_session_goes_on(fake: Simulated) -> None:
    fake.play(["one"])
    with sync.connect(fake.options()) as session:
        first = session.prompt("a").wait().session_id
    with sync.resume_session(first, fake.options()) as session:
        assert session.prompt("b").wait().session_id == first


def test_the_client_of_the_official_sdk_has_many_turns(fake: Simulated) -> None:
    fake.play(["one"], ["two"])
    with sync.ClaudeSDKClient(fake.options()) as client:
        client.query("a")
        assert texts(client.receive_response()) == ["one"]
        client.query([{"type": "user", "message": {"role": "user", "content": "b"}}])
        assert texts(client.receive_response()) == ["two"]
        assert client.get_context_usage()["totalTokens"] > 0
        assert client.session is client.session
        client.session.finish()
        assert [type(message) for message in client.receive_messages() if isinstance(message, ResultMessage)] == []


def test_a_response_ends_with_the_next_result(fake: Simulated) -> None:
    fake.play(["one"], ["two"])
    with sync.connect(fake.options()) as session:
        for words in ("one", "two"):
            session.send("go")
            *others, last = session.response()
            assert texts(others) == [words]
            assert isinstance(last, ResultMessage)


def test_prompts_may_be_streamed_beside_the_reading(fake: Simulated) -> None:
    fake.play(["one"], ["two"])
    with sync.connect(fake.options()) as session:
        session.stream_in_background(iter(["a"]))
        assert texts(session.messages()) == ["one"]
    with sync.connect(fake.options()) as session:
        session.stream(["a"])
        assert texts(message for batch in session.batches() for message in batch) == ["one"]


# Where it runs


async def test_it_works_where_a_loop_runs_already_as_in_a_notebook(fake: Simulated) -> None:
    fake.play(["hello"])
    assert sync.prompt("hi", fake.options()).result == "hello"
    with sync.connect(fake.options()) as session:
        assert texts(session.prompt("hi")) == ["hello"]
    assert await quarterdeck.client.oneshot.prompt("hi", fake.options()) is not None
    assert asyncio.get_running_loop().is_running()


def test_several_threads_have_sessions_at_once_over_one_loop(fake: Simulated) -> None:
    fake.play(["hello"])
    results: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: results.append(sync.prompt("hi", fake.options()).result)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert results == ["hello"] * 4
    assert [thread.name for thread in threading.enumerate()].count("quarterdeck-loop") == 1


def test_one_thread_reads_while_another_interrupts(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    with sync.connect(fake.options()) as session:

        def stop() -> None:
            until(fake.is_held)
            session.interrupt()

        thread = threading.Thread(target=stop)
        thread.start()
        assert session.prompt("hi").wait().subtype == "error_during_execution"
        thread.join(LIMIT_S)


def test_an_event_of_threads_aborts_a_session(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    abort = threading.Event()

    def stop() -> None:
        until(fake.is_held)
        abort.set()

    thread = threading.Thread(target=stop)
    with sync.connect(fake.options(abort=abort)) as session:
        thread.start()
        with pytest.raises(Aborted, match="abort option"):
            session.prompt("hi").wait()
    thread.join(LIMIT_S)


# Errors


def test_errors_are_the_same_and_show_where_they_come_from(fake: Simulated) -> None:
    with pytest.raises(CLINotFoundError) as caught, sync.connect(fake.options(cli_path="/no/such/claude")):
        pass
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[0].startswith("test_errors") and "find_cli" in frames


def test_a_refused_call_and_a_failed_result_are_errors(fake: Simulated) -> None:
    fake.play([{"end": "error_max_turns", "errors": ["too many"]}])
    with sync.connect(fake.options()) as session:
        with pytest.raises(ControlError) as refused:
            session.request("make_coffee")
        assert refused.value.subtype == "make_coffee"
        with pytest.raises(ResultError):
            session.prompt("hi").checked()


def test_a_session_that_is_not_open_says_so(fake: Simulated) -> None:
    with pytest.raises(CLIConnectionError, match="not open"):
        sync.connect(fake.options()).interrupt()
    with pytest.raises(CLIConnectionError, match="Not connected"):
        sync.ClaudeSDKClient(fake.options()).query("hi")


def test_an_attribute_that_is_none_is_no_attribute(fake: Simulated) -> None:
    with pytest.raises(AttributeError):
        _ = sync.connect(fake.options()).no_such_thing


def test_a_session_that_was_never_closed_is_warned_about_and_ended(fake: Simulated) -> None:
    fake.play(["hello"])
    session = sync.connect(fake.options()).open()
    assert session.prompt("hi").wait().result == "hello"
    with pytest.warns(ResourceWarning, match="never closed"):
        del session
        gc.collect()
    until(lambda: fake.left_running() == [])


# The thread


def test_the_thread_ends_with_its_sessions_and_starts_again(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    session = sync.connect(fake.options()).open()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            session.prompt("hi").wait()
        except Aborted as error:
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    until(fake.is_held)
    LOOP_THREAD.end()
    reader.join(LIMIT_S)
    assert ([type(error) for error in failures], LOOP_THREAD.running, session.closed) == ([Aborted], False, True)
    fake.play(["again"])
    assert sync.prompt("hi", fake.options()).result == "again"


def test_a_permission_callback_may_close_its_own_session(fake: Simulated) -> None:
    fake.play([ASKS, "never"])

    def leave(*_: Any) -> PermissionResultAllow:
        session.close()
        return PermissionResultAllow()

    session = sync.connect(fake.options(can_use_tool=leave)).open()
    session.send("hi")
    for _ in session.messages():
        pass  # whatever the CLI still said
    assert session.closed
