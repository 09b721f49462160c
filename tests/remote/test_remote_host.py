"""``RemoteHost`` does what ``Host`` does: the same operations, streams and errors, whatever the network does."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import aclosing
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from gateways.http.kit import Served, served
from host.kit import ASKS, all_frames, frames_until, pending
from quarterdeck.gateways.http import Server, Settings
from quarterdeck.host import Host, HostError
from quarterdeck.host.events import CustomEvent, Gap
from quarterdeck.host.operations import OPERATIONS
from quarterdeck.host.requests import (
    AddEvent,
    CreateSession,
    CreateToken,
    Decide,
    Decision,
    Export,
    GetUsage,
    ListApprovals,
    ListSessions,
    Nothing,
    OfSession,
    OfToken,
    ReadEvents,
    SendPrompt,
    UpdateSession,
    Upload,
    Wait,
    WatchHost,
    WatchSession,
)
from quarterdeck.host.resources import Frame
from quarterdeck.remote import Address, Behind, HostUnreachable, Patience, RemoteHost, subscriptions
from remote.operations_source import PAGE, source
from remote.proxy import proxied

LIMIT_S = 60.0
QUICK = Patience(first_wait_s=0.01, longest_wait_s=0.1)


def remote(there: Served, url: str | None = None, **more: Any) -> RemoteHost:
    address, port = there.tcp
    more = {"token": there.admin.secret, "patience": QUICK, **more}
    return RemoteHost(url or f"http://{address}:{port}", **more)


async def add_events(there: Served, session: str, numbers: range) -> None:
    for number in numbers:
        await there.host.add_event(AddEvent(session_id=session, type="note", data={"n": number}))


async def numbers_of(stream: Any, count: int) -> list[int]:
    """The notes of a stream, in the order in which they come, until there are so many."""
    found: list[int] = []
    async with asyncio.timeout(LIMIT_S):
        async for frame in stream:
            if isinstance(frame, Frame):
                found += [event.data["n"] for event in frame.events if isinstance(event, CustomEvent)]
            if len(found) >= count:
                return found
    raise AssertionError(f"the stream ended after {found}")


# The same operations


def test_the_methods_are_written_from_the_table_of_operations() -> None:
    assert PAGE.read_text() == source()


def test_every_operation_is_a_method_that_takes_and_returns_what_the_host_does() -> None:
    for operation in OPERATIONS.values():
        here, there = getattr(Host, operation.name), getattr(RemoteHost, operation.name)
        ours = get_type_hints(there)
        assert ours["request"] is operation.takes, operation.name
        assert operation.streams or ours["return"] is operation.returns, operation.name
        assert ("key" in inspect.signature(there).parameters) == operation.writes, operation.name
        if operation.writes:  # or a call that was cut off could not be asked again
            assert "key" in inspect.signature(here).parameters, operation.name


@pytest.mark.parametrize("over", ["tcp", "unix", "folder"])
async def test_a_session_is_started_followed_and_decided_from_elsewhere(tmp_path: Path, over: str) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        (tmp_path / "token").write_text(f"{there.admin.secret}\n")
        places: dict[str, Any] = {"tcp": f"http://127.0.0.1:{there.tcp[1]}", "unix": there.unix, "folder": tmp_path}
        token = there.admin.secret if over == "tcp" else None
        async with RemoteHost(places[over], token=token) as host:
            session = await host.create_session(CreateSession(cwd=str(there.place.cwd), prompt="go", tags=["far"]))
            assert session.tags == ["far"]
            (asked,) = [await anext(approvals) async for approvals in _once(host.watch_approvals(ListApprovals()))]
            assert asked == (await pending(there.host))[0]
            decided = await host.decide(Decide(approval_id=asked.id, decision=Decision(decision="allow")))
            assert (decided.state, decided.via) in {(state, "http") for state in ("decided", "delivered", "applied")}
            await host.wait(Wait(session_id=session.id, timeout_s=LIMIT_S))
            local = await frames_until(there.host, session.id, "idle")
            async with aclosing(host.watch_session(WatchSession(session_id=session.id, previews=False))) as frames:
                assert [await anext(frames) for _ in local] == local
            read = await host.read_events(ReadEvents(session_id=session.id, limit=len(local)))
            assert read.frames == local
            raw = ReadEvents(session_id=session.id, limit=5, view="raw")
            assert (await host.read_events(raw)).frames == (await there.host.read_events(raw)).frames


async def _once(stream: Any) -> Any:
    async with aclosing(stream) as items:
        yield items


async def test_operations_of_every_kind_answer_as_in_this_program(tmp_path: Path) -> None:
    async with served(tmp_path) as there, remote(there) as host:
        session = (await host.create_session(CreateSession(cwd=str(there.place.cwd), prompt="go"))).id
        await host.wait(Wait(session_id=session, timeout_s=LIMIT_S))
        of_session = OfSession(session_id=session)
        assert (await host.list_sessions(ListSessions())).sessions[0].id == session
        assert (await host.update_session(UpdateSession(session_id=session, name="a name"))).name == "a name"
        for name in ("get_info", "get_stderr", "get_result", "list_tasks", "list_mcp_servers", "list_prompts"):
            assert await getattr(host, name)(of_session) == await getattr(there.host, name)(of_session), name
        for name in ("get_host", "get_health", "get_budgets", "get_limits", "list_tokens", "list_grants"):
            far, near = await getattr(host, name)(Nothing()), await getattr(there.host, name)(Nothing())
            assert type(far) is type(near), name
        usage = GetUsage()
        assert (await host.get_usage(usage)) == (await there.host.get_usage(usage))
        exported = await host.export_session(Export(session_id=session, format="md"))
        assert exported.media_type.startswith("text/markdown") and b"Done." in exported.body
        given = bytes(range(256)) * 10
        uploaded = await host.upload(Upload(session_id=session, name="a.bin", media_type="x/y", body=given))
        assert await asyncio.to_thread(Path(uploaded.details["path"]).read_bytes) == given
        near, far = await there.host.get_timeline(of_session), await host.get_timeline(of_session)
        assert far.state.keys() == near.state.keys()
        assert (await host.send_prompt(SendPrompt(session_id=session, content="again"))).seq > 0
        await host.stop(of_session)
        assert (await host.get_session(of_session)).state == "stopped"


async def test_an_error_of_the_host_is_the_same_error_here(tmp_path: Path) -> None:
    async with served(tmp_path) as there, remote(there) as host:
        for ask in (
            lambda any_host: any_host.get_session(OfSession(session_id="none")),
            lambda any_host: any_host.create_session(CreateSession(cwd="/nowhere")),
            lambda any_host: any_host.revoke_token(OfToken(token_id="none")),
        ):
            with pytest.raises(HostError) as near:
                await ask(there.host)
            with pytest.raises(HostError) as far:
                await ask(host)
            assert vars(far.value) == vars(near.value)
        with pytest.raises(HostError, match="not a cursor"):
            await anext(host.watch_session(WatchSession(session_id=await there.session(), after="nonsense")))
        with pytest.raises(TypeError, match="get_session takes OfSession"):
            await host.get_session(Nothing())  # type: ignore[arg-type]


# Whom it connects to


async def test_a_host_that_is_not_there_is_told_at_once_and_a_wrong_token_too(tmp_path: Path) -> None:
    with pytest.raises(HostUnreachable, match="quarterdeck serve"):
        await RemoteHost(tmp_path / "host.sock", token="x").open()
    async with served(tmp_path) as there:
        with pytest.raises(HostError) as refused:
            await remote(there, token="wrong").open()
        assert refused.value.code == "unauthenticated"
        read = await there.token("read")
        async with remote(there, token=read.secret) as host:
            with pytest.raises(HostError) as forbidden:
                await host.create_token(CreateToken(name="x", scope="admin"))
            assert (forbidden.value.code, forbidden.value.details["needed"]) == ("forbidden", "admin")


def test_the_local_token_goes_to_the_socket_beside_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("QUARTERDECK_TOKEN", raising=False)
    monkeypatch.delenv("QUARTERDECK_HOST", raising=False)
    folder = tmp_path / "quarterdeck"
    folder.mkdir()
    (folder / "token").write_text("local\n")
    assert Address.find() == Address(
        shown=f"{folder}/host.sock", url="ws://localhost/v1/ws", token="local", unix=folder / "host.sock"
    )
    assert Address.find("http://[::1]:1/x/", "given").url == "ws://[::1]:1/x/v1/ws"
    for elsewhere in ("https://host.example", "http://127.0.0.1:1", "http://localhost:8787"):
        with pytest.raises(HostError, match="needs a token"):
            Address.find(elsewhere)
        assert Address.find(elsewhere, "given").token == "given"
    monkeypatch.setenv("QUARTERDECK_TOKEN", "told")
    monkeypatch.setenv("QUARTERDECK_HOST", "https://host.example/base/")
    assert (Address.find().url, Address.find().token) == ("wss://host.example/base/v1/ws", "told")
    for wrong in ("ftp://host", "https://", "https://user@host", "https://host?x=1"):
        with pytest.raises(HostError, match="not the URL of a host"):
            Address.find(wrong)
    with pytest.raises(HostError, match="needs a token"):
        Address.find("https://host.example", "two\nlines")


# Whatever the network does


async def test_a_stream_that_is_cut_again_and_again_loses_and_repeats_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as there, proxied(there.tcp) as network, remote(there, network.url) as host:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        reading = asyncio.create_task(numbers_of(host.watch_session(WatchSession(session_id=session)), 60))
        for part in range(6):
            await add_events(there, session, range(part * 10, part * 10 + 10))
            network.cut()
            assert (await host.get_session(OfSession(session_id=session))).id == session
        assert await reading == list(range(60))
        assert network.cuts >= 6


async def test_a_write_that_is_cut_off_is_done_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there, proxied(there.tcp) as network, remote(there, network.url) as host:
        session = await there.session(None)
        writes = [
            asyncio.create_task(host.add_event(AddEvent(session_id=session, type="note", data={"n": number})))
            for number in range(30)
        ]
        while not all(one.done() for one in writes):
            network.cut()
            await asyncio.wait(writes, timeout=0.02)
        async with asyncio.timeout(LIMIT_S):
            assert len({(await one).seq for one in writes}) == 30
        frames = await all_frames(there.host, session)
        told = [event.data["n"] for frame in frames for event in frame.events if isinstance(event, CustomEvent)]
        assert sorted(told) == list(range(30))


async def test_a_host_that_is_started_again_is_found_again(tmp_path: Path) -> None:
    states: list[str] = []
    async with served(tmp_path) as there, remote(there, on_state=states.append) as host:
        session = await there.session(None)
        reading = asyncio.create_task(numbers_of(host.watch_session(WatchSession(session_id=session)), 20))
        await add_events(there, session, range(10))
        there.gateway.stopping.set()
        await there.server.stop()
        there.gateway.stopping.clear()
        await add_events(there, session, range(10, 20))
        async with Server(there.gateway) as server:
            await server.listen_tcp(*there.tcp)
            assert await reading == list(range(20))
            await host.close()
        assert states[:2] == ["connecting", "connected"] and states[-1] == "closed"
        assert set(states[2:-1]) == {"reconnecting", "connected"}


async def test_trying_ends_with_an_error_that_says_so_and_the_next_call_tries_again(tmp_path: Path) -> None:
    patience = Patience(first_wait_s=0.01, longest_wait_s=0.1, give_up_s=2.0)
    async with served(tmp_path) as there, proxied(there.tcp) as network:
        session = await there.session()
        async with remote(there, network.url, patience=patience) as host:
            stream = host.watch_session(WatchSession(session_id=session))
            await anext(stream)
            network.accepting = False
            network.cut()
            with pytest.raises(HostUnreachable):
                await numbers_of(stream, 1)
            assert host.state == "lost"
            with pytest.raises(HostUnreachable):
                await host.get_session(OfSession(session_id=session))
            network.accepting = True
            assert (await host.get_session(OfSession(session_id=session))).id == session


async def test_a_cursor_that_the_log_does_not_have_is_told_as_a_gap(tmp_path: Path) -> None:
    async with served(tmp_path) as there, remote(there) as host:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        async with aclosing(host.watch_session(WatchSession(session_id=session, after="other-3"))) as frames:
            told = await anext(frames)
            assert isinstance(told, Frame) and isinstance(told.events[0], Gap)
            assert (told.events[0].reason, told.seq) == ("epoch", told.events[0].seq)
        async with aclosing(host.watch_host(WatchHost(after=99_999))) as changes:
            assert [(await anext(changes)).details["kind"] for _ in range(2)] == ["hello", "gap"]


async def test_a_slow_reader_is_left_and_taken_up_again_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "WAITING", 10)
    said: list[Behind] = []
    async with served(tmp_path) as there, remote(there, on_behind=said.append) as host:
        session = await there.session(None)
        stream = host.watch_session(WatchSession(session_id=session))
        await anext(stream)
        await add_events(there, session, range(100))
        async with asyncio.timeout(LIMIT_S):
            while not host.behind:  # noqa: ASYNC110  # the connection's own state
                await asyncio.sleep(0.01)
        behind = Behind(stream="watch_session", session_id=session, waiting=10)
        assert (host.behind, said) == ([behind], [behind])
        assert await numbers_of(stream, 100) == list(range(100))
        assert said[1] == Behind(stream="watch_session", session_id=session, waiting=0)
        await stream.aclose()
        assert host.behind == []


async def test_a_network_that_falls_silent_is_given_up_and_everything_goes_on_over_another_connection(
    tmp_path: Path,
) -> None:
    async with (
        served(tmp_path, settings=Settings(heartbeat_s=0.1)) as there,
        proxied(there.tcp) as network,
        remote(there, network.url) as host,
        asyncio.timeout(LIMIT_S),
    ):
        session = await there.session(None)
        stream = host.watch_session(WatchSession(session_id=session))
        await add_events(there, session, range(5))
        assert await numbers_of(stream, 5) == list(range(5))
        for number in range(5, 8):
            connections = network.accepted
            network.stall()
            told = await host.add_event(AddEvent(session_id=session, type="note", data={"n": number}))
            assert told.seq is not None
            assert await numbers_of(stream, 1) == [number]
            assert network.accepted > connections
        frames = await all_frames(there.host, session)
        added = [event.data["n"] for frame in frames for event in frame.events if isinstance(event, CustomEvent)]
        assert added == list(range(8))


async def test_changes_of_sessions_and_approvals_are_told_once_across_connections(tmp_path: Path) -> None:
    async with (
        served(tmp_path, turns=[ASKS, "Done."]) as there,
        proxied(there.tcp) as network,
        remote(there, network.url) as host,
    ):
        changes, approvals = host.watch_host(WatchHost()), host.watch_approvals(ListApprovals())
        assert (await anext(changes)).details["kind"] == "hello"
        session = await there.session()
        first = await anext(approvals)
        assert (first.state, first.session_id) == ("pending", session)
        network.cut()
        await there.host.decide(Decide(approval_id=first.id, decision=Decision(decision="deny")))
        states = [first.state]
        positions: list[int] = []
        async with asyncio.timeout(LIMIT_S):
            while states[-1] != "applied":
                told = await anext(approvals)
                assert told.id == first.id
                states.append(told.state)
            network.cut()
            while True:
                change = (await anext(changes)).details
                positions.append(change["pos"])
                if change["kind"] == "approval" and change["approval"]["state"] == "applied":
                    break
        assert states == sorted(set(states), key=["pending", "decided", "delivered", "applied"].index)
        assert positions == sorted(set(positions))


async def test_a_token_that_is_revoked_ends_the_streams_with_that_error(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        token, session = await there.token("read"), await there.session()
        async with remote(there, token=token.secret) as host:
            stream = host.watch_session(WatchSession(session_id=session))
            await anext(stream)
            await there.host.revoke_token(OfToken(token_id=token.id))
            with pytest.raises(HostError) as ended:
                await numbers_of(stream, 1)
            assert ended.value.code == "unauthenticated"


async def test_a_message_that_is_too_large_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as there, remote(there) as host:
        session = await there.session(None)
        with pytest.raises(HostError) as refused:
            await host.send_prompt(SendPrompt(session_id=session, content="x" * 17 * 1024 * 1024))
        assert refused.value.code == "too_large"
        assert (await host.get_session(OfSession(session_id=session))).id == session


async def test_a_closed_connection_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        async with remote(there) as host:
            stream = host.watch_session(WatchSession(session_id=await there.session()))
            await anext(stream)
        with pytest.raises(HostError, match="closed"):
            await host.get_host(Nothing())
        with pytest.raises(HostError, match="closed"):
            await numbers_of(stream, 1)
