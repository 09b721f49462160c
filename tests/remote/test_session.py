"""A session on a host is a ``Session``: the same promises, the same errors, one argument more."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S, all_frames, decide, frames_until, pending, told
from quarterdeck import (
    ControlError,
    HookMatcher,
    InMemorySessionStore,
    PermissionResultAllow,
    ProcessExited,
    ResultMessage,
    Retry,
    Session,
    SystemMessage,
    UserMessage,
    connect,
    create_sdk_mcp_server,
    sync,
    tool,
)
from quarterdeck.host import HostError
from quarterdeck.host.control_operations import TYPED as OPERATIONS_OF_THE_HOST
from quarterdeck.host.events import ProcessChanged, RawLine
from quarterdeck.host.requests import CreateToken, Export, ListSessions, OfApproval, OfSession, ReadEvents, Wait
from quarterdeck.host.resources import Exported
from quarterdeck.remote import HostUnreachable, Patience, RemoteHost, transport
from quarterdeck.remote.controls import TYPED, control
from quarterdeck.remote.transport import RemoteTransport
from quarterdeck.testing.kit import FakeClaude
from quarterdeck.timeline.events import ToolEnded
from remote.kit import QUICK, Elsewhere, elsewhere
from remote.proxy import proxied


@pytest.fixture
def fake(tmp_path: Path) -> FakeClaude:
    return FakeClaude(tmp_path / "claude")


async def test_a_program_switches_to_a_host_by_one_argument(fake: FakeClaude, tmp_path: Path) -> None:
    asked: list[str] = []

    async def program(**where: Any) -> list[Any]:
        def may_run(tool: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
            asked.append(tool)
            return PermissionResultAllow()

        options = fake.options(can_use_tool=may_run)
        if where:
            options = Elsewhere.there(options)
        said: list[Any] = []
        async with asyncio.timeout(LIMIT_S), connect(options, **where) as session:
            async for message in session.prompt("go"):
                said += [type(message).__name__]
            said += [session.turn_cost is not None, session.last_result is not None, bool(session.server_info.commands)]
            said += [str((await session.prompt("and again")).subtype), session.costs.total_usd > 0]
        return said

    fake.play([ASKS, "Done."], ["Again."])
    here = await program()
    async with elsewhere(fake.options(), tmp_path / "state") as there:
        assert await program(host=there.url, token=there.token) == here
        (session,) = (await there.host.list_sessions(ListSessions())).sessions
        assert session.state == "stopped"  # the session was closed
    assert asked == ["Bash", "Bash"]


async def test_what_the_host_refuses_is_its_own_error_and_nothing_is_left(fake: FakeClaude, tmp_path: Path) -> None:
    async with elsewhere(fake.options(), tmp_path / "state") as there:
        with pytest.raises(HostError) as refused:
            await there.connect(fake.options(cwd=tmp_path / "nowhere")).open()
        assert (refused.value.code, refused.value.details["field"]) == ("invalid", "cwd")
        with pytest.raises(HostError, match="session_store works only with local sessions"):
            await there.connect(fake.options(session_store=InMemorySessionStore())).open()
        with pytest.raises(HostError) as wrong:
            await connect(there.there(fake.options()), host=there.url, token="wrong").open()
        assert wrong.value.code == "unauthenticated"
        assert (await there.host.list_sessions(ListSessions())).sessions == []


async def test_a_host_that_is_lost_ends_the_turn_with_that_error(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play([{"pause": 600}])
    patience = Patience(first_wait_s=0.01, longest_wait_s=0.1, give_up_s=1.0)
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        proxied(there.tcp) as network,
        RemoteHost(network.url, token=there.token, patience=patience) as host,
        connect(there.there(fake.options()), host=host) as session,
    ):
        turn = session.prompt("go")
        await turn.send()
        network.accepting = False
        network.cut()
        with pytest.raises(HostUnreachable):
            await turn


async def test_a_prompt_that_the_host_does_not_take_ends_its_turn_with_an_error(
    fake: FakeClaude, tmp_path: Path
) -> None:
    fake.play(["Done."])
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        there.connect(fake.options()) as session,
    ):
        result = await session.prompt("go", uuid="no uuid")
        assert (result.is_error, result.errors) == (True, ["'no uuid' is not a UUID."])
        assert (await session.prompt("go")).result == "Done."


async def test_somebody_else_who_decides_first_ends_the_callback(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play([ASKS, "Done."])
    signals: list[Any] = []

    async def think(tool: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        signals.append(context.signal)
        await asyncio.Event().wait()
        raise AssertionError("it was never decided here")

    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        there.connect(fake.options(can_use_tool=think)) as session,
    ):
        turn = session.prompt("go")
        await turn.send()
        (asked,) = await pending(there.host)
        while not signals:  # noqa: ASYNC110  # the program's own state
            await asyncio.sleep(0.01)
        await decide(there.host, asked, "deny", message="Not now.")
        result = await turn
        assert result.permission_denials or result.result == "Done."
        assert signals[0].is_set()
        assert (await there.host.get_approval(OfApproval(approval_id=asked.id))).decision["message"] == "Not now."


async def test_without_a_callback_a_permission_waits_for_people(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play([ASKS, "Done."])
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        there.connect(fake.options()) as session,
    ):
        turn = session.prompt("go")
        await turn.send()
        await decide(there.host, (await pending(there.host))[0])
        assert (await turn).result == "Done."


async def test_many_sessions_share_one_connection(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play(["Done."])
    async with elsewhere(fake.options(), tmp_path / "state") as there, proxied(there.tcp) as network:

        async def one() -> str | None:
            async with connect(there.there(fake.options()), host=network.url, token=there.token) as session:
                return (await session.prompt("go")).result

        async with asyncio.timeout(LIMIT_S):
            assert await asyncio.gather(*(one() for _ in range(5))) == ["Done."] * 5
        assert network.accepted == 1


async def test_a_session_that_is_left_goes_on_without_the_program(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play(["Done."])
    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        session = there.connect(fake.options())
        await session.open()
        await session.send("go")
        session.detach()
        (left,) = (await there.host.list_sessions(ListSessions())).sessions
        assert (await there.host.wait(Wait(session_id=left.id, timeout_s=LIMIT_S))).state == "idle"


async def test_a_session_that_was_left_is_taken_up_with_what_was_said_and_what_is_asked(
    fake: FakeClaude, tmp_path: Path
) -> None:
    fake.play(["Before."], [ASKS, "Done."], ["After."])
    asked: list[str] = []

    def may_run(tool: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(tool)
        return PermissionResultAllow()

    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        session = there.connect(fake.options())
        await session.open()
        await session.prompt("one")
        await session.send("two")
        (waiting,) = await pending(there.host)
        session.detach()
        options = there.there(fake.options(can_use_tool=may_run))
        async with connect(options, host=there.url, token=there.token, attach=waiting.session_id) as again:
            said: list[str] = []
            async for message in again.messages():
                if isinstance(message, UserMessage) and message.origin == {"kind": "human"}:
                    said.append(str(message.content))
                if isinstance(message, ResultMessage) and message.result == "Done.":
                    break
            assert said == ["one", "two"]
            assert asked == ["Bash"]
            assert (await again.prompt("three")).result == "After."
        with pytest.raises(ValueError, match="attach needs host="):
            connect(options, attach=waiting.session_id)


async def test_a_stream_of_prompts_ends_the_session_when_all_are_answered(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play(["One."], ["Two."])

    async def prompts() -> AsyncIterator[str]:
        yield "first"
        yield "second"

    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        async with there.connect(fake.options()) as session:
            session.stream_in_background(prompts())
            kinds = [type(message) async for message in session.messages()]
            assert ResultMessage in kinds
            assert session.exit_status is not None
        (ended,) = (await there.host.list_sessions(ListSessions())).sessions
        assert ended.state == "stopped"


async def test_a_session_that_is_stopped_by_others_has_ended(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play(["Done."])
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        there.connect(fake.options()) as session,
    ):
        await session.prompt("go")
        (known,) = (await there.host.list_sessions(ListSessions())).sessions
        await there.host.stop(OfSession(session_id=known.id))
        assert [message async for message in session.messages() if isinstance(message, ResultMessage)] == []
        with pytest.raises(ProcessExited):
            await session.prompt("again")


async def test_a_plain_script_without_a_loop_has_sessions_on_a_host_too(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play([ASKS, "Done."])
    asked: list[str] = []

    def may_run(tool: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(tool)
        return PermissionResultAllow()

    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):

        def script() -> str | None:
            options = there.there(fake.options(can_use_tool=may_run))
            with sync.connect(options, host=there.url, token=there.token) as session:
                return session.prompt("go").wait().result

        assert await asyncio.to_thread(script) == "Done."
        assert asked == ["Bash"]


async def test_a_plain_script_that_was_written_for_the_official_sdk_runs_on_a_host(
    fake: FakeClaude, tmp_path: Path
) -> None:
    fake.play(["Done."])
    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):

        def script() -> list[str | None]:
            options, where = there.there(fake.options()), {"host": there.url, "token": there.token}
            messages = list(sync.query(prompt="go", options=options, **where))
            with sync.ClaudeSDKClient(options, **where) as client:
                client.query("go")
                messages += client.receive_response()
            return [message.result for message in messages if isinstance(message, ResultMessage)]

        assert await asyncio.to_thread(script) == ["Done.", "Done."]
        states = [session.state for session in (await there.host.list_sessions(ListSessions())).sessions]
        assert states == ["stopped", "stopped"]


def test_every_request_with_an_operation_of_its_own_has_one_here() -> None:
    assert set(TYPED) == set(OPERATIONS_OF_THE_HOST)


async def test_a_conversation_is_exported_in_one_answer_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Parts:
        """A host with a document of twenty parts."""

        asked = 0

        async def export_session(self, request: Export) -> Exported:
            self.asked += 1
            number = int(request.cursor or 0)
            return Exported(
                media_type="text/markdown", body=b"part ", next_cursor=str(number + 1) if number < 19 else None
            )

    answer = await control(Parts(), "one", "export_conversation", {})  # type: ignore[arg-type]
    assert answer["text"] == "part " * 20
    monkeypatch.setattr("quarterdeck.remote.controls.EXPORTED_BYTES", 50)
    host = Parts()
    with pytest.raises(HostError, match=r"RemoteHost\.export_session") as refused:
        await control(host, "one", "export_conversation", {})  # type: ignore[arg-type]
    assert (refused.value.code, host.asked) == ("too_large", 11)


async def test_text_that_is_cut_off_again_and_again_comes_whole_and_once(fake: FakeClaude, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(400))
    fake.play([text], ["The next one."])
    async with elsewhere(fake.options(), tmp_path / "state") as there, proxied(there.tcp) as network:
        options = there.there(fake.options(include_partial_messages=True))
        async with (
            asyncio.timeout(LIMIT_S),
            RemoteHost(network.url, token=there.token, patience=QUICK) as host,
            connect(options, host=host) as session,
        ):
            pieces = []
            async for piece in session.prompt("go").text():
                pieces.append(piece)
                if len(pieces) % 5 == 1:
                    network.cut()
            assert "".join(pieces) == text
            assert (await session.prompt("and")).result == "The next one."
        assert network.cuts >= 1


async def killed(session: Session) -> None:
    """Its process dies."""
    while session.pid is None:  # noqa: ASYNC110  # the host has yet to tell it
        await asyncio.sleep(0.01)
    os.kill(session.pid, signal.SIGKILL)


async def test_a_turn_whose_process_dies_ends_with_that_error_although_the_host_starts_another(
    fake: FakeClaude, tmp_path: Path
) -> None:
    fake.play([{"pause": 600}])
    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        async with there.connect(fake.options()) as session:
            turn = session.prompt("go")
            await turn.send()
            await killed(session)
            with pytest.raises(ProcessExited) as ended:
                await turn
            assert ended.value.signal == signal.SIGKILL
        (known,) = (await there.host.list_sessions(ListSessions())).sessions
        assert known.state == "stopped"  # the session was closed


async def test_a_retry_goes_on_in_the_same_session_of_the_host(fake: FakeClaude, tmp_path: Path) -> None:
    async def at_once(_: float) -> None:
        """In the place of waiting."""

    fake.play(["Before."], [{"pause": 600}])
    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        async with there.connect(fake.options(retry=Retry(sleep=at_once))) as session:
            await session.prompt("one")
            turn = session.prompt("two")
            await turn.send()
            fake.play(*[["After."]] * 3)
            await killed(session)
            assert (await turn).result == "After."
            assert turn.attempt == 2
        (known,) = (await there.host.list_sessions(ListSessions())).sessions
        frames = await all_frames(there.host, known.id)
        assert [change.generation for change in told(frames, ProcessChanged) if change.state == "running"] == [1, 2]


async def test_variables_that_the_host_does_not_take_are_said_by_the_next_prompt(
    fake: FakeClaude, tmp_path: Path
) -> None:
    fake.play(["One."], ["Two."], ["Three."])
    variables = {"CLAUDE_CODE_OAUTH_TOKEN": "swordfish"}
    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        token = await there.host.create_token(CreateToken(name="operator", scope="operate"))
        async with connect(there.there(fake.options()), host=there.url, token=token.secret) as session:
            await session.prompt("one")
            session.update_environment(variables)
            refused = await session.prompt("two")
            assert (refused.is_error, refused.errors) == (
                True,
                ["update_environment_variables requires the scope admin."],
            )
            assert (await session.prompt("two")).result == "Two."
        async with there.connect(fake.options()) as session:
            await session.prompt("one")
            session.update_environment(variables)
            assert (await session.prompt("two")).result == "Two."
        (known, *_) = (await there.host.list_sessions(ListSessions())).sessions
        read = await there.host.read_events(ReadEvents(session_id=known.id, view="raw"))
        lines = [event.line for frame in read.frames for event in frame.events if isinstance(event, RawLine)]
        (line,) = [line for line in lines if "update_environment_variables" in line]
        assert "swordfish" not in line


async def test_a_log_that_does_not_have_the_cursor_is_told_as_a_message(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play(["One."], ["Two."])
    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        first = there.connect(fake.options())
        await first.open()
        await first.prompt("one")
        first.detach()
        (known,) = (await there.host.list_sessions(ListSessions())).sessions
        options = there.there(fake.options())
        way = RemoteTransport(options, there.url, token=there.token, attach=known.id, after="other-3")
        async with Session(options, transport=way) as session:
            first_told = await anext(session.messages())
            assert isinstance(first_told, SystemMessage)
            said = first_told.data
            assert (said["subtype"], said["reason"], said["epoch"]) == ("gap", "epoch", known.epoch)
            assert (await session.prompt("two")).result == "Two."


async def test_a_program_knows_how_much_it_has_not_read(fake: FakeClaude, tmp_path: Path) -> None:
    fake.play(["A long answer. " * 1_000])
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        there.connect(fake.options()) as session,
    ):
        assert session.unread_bytes < 1_000
        await session.send("go")
        while session.unread_bytes < 15_000:  # noqa: ASYNC110  # the session's own state
            await asyncio.sleep(0.01)
        async for message in session.messages():
            if isinstance(message, ResultMessage):
                break
        assert session.unread_bytes < 1_000


async def test_a_hook_of_a_program_that_is_gone_refuses_long_before_its_own_time_is_over(
    fake: FakeClaude, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "AWAY_S", 0.5)
    fake.play([ASKS, "I could not."])
    asked = asyncio.Event()

    async def guard(*_: Any) -> dict[str, Any]:
        asked.set()
        await asyncio.Event().wait()
        return {}

    async with elsewhere(fake.options(), tmp_path / "state") as there, asyncio.timeout(LIMIT_S):
        session = there.connect(fake.options(hooks={"PreToolUse": [HookMatcher(hooks=[guard])]}))
        await session.open()
        await session.send("go")
        await asked.wait()
        session.detach()
        (left,) = (await there.host.list_sessions(ListSessions())).sessions
        (end,) = told(await frames_until(there.host, left.id, "idle"), ToolEnded)
        assert (end.status, "no program was attached for 0.5 s" in str(end.output)) == ("denied", True)


async def test_tools_that_come_later_are_refused_or_reported(
    fake: FakeClaude, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @tool
    async def early() -> str:
        """There from the start."""
        return ""

    @tool
    async def late() -> str:
        """Comes later."""
        return ""

    box = create_sdk_mcp_server("box", tools=[early])
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(fake.options(), tmp_path / "state") as there,
        there.connect(fake.options(mcp_servers={"box": box})) as session,
    ):
        with pytest.raises(ControlError, match="must be declared when the session starts"):
            await session.set_mcp_servers({"more": create_sdk_mcp_server("more", tools=[late])})
        box["instance"].add(late)
        while "list_changed" not in caplog.text:  # noqa: ASYNC110  # the log of another task
            await asyncio.sleep(0.01)
