"""A session on a host is a ``Session``: the same promises, the same errors, one argument more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S, decide, pending
from quarterdeck import InMemorySessionStore, PermissionResultAllow, ProcessExited, ResultMessage, UserMessage, connect
from quarterdeck.host import HostError
from quarterdeck.host.control_operations import TYPED as OPERATIONS_OF_THE_HOST
from quarterdeck.host.requests import ListSessions, OfApproval, OfSession, Wait
from quarterdeck.remote import HostUnreachable, Patience, RemoteHost
from quarterdeck.remote.controls import TYPED
from quarterdeck.sync import connect as connect_sync
from quarterdeck.testing.kit import FakeClaude
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
        with pytest.raises(ValueError, match="which host"):
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
            with connect_sync(options, host=there.url, token=there.token) as session:
                return session.prompt("go").wait().result

        assert await asyncio.to_thread(script) == "Done."
        assert asked == ["Bash"]


def test_every_request_with_an_operation_of_its_own_has_one_here() -> None:
    assert set(TYPED) == set(OPERATIONS_OF_THE_HOST)


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
