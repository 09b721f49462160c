"""Streams: each frame once and in order, from any cursor; gaps are told, and a slow client slows nobody."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from gateways.http.kit import Messages, Stream, served
from host.kit import ASKS, all_frames, frames_until, next_turn, pending
from quarterdeck.gateways.common.outbox import Outbox
from quarterdeck.gateways.http import Settings
from quarterdeck.host.requests import AddEvent


async def test_a_session_is_followed_from_its_first_frame_and_its_end_is_live(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        session = await there.session()
        async with there.client().events(f"/v1/sessions/{session}/stream?previews=false") as events:
            assert events.reply.headers["content-type"].startswith("text/event-stream")
            hello = await events.next()
            assert (hello.kind, hello.data["session"], hello.data["resume"]) == ("hello", session, "ok")
            (asked,) = await pending(there.host)
            await there.client().post(f"/v1/approvals/{asked.id}/decision", {"decision": "allow"})
            frames = await frames_until(there.host, session, "idle")
            told = [await events.next() for _ in frames]
            assert [one.data["seq"] for one in told] == [frame.seq for frame in frames]
            assert [one.id for one in told] == [f"{hello.data['epoch']}-{frame.seq}" for frame in frames]
            read = (await there.client().get(f"/v1/sessions/{session}/events?limit={len(frames)}")).json["frames"]
            assert [one.data for one in told] == read


async def test_a_client_that_comes_back_goes_on_after_its_last_frame(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        path, client = f"/v1/sessions/{session}/stream?previews=false", there.client()
        async with client.events(path) as events:
            while (last := await events.until("frame")).data["seq"] < 4:
                pass
        async with client.events(f"{path}&after={last.id}") as events:
            assert (await events.until("frame")).data["seq"] == 5
        async with client.events(f"{path}&after={last.id.split('-')[0]}-1", **{"Last-Event-ID": last.id}) as events:
            assert (await events.until("frame")).data["seq"] == 5


async def test_a_cursor_of_another_log_is_answered_with_a_gap(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        last = (await all_frames(there.host, session))[-1].seq
        client = there.client()
        async with client.events(f"/v1/sessions/{session}/stream?after=other-3") as events:
            hello, gap = await events.next(), await events.next()
            assert (hello.data["resume"], gap.kind, gap.data["reason"]) == ("gap", "gap", "epoch")
            epoch, _, seq = str(gap.id).rpartition("-")
            assert (epoch, int(seq) >= last) == (hello.data["epoch"], True)  # a row may come after the turn
        async with client.events(f"/v1/sessions/{session}/stream?after={epoch}-99999") as events:
            assert (await events.until("gap")).data["reason"] == "ahead"
        assert (await client.get(f"/v1/sessions/{session}/stream?after=nonsense")).code == "invalid"
        async with client.events("/v1/stream?after=99999") as events:
            assert (await events.next()).data["resume"] == "gap"
            assert (await events.next()).kind == "gap"


async def test_the_host_stream_tells_of_sessions_and_approvals_from_a_position(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        client = there.client()
        async with client.events("/v1/stream") as events, client.events("/v1/approvals/stream") as approvals:
            hello = await events.next()
            await approvals.until("hello")
            session = await there.session()
            made = await events.until("session")
            assert (made.data["id"], made.data["session"]["id"]) == (session, session)
            asked = await events.until("approval")
            assert asked.data["approval"]["state"] == "pending"
            assert (await approvals.until("approval")).data["id"] == asked.data["id"]
        async with client.events("/v1/stream", **{"Last-Event-ID": str(hello.data["pos"])}) as events:
            assert (await events.until("session")).id == made.id


async def test_an_event_larger_than_any_request_may_be_arrives_whole(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session, text = await there.session(prompt=None), "x" * (Settings().message_bytes + 1_000_000)
        async with there.client().events(f"/v1/sessions/{session}/stream") as events, there.client().socket() as socket:
            messages = Messages(socket)
            await messages.say(op="subscribe", ref=1, session=session)
            await there.host.add_event(AddEvent(session_id=session, type="ci", data={"number": 7, "text": text}))
            assert await custom_events(events, 1) == [7]
            told: list[Any] = []
            while not told:
                events_of_row = (await messages.until("frame"))["events"]
                told = [one["data"] for one in events_of_row if one["type"] == "custom_event"]
            assert told == [{"number": 7, "text": text}]
            assert (await messages.ask(op="ping"))["op"] == "ok"


async def test_one_websocket_has_many_subscriptions_and_operations(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there, there.client().socket() as socket:
        messages = Messages(socket)
        assert (await messages.next())["op"] == "hello"
        made = (await messages.ask(op="create_session", cwd=str(there.place.cwd), prompt="go"))["result"]
        await messages.say(op="subscribe", ref="all", session="*", after=0)
        await messages.say(op="subscribe", ref=7, session=made["id"], previews=False)
        await messages.say(op="watch_approvals", ref="approvals")
        while (approval := await messages.until("approval"))["ref"] != "approvals":
            pass
        decided = await messages.ask(op="decide", approval_id=approval["id"], decision="allow")
        assert decided["result"]["state"] == "decided"
        again = await messages.ask(op="decide", approval_id=approval["id"], decision="deny")
        assert (again["op"], again["code"], again["decided_by"]) == ("error", "already_decided", "admin")
        idle = (await messages.ask(op="wait", session_id=made["id"], **{"for": ["idle"]}))["result"]
        while idle["seq"] not in (seqs := [one["seq"] for one in messages.seen if one["op"] == "frame"]):
            await messages.next()
        assert seqs == list(range(1, len(seqs) + 1))
        assert (await messages.ask(op="unsubscribe_nothing"))["code"] == "invalid"
        await messages.say(op="unsubscribe", ref=7)
        assert (await messages.until("ok"))["ref"] == 7
        assert (await messages.ask(op="stop", session_id="nothing"))["code"] == "not_found"


async def test_a_key_of_a_message_makes_a_write_happen_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there, there.client().socket() as socket:
        messages = Messages(socket)
        wanted = {"op": "create_session", "cwd": str(there.place.cwd), "idempotency_key": "k"}
        first, again = await messages.ask(**wanted), await messages.ask(**wanted)
        assert first["result"] == again["result"]
        assert again["idempotency_replayed"] is True


async def test_frames_of_one_moment_come_as_one_message_each_exactly_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        last = (await all_frames(there.host, session))[-1].seq
        async with there.client().socket() as socket:
            messages = Messages(socket)
            await messages.say(op="subscribe", ref=1, session=session)
            seqs: list[int] = []
            while not seqs or seqs[-1] < last:
                seqs.append((await messages.until("frame"))["seq"])
            assert seqs == list(range(1, last + 1))
            assert max(messages.sizes) > 1


async def test_silence_is_broken_by_a_heartbeat(tmp_path: Path) -> None:
    async with (
        served(tmp_path, Settings(heartbeat_s=0.02)) as there,
        there.client().events("/v1/stream") as events,
        there.client().socket() as socket,
    ):
        await events.until("hello")
        assert (await events.next()).comments == ["still here"]
        assert (await Messages(socket).until("ping")) == {"op": "ping"}


async def test_a_client_that_takes_nothing_slows_nobody_and_is_given_up(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(heartbeat_s=0.5, stalled_s=1.0, outbox_bytes=10_000)) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        lazy = there.client()
        _reader, writer = await lazy.open()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(lazy.head("GET", f"/v1/sessions/{session}/stream", {}, None))
        while not there.gateway.authentication.streams:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        async with there.client().events(f"/v1/sessions/{session}/stream?previews=false") as quick:
            reading = asyncio.ensure_future(custom_events(quick, 150))
            for number in range(150):
                data = {"number": number, "text": "x" * 100_000}
                await there.host.add_event(AddEvent(session_id=session, type="ci", data=data))
            assert await reading == list(range(150))
            waiting = there.gateway.meter.waiting_bytes()
            assert max(waiting) < 1_000_000, "what waits for a client is bounded"
            while there.gateway.authentication.streams > 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        writer.close()


async def custom_events(stream: Stream, count: int) -> list[int]:
    numbers: list[int] = []
    while len(numbers) < count:
        events = (await stream.until("frame")).data["events"]
        numbers += [one["data"]["number"] for one in events if one["type"] == "custom_event"]
    return numbers


async def test_previews_come_live_and_name_the_frame_they_follow(tmp_path: Path) -> None:
    async with served(tmp_path, turns=["A text of some words."]) as there:
        session = await there.session(prompt=None)
        async with there.client().events(f"/v1/sessions/{session}/stream") as events:
            await events.until("frame")
            await next_turn(there.host, session)
            seq, previews = 0, 0
            while seq < (await all_frames(there.host, session))[-1].seq:
                event = await events.next()
                if event.kind == "frame":
                    seq = event.data["seq"]
                else:
                    previews += event.kind == "preview"
                    assert event.id is None
            assert previews


async def test_while_somebody_who_may_approve_watches_the_clock_of_approvals_stands(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        attendance = there.host._attendance
        reader, approver = await there.token("read"), await there.token("approve")
        async with there.client(reader.secret).events("/v1/stream") as events:
            await events.until("hello")
            assert not attendance.attended("/x")
        async with there.client(approver.secret).events("/v1/stream") as events:
            await events.until("hello")
            assert attendance.attended("/x")
        while attendance.attended("/x"):  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_a_gateway_that_stops_tells_its_clients_to_come_back(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        client = there.client()
        async with client.events(f"/v1/sessions/{session}/stream") as events, client.socket() as socket:
            messages = Messages(socket)
            await events.until("hello")
            waiting = asyncio.ensure_future(client.get(f"/v1/sessions/{session}/wait?for=stopped&timeout_s=0.2"))
            await messages.ask(op="ping")
            while there.gateway.meter.under_way == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await there.server.stop()
            assert (await waiting).status == 200, "what was being answered is answered"
            assert any("come back" in text for event in await events.rest() for text in event.comments)
            assert (await messages.until("error"))["code"] == "shutting_down"
            await socket.wait_closed()
            assert (socket.close_code, socket.close_reason) == (1012, "come back")


async def test_the_streams_of_one_token_are_counted(tmp_path: Path) -> None:
    settings = Settings(streams_per_token=1)
    async with served(tmp_path, settings) as there, there.client().events("/v1/stream") as events:
        await events.until("hello")
        refused = await there.client().get("/v1/stream")
        assert (refused.status, refused.code) == (429, "rate_limited")


async def test_streams_that_open_at_once_are_no_more_than_one_token_may_have(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(streams_per_token=2)) as there:
        client = there.client()
        async with contextlib.AsyncExitStack() as stack:
            found = await asyncio.gather(*(stack.enter_async_context(client.events("/v1/stream")) for _ in range(6)))
            assert sorted(one.reply.status for one in found) == [200, 200, 429, 429, 429, 429]


def outbox(**more: Any) -> Outbox:
    return Outbox(**{"limit_bytes": 10, "heartbeat_s": 60.0, "stalled_s": 60.0, "heartbeat": b"!", **more})


async def test_an_outbox_sends_together_what_came_together_and_is_bounded() -> None:
    box, sent = outbox(), []

    async def write(parts: list[bytes]) -> None:
        sent.append(list(parts))

    for part in (b"one", b"two", b"three"):
        box.put(part)
    assert box.full
    waiting = asyncio.ensure_future(box.room())
    delivering = asyncio.ensure_future(box.deliver(write))
    await waiting
    assert sent == [[b"one", b"two", b"three"]]
    box.close(b"bye")
    await delivering
    assert sent[1:] == [[b"bye"]]
