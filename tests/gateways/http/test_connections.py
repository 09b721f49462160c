"""What goes over one connection: answers in their order, messages shared by many, commands that wait for their turn."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from gateways.http.kit import Messages, Served, read_head, read_reply, served
from host.kit import ASKS, pending
from quarterdeck.gateways.http import Settings
from quarterdeck.host.requests import AddEvent, OfApproval

EVENTS = 30


async def test_requests_that_come_together_are_answered_in_their_order(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        keep = {"Connection": "keep-alive"}
        paths = ["/v1/host", "/v1/nothing", "/openapi.json", "/v1/sessions", "/healthz"]
        reader, writer = await client.open()
        writer.write(b"".join(client.head("GET", path, keep, None) for path in paths))
        replies = [await read_reply(reader) for _ in paths]
        assert [reply.status for reply in replies] == [200, 404, 200, 200, 200]
        assert replies[2].json["openapi"]
        assert replies[3].json["sessions"] == []
        writer.close()


async def test_a_request_for_the_head_alone_is_answered(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        reader, writer = await client.open()
        for path in ("/v1/host", "/docs"):
            writer.write(client.head("HEAD", path, {"Connection": "keep-alive"}, None))
            status, headers = await read_head(reader)
            assert (status, headers["allow"]) == (405, "GET")
        writer.write(client.head("GET", "/healthz", {}, None))
        assert (await read_reply(reader)).json == {"ready": True}
        writer.close()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has it")
async def test_a_client_that_is_gone_without_a_word_is_given_up(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(stalled_s=7.0)) as there:
        async with there.client().socket(), there.client(unix=True).socket():
            connections = [one.transport.get_extra_info("socket") for one in there.server.connections]
            waits = {
                one.family: one.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                for one in connections
                if one.family == socket.AF_INET
            }
            assert len(connections) == 2
        assert waits == {socket.AF_INET: 7_000}


async def test_what_is_being_answered_is_waited_for_unless_somebody_is_in_a_hurry(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(drain_s=3_600.0), turns=[ASKS, "Done."]) as there:
        session, client = await there.session(), there.client()
        path = f"/v1/sessions/{session}/wait?for=idle&timeout_s=3000"
        waiting = asyncio.ensure_future(client.get(path))
        while not there.gateway.meter.under_way:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        stopping = asyncio.ensure_future(there.server.stop())
        with pytest.raises(OSError):
            while True:  # until nobody listens any more
                (await client.open())[1].close()
        assert not waiting.done()
        (asked,) = await pending(there.host)
        assert not stopping.done()
        there.server.hurry()
        await stopping
        with pytest.raises((AssertionError, EOFError, OSError)):
            await waiting
        assert (await there.host.get_approval(OfApproval(approval_id=asked.id))).state == "pending"


# Messages


async def watched(client: ClientConnection, session: str, ref: int) -> list[Any]:
    """Everything of a session up to its last event of ours, as each was told."""
    messages = Messages(client)
    await messages.say(op="subscribe", ref=ref, session=session)
    told: list[Any] = []
    while not any(one.get("data", {}).get("number") == EVENTS - 1 for frame in told[-1:] for one in frame["events"]):
        frame = await messages.until("frame")
        assert frame.pop("ref") == ref
        told.append(frame)
    return told


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
async def test_many_are_told_the_same_however_far_each_is_and_whatever_it_is_called(
    tmp_path: Path, compressed: bool
) -> None:
    async with served(tmp_path, Settings(compress_messages=compressed)) as there:
        session = await there.session(prompt=None)

        async def happen() -> None:
            for number in range(EVENTS):  # short ones, which are told together, and long ones
                text = "é" * (9_000 if number % 3 else 3)
                data = {"number": number, "text": text}
                await there.host.add_event(AddEvent(session_id=session, type="noted", data=data))

        async def watch(ref: int) -> list[Any]:
            async with there.client().socket() as one:
                assert bool(one.protocol.extensions) is compressed
                return await watched(one, session, ref)

        before = [asyncio.ensure_future(watch(ref)) for ref in (1, 1, 2)]
        await happen()
        told = [*await asyncio.gather(*before), await watch(1)]
        assert all(one == told[0] for one in told)
        assert [frame["seq"] for frame in told[0]] == list(range(1, len(told[0]) + 1))


# Commands


async def asking(there: Served, messages: Messages) -> str:
    made = await messages.ask(op="create_session", cwd=str(there.place.cwd), prompt="go")
    return str(made["result"]["id"])


async def test_what_others_wait_for_is_never_held_up_by_them(tmp_path: Path) -> None:
    settings = Settings(commands=1, waiting_commands=2)
    async with served(tmp_path, settings, turns=[ASKS, "Done."]) as there, there.client().socket() as connection:
        messages = Messages(connection)
        session = await asking(there, messages)
        (asked,) = await pending(there.host)
        for ref in range(5):
            await messages.say(op="wait", ref=ref, session_id=session, **{"for": ["idle"]})
        assert (await messages.ask(op="decide", approval_id=asked.id, decision="allow"))["op"] == "ok"
        ended = {one["ref"] for one in messages.seen if one["op"] == "ok" and isinstance(one.get("ref"), int)}
        while len(ended) < 5:
            ended.add((await messages.until("ok"))["ref"])


async def test_commands_beyond_the_limit_wait_and_all_are_answered_in_their_order(tmp_path: Path) -> None:
    settings = Settings(commands=1, waiting_commands=3)
    async with served(tmp_path, settings) as there, there.client().socket() as connection:
        messages = Messages(connection)
        for ref in range(40):
            await messages.say(op="list_sessions", ref=ref)
        assert [(await messages.until("ok"))["ref"] for _ in range(40)] == list(range(40))


async def test_pending_calls_that_take_no_turn_are_counted(tmp_path: Path) -> None:
    settings = Settings(subscriptions=3)
    async with served(tmp_path, settings, turns=[ASKS, "Done."]) as there, there.client().socket() as connection:
        messages = Messages(connection)
        session = await asking(there, messages)
        for ref in range(4):
            await messages.say(op="wait", ref=ref, session_id=session, **{"for": ["idle"]})
        refused = await messages.until("error")
        assert (refused["ref"], refused["code"]) == (3, "rate_limited")
        (asked,) = await pending(there.host)
        assert (await there.client().post(f"/v1/approvals/{asked.id}/decision", {"decision": "allow"})).status == 200
        assert {(await messages.until("ok"))["ref"] for _ in range(3)} == {0, 1, 2}


async def test_a_name_that_everything_would_carry_is_short(tmp_path: Path) -> None:
    async with served(tmp_path) as there, there.client().socket() as connection:
        messages = Messages(connection)
        for op in ("ping", "subscribe", "list_sessions"):
            await messages.say(op=op, ref="x" * 201, **({"session": "*"} if op == "subscribe" else {}))
            refused = await messages.until("error")
            assert (refused["code"], refused["field"], refused["ref"]) == ("invalid", "ref", None)
        await messages.say(op="ping", ref="x" * 200)
        assert (await messages.until("ok"))["ref"] == "x" * 200
