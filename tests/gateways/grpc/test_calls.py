"""Operations over gRPC: who may call them, what they answer, and how they are refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import msgspec
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from certificates import certificate
from gateways.grpc.kit import Client, info_of, refused, retry_of, served
from gateways.http.test_routes import ABOUT_NOTHING
from host.kit import ASKS, LIMIT_S, frames_until, pending
from quarterdeck.gateways.grpc import Server, Settings
from quarterdeck.gateways.grpc.encoding import writer_of
from quarterdeck.gateways.grpc.gateway import address_of
from quarterdeck.gateways.grpc.methods import METHODS, SERVICES, Method
from quarterdeck.gateways.http import examples
from quarterdeck.gateways.http.routes import BY_OPERATION
from quarterdeck.host.requests import ListAudit, OfSession

SCOPES = ("read", "approve", "operate", "admin")


def example(method: Method) -> bytes:
    """A request that makes sense, from the examples of the HTTP face."""
    takes, route = method.operation.takes, BY_OPERATION.get(method.operation.name)
    names = {field.encode_name: field for field in msgspec.structs.fields(takes)}
    given = {name: value for name, value in examples.PATHS.items() if name in names}
    body = examples.BODIES.get(method.operation.name, {})
    given |= {route.whole: body} if route is not None and route.whole else body
    given |= {name: "x" for name, field in names.items() if field.required and name not in given and name != "body"}
    if "body" in names:
        given["body"] = b"data"
    request = msgspec.convert(given, takes)
    left_out = {name: None for name in takes.__struct_fields__ if getattr(request, name) is msgspec.UNSET}
    request = msgspec.structs.replace(request, **left_out)
    data: bytes = writer_of(takes, method.request)(request).SerializeToString()
    return data


async def test_every_method_needs_a_token_with_its_scope(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(attempts=10_000)) as there:  # so that no answer is held back
        nobody = there.client(None)
        clients = {scope: there.client((await there.token(scope)).secret) for scope in SCOPES}
        for name, method in METHODS.items():
            data = example(method)
            assert await refused(nobody.call(name, data)) == ("UNAUTHENTICATED", "unauthenticated"), name
            for scope in SCOPES[: SCOPES.index(method.operation.scope)]:
                outcome = await refused(clients[scope].call(name, data))
                assert outcome == ("PERMISSION_DENIED", "forbidden"), (name, scope)
        conversation = nobody.converse()
        assert await refused(conversation) == ("UNAUTHENTICATED", "unauthenticated")


async def test_every_method_answers_on_an_empty_host_and_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        for name, method in METHODS.items():
            if name in ("watch_host", "watch_approvals"):
                continue
            if name in ABOUT_NOTHING:
                await client.call(name, example(method))
            elif {"session_id", "approval_id", "grant_id", "token_id"} & set(method.operation.takes.__struct_fields__):
                outcome = await refused(client.call(name, example(method)))
                known = ("NOT_FOUND", "not_found")
                assert outcome in (known, ("UNAVAILABLE", "unavailable") if not hasattr(there.host, name) else known), (
                    name,
                    outcome,
                )


async def test_a_session_is_created_looked_at_changed_and_stopped(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        cwd = str(there.place.cwd)
        made = (
            await client.ask("create_session", cwd=cwd, prompt={"text": "go"}, name="one", budget_usd="2.50")
        ).session
        waited = (await client.ask("wait", session_id=made.id)).session
        assert (waited.id, waited.name, waited.budget_usd, waited.cwd) == (made.id, "one", "2.5", cwd)
        assert waited.state == state_number("idle")
        assert waited.created_at.ToDatetime().year >= 2024
        changed = await client.ask("update_session", session_id=made.id, name="two", clear=["budget_usd"])
        assert (changed.session.name, changed.session.HasField("budget_usd")) == ("two", False)
        listed = await client.ask("list_sessions", q="two")
        assert [one.id for one in listed.sessions] == [made.id]
        read = await client.ask("read_events", session_id=made.id)
        assert [frame.seq for frame in read.frames] == list(range(1, len(read.frames) + 1))
        told = [event.WhichOneof("event") for frame in read.frames for event in frame.events]
        assert {"prompt_sent", "text_completed", "turn_ended", "usage_report", "status_change"} <= set(told)
        await client.ask("stop", session_id=made.id)
        assert (await client.ask("get_session", session_id=made.id)).session.state == state_number("stopped")


def state_number(word: str) -> int:
    from quarterdeck.gateways.grpc.v1 import resources_pb2

    return int(resources_pb2.SessionState.Value(f"SESSION_STATE_{word.upper()}"))


async def test_a_write_with_a_key_is_done_once_and_the_repeat_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client, cwd = there.client(), str(there.place.cwd)
        calls = [client.call("create_session", cwd=cwd, key="k-1") for _ in range(2)]
        first, second = [(await call).session.id for call in calls]
        assert first == second
        trailers = [dict(await call.trailing_metadata()) for call in calls]
        assert sorted(one.get("idempotency-replayed", "") for one in trailers) == ["", "true"]
        other = client.call("create_session", cwd=cwd, name="other", key="k-1")
        assert await refused(other) == ("FAILED_PRECONDITION", "conflict")
        assert await refused(client.call("list_sessions", key="k-2")) == ("INVALID_ARGUMENT", "invalid")
        twice = client.call("create_session", cwd=cwd, key="a", metadata=(("idempotency-key", "b"),))
        assert await refused(twice) == ("INVALID_ARGUMENT", "invalid")


async def test_a_refused_call_says_why_as_error_info(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(requests_per_s=1.0), turns=[ASKS, "Done."]) as there:
        client = there.client()
        session = await there.session()
        (asked,) = await pending(there.host)
        decision = {"decision": 1}
        await client.ask("decide", approval_id=asked.id, decision=decision)
        with pytest.raises(grpc.aio.AioRpcError) as again:
            await client.ask("decide", approval_id=asked.id, decision=decision)
        info = info_of(again.value)
        assert (again.value.code(), info.reason, info.domain) == (
            grpc.StatusCode.ALREADY_EXISTS,
            "already_decided",
            "quarterdeck",
        )
        assert "admin" in info.metadata["decided_by"]
        with pytest.raises(grpc.aio.AioRpcError) as unreadable:
            await client.call("get_session", b"\x0a\x02\xff\xfe")
        assert info_of(unreadable.value).reason == "invalid"
        with pytest.raises(grpc.aio.AioRpcError) as limited:
            for _ in range(10):
                await client.ask("get_session", session_id=session)
        assert info_of(limited.value).reason == "rate_limited"
        assert retry_of(limited.value).retry_delay.ToMilliseconds() > 0


async def test_a_deadline_and_a_cancellation_reach_the_host_and_a_write_is_done_all_the_same(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        client, session = there.client(), await there.session()
        await pending(there.host)
        waiting: list[asyncio.Event] = []
        original = there.host.wait

        async def wait(*args: Any, **more: Any) -> Any:
            ended = asyncio.Event()
            waiting.append(ended)
            try:
                return await original(*args, **more)
            except asyncio.CancelledError:
                ended.set()
                raise

        there.host.wait = wait  # type: ignore[method-assign]
        with pytest.raises(grpc.aio.AioRpcError) as late:
            await client.ask("wait", session_id=session, timeout=0.2)
        assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        call = client.call("wait", session_id=session)
        while len(waiting) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        call.cancel()
        for ended in waiting:
            await asyncio.wait_for(ended.wait(), LIMIT_S)

        begun, go_on = asyncio.Event(), asyncio.Event()
        stop = there.host.stop

        async def slowly(*args: Any, **more: Any) -> Any:
            begun.set()
            await go_on.wait()
            return await stop(*args, **more)

        there.host.stop = slowly  # type: ignore[method-assign]
        stopping = client.call("stop", session_id=session)
        await begun.wait()
        stopping.cancel()
        go_on.set()
        there.host.stop = stop  # type: ignore[method-assign]
        while (await there.host.get_session(OfSession(session_id=session))).state != "stopped":  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_the_unix_socket_is_private_and_needs_a_token_too(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        place = tmp_path / "grpc.sock"
        assert oct(place.stat().st_mode & 0o777) == "0o600"
        assert (await there.client(address=there.unix).ask("get_host")).api_version
        assert await refused(there.client(None, address=there.unix).call("get_host")) == (
            "UNAUTHENTICATED",
            "unauthenticated",
        )
        async with Server(there.host) as second:
            with pytest.raises(OSError, match="Another program is listening there"):
                second.listen(there.unix)
            with pytest.raises(OSError, match="cannot listen"):
                second.listen(there.address)
    assert not place.exists()


async def test_tls_with_a_certificate(tmp_path: Path) -> None:
    cert, key = await asyncio.to_thread(certificate, tmp_path)
    async with served(tmp_path) as there, Server(there.host) as server:
        port = server.listen("localhost:0", certificate=cert, key=key).rpartition(":")[2]
        await server.start()
        trusted = grpc.ssl_channel_credentials(cert.read_bytes())
        async with grpc.aio.secure_channel(f"localhost:{port}", trusted) as channel:
            assert (await Client(channel, there.admin.secret).ask("get_host")).version
        async with grpc.aio.insecure_channel(f"localhost:{port}") as channel:
            with pytest.raises(grpc.aio.AioRpcError) as plain:
                await Client(channel, there.admin.secret).ask("get_host", timeout=LIMIT_S)
            assert plain.value.code() == grpc.StatusCode.UNAVAILABLE


async def test_health_and_reflection_are_there_without_a_token(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(health_s=0.01)) as there:
        channel = there.client(None).channel
        health = health_pb2_grpc.HealthStub(channel)
        serving = health_pb2.HealthCheckResponse.SERVING
        for name in ("", "quarterdeck.v1.SessionService"):
            assert (await health.Check(health_pb2.HealthCheckRequest(service=name))).status == serving
        reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = [one async for one in reflection.ServerReflectionInfo(iter([asked]))]
        names = {one.name for one in answer.list_services_response.service}
        assert {f"quarterdeck.v1.{service}" for service in SERVICES} | {"grpc.health.v1.Health"} <= names
        watching = health.Watch(health_pb2.HealthCheckRequest(service=""))
        assert (await watching.read()).status == serving
        there.host.stalls.tell("somewhere", OSError("the disk is full"))
        assert (await watching.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watching.cancel()


async def test_what_was_done_is_in_the_audit_with_its_face(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        session = await there.session()
        (asked,) = await pending(there.host)
        shown = await there.client().ask("decide", approval_id=asked.id, decision={"decision": 1})
        assert shown.approval.via == "grpc"
        await frames_until(there.host, session, "idle")
        entries = (await there.host.list_audit(ListAudit())).audit
        assert ("decide", "grpc", "admin") in [(one.operation, one.via, one.who) for one in entries]


@pytest.mark.parametrize(
    ("peer", "address"),
    [("ipv4:127.0.0.1:80", "127.0.0.1"), ("ipv6:%5B::1%5D:443", "::1"), ("unix:", "unix"), ("unix:/a:b", "unix")],
)
def test_the_address_of_a_peer(peer: str, address: str) -> None:
    assert address_of(peer) == address
