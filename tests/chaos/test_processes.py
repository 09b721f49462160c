"""CLIs that are missing, die, hang or do not die."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from chaos.kit import POLITE, Chaos, pid_of
from inside import connection_of
from quarterdeck import (
    AssistantMessage,
    BadLine,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLINotFoundError,
    ControlTimeout,
    Message,
    PermissionResultAllow,
    ProcessExited,
    ResultMessage,
    Session,
    TransportClosed,
    query,
)
from quarterdeck.client import connection
from quarterdeck.protocol import side
from quarterdeck.transport import Grace
from transport.support import until


async def test_a_missing_cli_is_said_with_the_command_that_installs_it(chaos: Chaos) -> None:
    session = Session(ClaudeAgentOptions(cli_path="/nonexistent/claude"))
    with pytest.raises(CLINotFoundError, match="/nonexistent/claude"):
        await session.open()
    with pytest.raises(CLINotFoundError, match="/nonexistent/claude"):
        async for _ in query(prompt="hi", options=ClaudeAgentOptions(cli_path="/nonexistent/claude")):
            pass


async def test_a_cli_that_exits_at_once_leaves_its_code_and_its_last_words(chaos: Chaos) -> None:
    session = chaos.session('sys.stderr.write("no licence\\n"); sys.exit(3)')
    with pytest.raises(ProcessExited, match="no licence") as caught:
        await session.open()
    assert (caught.value.exit_code, caught.value.signal) == (3, None)


async def test_a_cli_that_exits_between_handshake_and_prompt_is_an_error_of_the_turn(chaos: Chaos) -> None:
    async with chaos.session("answer(next(messages())); sys.exit(4)") as session:
        await until(lambda: session.exit_status, "the exit")
        for use in (session.prompt("hi").checked(), session.request("mcp_status")):
            with pytest.raises(ProcessExited) as caught:
                await use
            assert caught.value.exit_code == 4


async def test_a_cli_that_exits_well_in_the_middle_of_a_turn_is_an_error_too(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        init()
        sys.exit(0)
    """
    async with chaos.session(source) as session:
        with pytest.raises(ProcessExited):
            async for _ in session.prompt("hi"):
                pass


LEAVES_EARLY = """
for prompt in prompts():
    init()
    text("half of it")
    sys.exit(0)
"""


async def test_query_raises_when_the_cli_exits_well_without_a_result(chaos: Chaos) -> None:
    seen: list[Message] = []
    with pytest.raises(ProcessExited, match="before it was done") as caught:
        async for message in query(prompt="hi", options=chaos.options(LEAVES_EARLY)):
            seen += [message]
    assert [type(message).__name__ for message in seen] == ["SystemMessage", "AssistantMessage"]
    assert caught.value.exit_code == 0


async def test_query_raises_when_the_cli_exits_well_before_it_began(chaos: Chaos) -> None:
    with pytest.raises(ProcessExited):
        async for _ in query(prompt="hi", options=chaos.options("for prompt in prompts(): sys.exit(0)")):
            pass


@pytest.mark.parametrize("read", ["receive_response", "receive_messages"])
async def test_the_official_client_raises_when_the_cli_exits_well_without_a_result(chaos: Chaos, read: str) -> None:
    async with ClaudeSDKClient(chaos.options(LEAVES_EARLY)) as client:
        await client.query("hi")
        with pytest.raises(ProcessExited):
            async for _ in getattr(client, read)():
                pass


@pytest.mark.parametrize("read", ["response", "messages", "batches"])
async def test_every_way_to_read_a_session_raises_when_the_cli_exits_well_without_a_result(
    chaos: Chaos, read: str
) -> None:
    async with chaos.session(LEAVES_EARLY) as session:
        await session.send("hi")
        with pytest.raises(ProcessExited):
            async for _ in getattr(session, read)():
                pass


async def test_a_cli_that_exits_well_after_its_result_is_no_error(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        init()
        result()
        sys.exit(0)
    """
    messages = [message async for message in query(prompt="hi", options=chaos.options(source))]
    assert [type(message).__name__ for message in messages] == ["SystemMessage", "ResultMessage"]
    async with chaos.session(source) as session:
        await session.prompt("hi")
        assert [message async for message in session.messages()] == []


async def test_a_cli_that_dies_in_the_middle_of_a_line(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        init()
        text("whole")
        write(b'{"type":"assistant","mess')
        write(b"segfault", 2)
        os.abort()
    """
    seen: list[Message] = []
    async with chaos.session(source) as session:
        with pytest.raises(ProcessExited, match="segfault") as caught:
            async for message in session.prompt("hi"):
                seen += [message]
    assert caught.value.signal == signal.SIGABRT
    assert [type(message).__name__ for message in seen] == ["InitMessage", "AssistantMessage", "BadLine"]
    assert seen[-1].raw == b'{"type":"assistant","mess'


async def test_a_cli_that_is_killed_in_the_middle_of_a_turn_fails_all_that_waits(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        init()
        ask("p1", subtype="can_use_tool", tool_name="Bash", input={}, tool_use_id="t")
        for message in messages(): pass
    """
    signals: list[Any] = []

    async def decide(_: str, __: Any, context: Any) -> PermissionResultAllow:
        signals.append(context.signal)
        await asyncio.Event().wait()
        return PermissionResultAllow()

    async with chaos.session(source, can_use_tool=decide) as session:
        turn = asyncio.create_task(session.prompt("hi").checked())
        await until(lambda: signals, "the permission request")
        call = asyncio.create_task(session.request("mcp_status"))
        await asyncio.sleep(0)
        os.kill(pid_of(session), signal.SIGKILL)
        outcomes = await asyncio.gather(turn, call, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [ProcessExited, ProcessExited]
        assert [getattr(outcome, "signal", None) for outcome in outcomes] == [signal.SIGKILL, signal.SIGKILL]
        assert signals[0].aborted
        assert session.pending() == {}


async def test_a_cli_that_ignores_sigterm_is_killed_with_its_children(
    chaos: Chaos, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.close(1)
        while True: time.sleep(60)
    answer(next(messages()))
    while True: time.sleep(60)
    """
    patient = functools.partial(Grace, term_s=0.1)
    monkeypatch.setattr("quarterdeck.client.session_lifecycle.Grace", patient)
    async with chaos.session(source, close_grace_s=0.1) as session:
        pass
    assert session.exit_status is not None
    assert session.exit_status.signal == signal.SIGKILL


async def test_a_flood_on_stderr_does_not_hold_up_the_conversation(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        for number in range(200):
            write(b"complaint " * 10_000 + b"%d\\n" % number, 2)
        init()
        result()
        write(b"last words\\n", 2)
        sys.exit(5)
    """
    lines = 0

    def count(_: str) -> None:
        nonlocal lines
        lines += 1

    async with chaos.session(source, stderr=count) as session:
        assert (await session.prompt("hi")).result == "done"
        await until(lambda: session.exit_status, "the exit")
        with pytest.raises(ProcessExited, match="last words") as caught:
            await session.prompt("more")
        assert len(str(caught.value)) < 1_000_000
    assert lines >= 200


async def test_a_handshake_that_is_never_answered_ends_in_time(chaos: Chaos) -> None:
    session = chaos.session("for message in messages(): pass", initialize_timeout_s=0.2)
    with pytest.raises(ControlTimeout, match="initialize"):
        await session.open()


async def test_an_answer_with_a_wrong_id_is_none(chaos: Chaos) -> None:
    session = chaos.session("answer(next(messages()), request_id='wrong')\nnext(messages())", initialize_timeout_s=0.2)
    with pytest.raises(ControlTimeout, match="initialize"):
        await session.open()


async def test_an_answer_with_a_wrong_id_does_not_disturb_the_right_one(chaos: Chaos) -> None:
    source = """
    for message in messages():
        if message["type"] == "control_request":
            answer(message, {"from": "nowhere"}, request_id="wrong")
            answer(message, {"from": "here"})
            answer(message, {"from": "a second time"})
    """
    async with chaos.session(source) as session:
        for _ in range(3):
            assert await session.request("oracle") == {"from": "here"}


async def test_a_fault_of_our_own_while_reading_ends_the_session_and_hides_nothing(
    chaos: Chaos, loop_errors: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("a fault of ours")

    async with chaos.session() as session:
        monkeypatch.setattr(connection_of(session).side, "decode", fail)
        with pytest.raises(ZeroDivisionError, match="a fault of ours"):
            await session.prompt("hi")
    assert [type(context["exception"]) for context in loop_errors] == [ZeroDivisionError]
    loop_errors.clear()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in (side, connection):
        monkeypatch.setattr(module, "END_WAIT_S", 0.1)
    yield


async def test_a_cli_that_closes_its_output_and_lives_on_ends_what_waits(chaos: Chaos, impatient: None) -> None:
    source = """
    for prompt in prompts():
        init()
        os.close(1)
        for message in messages(): pass
    """
    async with chaos.session(source) as session:
        with pytest.raises(TransportClosed, match="output"):
            await session.prompt("hi")


async def test_two_processes_side_by_side_do_not_touch_each_other(chaos: Chaos) -> None:
    async with chaos.session() as victim, chaos.session() as survivor:
        assert pid_of(victim) != pid_of(survivor)
        os.kill(pid_of(victim), signal.SIGKILL)
        with pytest.raises((ProcessExited, TransportClosed)):
            for _ in range(1000):
                await victim.prompt("hi")
        for _ in range(3):
            assert (await survivor.prompt("hi")).result == "done"


SHELL_CLI = """
while read -r line; do
    case $line in
        *'"initialize"'*)
            id=${line#*'"request_id":"'}
            printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\\n' \
                "${id%%'"'*}" ;;
        *'"user"'*)
            printf '{"type":"system","subtype":"init","session_id":"s%d"}\\n' $$
            printf '{"type":"result","subtype":"success","result":"%d","session_id":"s%d"}\\n' $$ $$ ;;
    esac
done
"""


async def test_two_hundred_sessions_in_one_process(chaos: Chaos) -> None:
    command = ["/bin/sh", "-c", SHELL_CLI]
    sessions = [chaos.session(command) for _ in range(200)]
    try:
        await asyncio.gather(*(session.open() for session in sessions))
        results = await asyncio.gather(*(session.prompt("hi") for session in sessions))
        assert [result.result for result in results] == [str(pid_of(session)) for session in sessions]
    finally:
        await asyncio.gather(*(session.close() for session in sessions))
    assert {session.exit_status and session.exit_status.code for session in sessions} == {0}


async def test_garbage_between_good_lines_is_kept_and_told_apart(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        write(b"Warning: something prints to stdout\\n")
        init()
        write(b"\\xff\\xfe\\x00\\n[1, 2]\\nnull\\n\\"text\\"\\n\\n{\\"type\\": 7}\\n{\\n")
        text("good")
        write(b'{"type":"no_such_type","x":1}\\n')
        result()
    """
    async with chaos.session(source) as session:
        seen = [message async for message in session.prompt("hi")]
    assert [type(message).__name__ for message in seen if not isinstance(message, BadLine)] == [
        "InitMessage",
        "UnknownMessage",
        "AssistantMessage",
        "UnknownMessage",
        "ResultMessage",
    ]
    bad = [message.raw for message in seen if isinstance(message, BadLine)]
    assert bad == [
        b"Warning: something prints to stdout",
        b"\xff\xfe\x00",
        b"[1, 2]",
        b"null",
        b'"text"',
        b"{",
    ]


LIMIT_BYTES = 64 * 1024 * 1024


async def test_a_line_of_64_mib_arrives_and_a_longer_one_is_told_without_being_kept(chaos: Chaos) -> None:
    source = """
    def line_of(size):
        frame = len('{"type":"big","x":""}')
        write(b'{"type":"big","x":"'), write(b"x" * (size - frame)), write(b'"}\\n')

    for prompt in prompts():
        init()
        line_of(64 * 1024 * 1024)
        line_of(64 * 1024 * 1024 + 1)
        result()
    """
    async with chaos.session(source) as session:
        seen = [message async for message in session.prompt("hi")]
    _, big, too_big, end = seen
    assert len(big.raw) == LIMIT_BYTES
    assert isinstance(too_big, BadLine)
    assert too_big.size == LIMIT_BYTES + 1
    assert len(too_big.raw) < 100_000
    assert isinstance(end, ResultMessage)


async def test_leaving_a_query_early_ends_its_process(chaos: Chaos) -> None:
    source = """
    for prompt in prompts():
        init()
        text("hello")
        for message in messages(): pass
    """
    async for message in query(prompt="hi", options=chaos.options(source)):
        if isinstance(message, AssistantMessage):
            break
    await until(lambda: chaos.left_running() == [], "the process to end")


async def test_leaving_a_turn_early_leaves_the_session_usable(chaos: Chaos) -> None:
    async with chaos.session(POLITE) as session:
        async for _ in session.prompt("hi"):
            break
        kinds = [type(await session.next_message()).__name__ for _ in range(2)]
        assert kinds == ["AssistantMessage", "ResultMessage"]
        assert (await session.prompt("again")).result == "done"
