"""What clients do wrong, and what the network does to them: nothing of it harms the host or anybody else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
import uvloop

from gateways.grpc.kit import Served, Watching, info_of, refused, served
from host.kit import LIMIT_S, frames_until
from quarterdeck.gateways.common.streams import opened
from quarterdeck.gateways.grpc import Settings
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS
from quarterdeck.gateways.grpc.metrics import Meter
from quarterdeck.host.requests import AddEvent, ListAudit, OfToken

WATCHES = """
import sys, grpc
from quarterdeck.gateways.grpc.v1 import session_service_pb2 as sessions, session_service_pb2_grpc as stubs
address, session, secret = sys.argv[1:]
stub = stubs.SessionServiceStub(grpc.insecure_channel(address))
request, metadata = sessions.WatchSessionRequest(session_id=session), [("authorization", f"Bearer {secret}")]
for response in stub.WatchSession(request, metadata=metadata):
    print("told", flush=True)
"""


async def no_streams(there: Served) -> None:
    while there.server.gateway.authentication.streams:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def well(there: Served) -> None:
    """Somebody else is served as ever."""
    assert (await there.client().ask("get_host")).version


async def test_a_client_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        command = [sys.executable, "-c", WATCHES, there.address, session, str(there.admin.secret)]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), LIMIT_S)
        while there.server.gateway.authentication.streams != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        await no_streams(there)
        await frames_until(there.host, session, "idle")
        await well(there)


async def test_a_client_that_falls_silent_is_given_up_and_others_go_on(tmp_path: Path) -> None:
    """It is stopped, not ended: its system still confirms what arrives, but nobody answers a ping."""
    async with served(tmp_path, Settings(ping_s=0.2, ping_timeout_s=2.0)) as there:
        session = await there.session(None)
        command = [sys.executable, "-c", WATCHES, there.address, session, str(there.admin.secret)]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert await asyncio.wait_for(process.stdout.readline(), LIMIT_S)
            other = Watching(there.client().watch(session))
            await other.next()
            while there.server.gateway.authentication.streams != 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            os.kill(process.pid, signal.SIGSTOP)
            while there.server.gateway.authentication.streams != 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await there.host.add_event(AddEvent(session_id=session, type="ci"))
            await other.until("custom_event")
            await well(there)
        finally:
            process.kill()
            await process.wait()


async def test_a_client_that_pings_too_often_is_disconnected(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session(None)
        often = (
            ("grpc.keepalive_time_ms", 20),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.max_pings_without_data", 0),
        )
        watching = Watching(there.client(settings=often).watch(session))
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            while True:
                await watching.next()
        assert ended.value.code() == grpc.StatusCode.UNAVAILABLE
        await no_streams(there)
        await well(there)


async def test_calls_beyond_the_limit_are_refused_until_one_ends(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(calls=2)) as there:
        session = await there.session(None)
        client = there.client()
        streams = [Watching(client.watch(session)) for _ in range(2)]
        for one in streams:
            await one.next()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.ask("get_host")
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        streams[0].stream.cancel()
        while there.server.gateway.authentication.streams != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await well(there)


async def test_a_channel_that_is_closed_in_mid_stream_leaves_nothing_behind(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        client = there.client()
        await Watching(client.watch(session)).next()
        talk = client.converse()
        await talk.write(MESSAGES["ConverseRequest"](open={"session_id": session}))
        await talk.read()
        await client.channel.close()
        await no_streams(there)
        await well(there)


async def test_a_deadline_ends_a_stream(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        with pytest.raises(grpc.aio.AioRpcError) as late:
            watching = Watching(there.client().watch(session, timeout=0.5))
            while True:
                await watching.next()
        assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        await no_streams(there)


async def test_a_message_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(message_bytes=100_000)) as there:
        client = there.client()
        session = await there.session(None)
        prompt = {"session_id": session, "content": {"text": "x" * 200_000}}
        assert await refused(client.call("send_prompt", **prompt)) == ("RESOURCE_EXHAUSTED", "too_large")
        upload = {"session_id": session, "name": "large.bin", "media_type": "application/octet-stream"}
        await client.ask("upload", body=b"x" * 200_000, **upload)
        with pytest.raises(grpc.aio.AioRpcError) as beyond:
            await client.ask("upload", body=b"x" * (34 * 1024 * 1024), **upload)
        assert beyond.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        talk = client.converse()
        await talk.write(MESSAGES["ConverseRequest"](open={"session_id": session}))
        await talk.write(MESSAGES["ConverseRequest"](send_prompt={"content": {"text": "x" * 200_000}}))
        assert await refused(talk) == ("RESOURCE_EXHAUSTED", "too_large")
        await well(there)


async def test_bytes_that_are_no_message_end_only_their_own_call(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        session = await there.session(None)
        watching = Watching(client.watch(session))
        await watching.next()
        bad_text = b"\x0a\x02\xff\xfe"
        for name in ("get_session", "watch_session", "decide", "create_session"):
            assert await refused(client.call(name, bad_text)) == ("INVALID_ARGUMENT", "invalid"), name
        path = METHODS["get_session"].path.rpartition("/")[0] + "/Converse"
        talk = client.channel.stream_stream(path)(metadata=client.metadata)
        await talk.write(b"\xff\xff\xff")
        assert await refused(talk) == ("INVALID_ARGUMENT", "invalid")
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await client.channel.unary_unary("/quarterdeck.v1.SessionService/Nonsense")(b"", metadata=client.metadata)
        assert unknown.value.code() == grpc.StatusCode.UNIMPLEMENTED
        await there.host.add_event(AddEvent(session_id=session, type="ci"))
        await watching.until("custom_event")


async def test_who_guesses_tokens_is_slowed_down_and_noted_once(tmp_path: Path) -> None:
    slept: list[float] = []
    async with served(tmp_path, Settings(attempts=3)) as there:

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        there.server.gateway.authentication.sleep = sleep
        for number in range(8):
            outcome = await refused(there.client(f"guess-{number}").call("get_host"))
            assert outcome == ("UNAUTHENTICATED", "unauthenticated")
        assert slept == sorted(slept)
        assert len(slept) == 5
        entries = [one for one in (await there.host.list_audit(ListAudit())).audit if one.operation == "authenticate"]
        assert [(one.via, one.details["address"]) for one in entries] == [("grpc", "127.0.0.1")]
        odd = there.client(None)
        for value in ("", "Bearer", "Bearer ", "Basic abc", f"Token {there.admin.secret}"):
            call = odd.call("get_host", metadata=(("authorization", value),))
            assert await refused(call) == ("UNAUTHENTICATED", "unauthenticated"), value
        twice = there.client().call("get_host", metadata=(("authorization", "Bearer other"),))
        assert await refused(twice) == ("INVALID_ARGUMENT", "invalid")


async def test_large_metadata_and_foreign_protocols_are_turned_away(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        with pytest.raises(grpc.aio.AioRpcError) as large:
            await there.client().ask("get_host", metadata=(("x-large", "y" * 100_000),))
        assert large.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        host, _, port = there.address.rpartition(":")
        for data in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x00" * 4096, os.urandom(4096)):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(data)
            try:
                while await reader.read(65536):
                    pass
            except ConnectionError:
                pass
            writer.close()
        await well(there)


async def test_connections_that_say_nothing_do_not_hold_up_others(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        host, _, port = there.address.rpartition(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(200)]
        try:
            await well(there)
        finally:
            for one in silent:
                one.close()


async def test_a_client_that_never_reads_is_given_up_and_nobody_waits_for_it(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(stalled_s=0.2, outbox_bytes=10_000)) as there:
        session = await there.session(None)
        stuck = there.client().watch(session)
        while not there.server.gateway.authentication.streams:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        written = 0
        while there.server.gateway.authentication.streams:
            assert written < 5_000, "it is never given up"
            await there.host.add_event(AddEvent(session_id=session, type="ci", data={"x": "y" * 50_000}))
            written += 1
        assert await refused(stuck) == ("UNAVAILABLE", "unavailable")
        await well(there)


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_client_that_reads_late_is_told_everything_once_and_in_order(tmp_path: Path, loop: Any) -> None:
    """Its flow control holds a write of the library, which goes on when it reads again."""

    async def late() -> None:
        async with served(tmp_path, Settings(outbox_bytes=10_000)) as there:
            session = await there.session(None)
            watching = Watching(there.client().watch(session, previews=False))
            meter, written, waits = there.server.gateway.meter, 0, 0
            while waits < 20:  # more than is on its way
                assert written < 5_000, "it never waits"
                data = {"number": written, "text": "x" * 20_000}
                await there.host.add_event(AddEvent(session_id=session, type="ci", data=data))
                written += 1
                waits += lag(meter) > 10_000
            seen: list[int] = []
            while len(seen) < written:
                seen.append(json.loads((await watching.until("custom_event")).custom_event.data_json)["number"])
            assert seen == list(range(written))
            while lag(meter):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await there.host.add_event(AddEvent(session_id=session, type="ci", data={"number": -1}))
            assert json.loads((await watching.until("custom_event")).custom_event.data_json) == {"number": -1}

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(late())


def lag(meter: Meter) -> int:
    """What waits for the slowest client, as ``/metrics`` shows it."""
    (shown,) = (line for line in meter.lines() if line.startswith("quarterdeck_grpc_stream_lag_bytes "))
    return int(shown.split()[1])


async def test_a_conversation_that_says_nothing_is_counted_and_given_up(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(open_s=0.5, streams_per_token=1)) as there:
        session = await there.session(None)
        client = there.client()
        silent = client.converse()
        while there.server.gateway.authentication.streams != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        assert await refused(client.converse()) == ("RESOURCE_EXHAUSTED", "rate_limited")
        assert await refused(client.watch(session)) == ("RESOURCE_EXHAUSTED", "rate_limited")
        assert await refused(silent) == ("INVALID_ARGUMENT", "invalid")
        await no_streams(there)
        await Watching(client.watch(session)).next()


async def test_a_call_without_a_message_is_refused_without_a_token_and_given_up_with_one(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(open_s=0.5, calls=3)) as there:
        silent = {}
        for secret in (None, there.admin.secret):
            for name in ("get_host", "watch_host"):
                client = there.client(secret)
                call = client.channel.stream_stream(METHODS[name].path)(metadata=client.metadata)
                silent[name, secret is None] = await refused(call)
                assert not there.server.gateway.meter.under_way
        assert silent == {
            (name, nobody): ("UNAUTHENTICATED", "unauthenticated") if nobody else ("INVALID_ARGUMENT", "invalid")
            for name in ("get_host", "watch_host")
            for nobody in (True, False)
        }
        await well(there)


async def test_streams_that_open_at_once_are_no_more_than_one_token_may_have(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(streams_per_token=2)) as there:
        session = await there.session(None)
        client = there.client()

        async def opened(stream: Any) -> str:
            try:
                await stream.read()
            except grpc.aio.AioRpcError as error:
                return error.code().name
            return "OK"

        streams = [client.watch(session) for _ in range(6)]
        outcomes = await asyncio.gather(*map(opened, streams))
        assert sorted(outcomes) == ["OK"] * 2 + ["RESOURCE_EXHAUSTED"] * 4


async def test_a_token_that_is_revoked_before_the_first_message_opens_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        token = await there.token("operate")
        talk = there.client(token.secret).converse()
        while there.server.gateway.authentication.streams != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await there.host.revoke_token(OfToken(token_id=token.id))
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await talk.write(MESSAGES["ConverseRequest"](open={"create": {"cwd": str(there.place.cwd)}}))
        assert await refused(talk) == ("UNAUTHENTICATED", "unauthenticated")
        assert (await there.client().ask("list_sessions")).sessions == []


async def test_a_token_that_is_revoked_while_its_stream_opens_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as there:
        session = await there.session(None)
        token = await there.token("operate")
        client = there.client(token.secret)
        noticed = client.watch(session)
        assert (await noticed.read()).HasField("hello")
        opening, go_on = [], asyncio.Event()

        async def slowly(*given: Any) -> Any:
            opening.append(given)
            await go_on.wait()
            return await opened(*given)

        for module in ("streams", "converse"):
            monkeypatch.setattr(f"quarterdeck.gateways.grpc.{module}.opened", slowly)
        talk = client.converse()
        await talk.write(MESSAGES["ConverseRequest"](open={"session_id": session}))
        late = [talk, client.watch(session), client.call("watch_host")]
        waiting = client.call("wait", session_id=session, states=["WAIT_FOR_STOPPED"])
        while len(opening) < len(late):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await there.host.revoke_token(OfToken(token_id=token.id))
        unauthenticated = ("UNAUTHENTICATED", "unauthenticated")
        assert await refused(noticed) == unauthenticated
        go_on.set()
        for stream in late:
            with pytest.raises(grpc.aio.AioRpcError) as ended:
                await stream.read()
            assert (ended.value.code().name, info_of(ended.value).reason) == unauthenticated
        assert await refused(waiting) == unauthenticated
        await no_streams(there)


async def test_a_conversation_whose_token_has_ended_takes_nothing_more_while_its_client_reads_nothing(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, Settings(drain_s=1.0)) as there:
        session = await there.session(None)
        token = await there.token("operate")
        client = there.client(token.secret)
        talk, noticed = client.converse(), Watching(client.watch(session))
        await talk.write(MESSAGES["ConverseRequest"](open={"session_id": session}))
        for number in range(100):
            data = {"number": number, "text": "x" * 50_000}
            await there.host.add_event(AddEvent(session_id=session, type="ci", data=data))
        while noticed.kinds.count("custom_event") < 100:
            await noticed.until("custom_event")
        while there.server.gateway.authentication.streams != 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await there.host.revoke_token(OfToken(token_id=token.id))
        assert await refused(noticed.stream) == ("UNAUTHENTICATED", "unauthenticated")
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await talk.write(MESSAGES["ConverseRequest"](update_session={"name": "too late"}))
        await no_streams(there)
        assert (await there.client().ask("get_session", session_id=session)).session.name != "too late"
        assert await refused(talk) == ("UNAUTHENTICATED", "unauthenticated")


async def test_a_conversation_takes_only_so_many_commands_at_once(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(commands=2)) as there:
        session = await there.session(None)
        running, most, go_on = 0, 0, asyncio.Event()
        original = there.host.update_session

        async def slowly(*args: Any, **more: Any) -> Any:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await go_on.wait()
            running -= 1
            return await original(*args, **more)

        there.host.update_session = slowly  # type: ignore[method-assign]
        talk = there.client().converse()
        await talk.write(MESSAGES["ConverseRequest"](open={"session_id": session}))
        for number in range(6):
            await talk.write(MESSAGES["ConverseRequest"](ref=str(number), update_session={"name": str(number)}))
        while running < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        go_on.set()
        answered = set()
        while len(answered) < 6:
            response = await talk.read()
            if response.HasField("answer"):
                answered.add(response.answer.ref)
        assert most == 2
