"""Streams: each event once and in order, from any row; gaps are told, and a slow client slows nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from gateways.grpc.kit import Watching, info_of, refused, served, serving
from host.kit import ASKS, all_frames, frames_until, next_turn, pending
from quarterdeck.gateways.common.streams import Opened
from quarterdeck.gateways.grpc import Settings
from quarterdeck.gateways.grpc.line import Line
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.streams import Client, EventForm, Feed
from quarterdeck.gateways.grpc.v1 import events_pb2, resources_pb2
from quarterdeck.host import Caller
from quarterdeck.host.fanout import Fanout
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import AddEvent, Nothing, OfSession
from quarterdeck.host.resources import Frame
from quarterdeck.timeline.events import TextAdded

IDLE = resources_pb2.SESSION_STATE_IDLE


def rows(events: list[Any]) -> list[tuple[int, str]]:
    return [(event.seq, event.WhichOneof("event")) for event in events if not event.preview]


def as_rows(frames: list[Frame]) -> list[tuple[int, str]]:
    """What the host says itself, in the names of the messages."""
    told = [(frame.seq, str(event.__struct_config__.tag)) for frame in frames for event in frame.events]
    return [(seq, "text_delta" if tag == "text_added" else tag) for seq, tag in told]


async def test_a_session_is_told_from_its_first_row_and_its_end_is_live(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        session = await there.session()
        watching = Watching(there.client().watch(session))
        (asked,) = await pending(there.host)
        event = await watching.until("approval_changed")
        assert event.approval_changed.approval.id == asked.id
        await there.client().ask("decide", approval_id=asked.id, decision={"decision": 1})
        await watching.until("turn_ended")
        await watching.until("status_change", state=IDLE)
        assert (watching.hello.session_id, watching.hello.resumed) == (session, False)
        frames = await all_frames(there.host, session)
        seen = rows(watching.seen)
        assert seen == as_rows(frames)[: len(seen)]
        assert {event.session_id for event in watching.seen} == {session}
        said = "".join(event.text_delta.text for event in watching.seen if event.WhichOneof("event") == "text_delta")
        assert said == "Done."
        order = [kind for kind in watching.kinds if kind in ("turn_ended", "usage_report")]
        assert order == ["turn_ended", "usage_report"]


async def test_a_client_that_comes_back_goes_on_after_its_cursor(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        client = there.client()
        frames = await frames_until(there.host, session, "idle")
        first = Watching(client.watch(session, previews=False))
        await first.until("turn_ended")
        first.stream.cancel()
        assert first.cursor == f"{first.hello.epoch}-{first.cursor.rpartition('-')[2]}"
        later = [frame for frame in frames if frame.events and frame.seq > 3]
        again = Watching(client.watch(session, previews=False, after=f"{first.hello.epoch}-3"))
        assert (await again.next()).seq == later[0].seq
        assert again.hello.resumed
        by_row = Watching(client.watch(session, previews=False, after_seq=3))
        assert (await by_row.next()).seq == later[0].seq
        both = client.watch(session, after=first.cursor, after_seq=3)
        assert await refused(both) == ("INVALID_ARGUMENT", "invalid")
        assert await refused(client.watch("nobody", after_seq=3)) == ("NOT_FOUND", "not_found")


@pytest.mark.parametrize(
    ("after", "reason"),
    [("other-3", events_pb2.GAP_REASON_EPOCH), ("EPOCH-99999", events_pb2.GAP_REASON_AHEAD)],
)
async def test_a_cursor_that_the_log_does_not_have_is_answered_with_a_gap(
    tmp_path: Path, after: str, reason: int
) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        epoch = (await there.host.get_session(OfSession(session_id=session))).epoch
        watching = Watching(there.client().watch(session, after=after.replace("EPOCH", epoch)))
        event = await watching.next()
        assert (event.gap.reason, event.gap.epoch, event.seq) == (reason, epoch, event.gap.seq)
        assert watching.cursor == f"{epoch}-{event.gap.seq}"
        assert not watching.hello.resumed


async def test_what_happened_together_comes_together_and_raw_lines_and_json_on_request(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        frames = await frames_until(there.host, session, "idle")
        watching = Watching(there.client().watch(session, previews=False, with_json=True))
        await watching.until("status_change", state=IDLE)
        assert max(watching.sizes) > 1
        assert all(event.json.startswith("{") for event in watching.seen)
        raw = Watching(there.client().watch(session, view=resources_pb2.VIEW_RAW))
        line = await raw.until("raw_line")
        assert line.raw_line.line.startswith("{")
        assert line.seq <= frames[-1].seq


async def test_a_large_event_is_named_and_comes_whole_to_who_asks_for_more(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(event_bytes=20_000)) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        await there.host.add_event(AddEvent(session_id=session, type="ci", data={"log": "x" * 30_000}))
        client = there.client()
        event = await Watching(client.watch(session)).until("oversized")
        assert (event.oversized.type, event.oversized.size_bytes > 30_000) == ("custom_event", True)
        whole = await Watching(client.watch(session, max_event_bytes=100_000)).until("custom_event")
        assert len(whole.custom_event.data_json) > 30_000
        assert await refused(client.watch(session, max_event_bytes=2**40)) == ("INVALID_ARGUMENT", "invalid")


async def test_a_slow_client_slows_nobody_and_gets_everything_later(tmp_path: Path) -> None:
    """Its window fills, its outbox fills, and then it reads the log; another client is told all the while."""
    settings = Settings(outbox_bytes=10_000)
    async with served(tmp_path, settings) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        slow, fast = (Watching(there.client().watch(session, previews=False)) for _ in range(2))
        for number in range(300):
            await there.host.add_event(AddEvent(session_id=session, type="ci", data={"n": number, "x": "y" * 10_000}))
        last = None
        while last != 299:
            told = await fast.until("custom_event")
            last = int(told.custom_event.data_json.split(":")[1].split(",")[0])
        got = [await slow.until("custom_event") for _ in range(300)]
        assert [one.custom_event.data_json.split(",")[0] for one in got] == [f'{{"n":{n}' for n in range(300)]
        numbers = [event.seq for event in slow.seen]
        assert numbers == sorted(numbers)


async def test_approvals_and_the_host_are_watched(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        client = there.client()
        changes = client.call("watch_host")
        hello = await changes.read()
        assert hello.kind == resources_pb2.HOST_CHANGE_KIND_HELLO
        states = [resources_pb2.APPROVAL_STATE_PENDING, resources_pb2.APPROVAL_STATE_APPLIED]
        approvals = client.call("watch_approvals", state=states)
        await approvals.initial_metadata()
        session = await there.session()
        first = (await approvals.read()).approval
        assert (first.session_id, first.tool, first.state) == (session, "Bash", resources_pb2.APPROVAL_STATE_PENDING)
        seen = await changes.read()
        while not seen.HasField("approval"):
            assert seen.id == session
            seen = await changes.read()
        assert seen.approval.id == first.id
        await client.ask("decide", approval_id=first.id, decision={"decision": 1})
        while (told := (await approvals.read()).approval).state != resources_pb2.APPROVAL_STATE_APPLIED:
            assert told.id == first.id


async def test_streams_end_when_the_token_is_revoked_and_when_the_server_stops(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        token = await there.token("read")
        mine = Watching(there.client(token.secret).watch(session))
        others = Watching(there.client().watch(session))
        await mine.next()
        await others.next()
        await there.client().ask("revoke_token", token_id=token.id)
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            while True:
                await mine.next()
        assert (ended.value.code().name, info_of(ended.value).reason) == ("UNAUTHENTICATED", "unauthenticated")
        assert await refused(there.client(token.secret).call("get_host")) == ("UNAUTHENTICATED", "unauthenticated")
        await there.server.stop()
        with pytest.raises(grpc.aio.AioRpcError) as goodbye:
            while True:
                await others.next()
        assert (goodbye.value.code().name, info_of(goodbye.value).reason) == ("UNAVAILABLE", "shutting_down")


async def test_a_watch_goes_on_by_its_cursor_over_a_restart_of_the_host(tmp_path: Path) -> None:
    async with served(tmp_path, turns=["One.", "Two."]) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        watching = Watching(there.client().watch(session, previews=False))
        await watching.until("turn_ended")
        await there.server.stop()
        with pytest.raises((grpc.aio.AioRpcError, EOFError)):
            while True:
                await watching.next()
        async with serving(there.host, tmp_path / "claude") as (_, address):
            client = there.client(address=address)
            again = Watching(client.watch(session, previews=False, after=watching.cursor))
            await next_turn(there.host, session)
            await again.until("turn_ended")
            frames = await all_frames(there.host, session)
            seen = rows([*watching.seen, *again.seen])
            assert seen == as_rows(frames)[: len(seen)]


async def test_a_thousand_streams_on_one_connection_and_the_next_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        await frames_until(there.host, session, "idle")
        seq = (await all_frames(there.host, session))[-1].seq
        client = there.client((await there.token("read")).secret)
        streams = [Watching(client.watch(session, previews=False, after_seq=seq)) for _ in range(1_000)]
        for one in streams:
            one.take(await one.stream.read())  # its hello
        assert there.server.gateway.authentication.streams == 1_000
        assert await refused(client.watch(session)) == ("RESOURCE_EXHAUSTED", "rate_limited")
        await there.host.add_event(AddEvent(session_id=session, type="ci", data={"to": "all"}))
        for one in streams:
            assert (await one.until("custom_event")).custom_event.data_json == '{"to":"all"}'
        for one in streams:
            one.stream.cancel()
        while there.server.gateway.authentication.streams:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_one_encoded_copy_serves_all_who_watch(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        gateway = there.server.gateway
        batch = [Frame(session="s", seq=seq, at=1.0, events=[TextAdded(1.0, "b", "x")]) for seq in (1, 2)]
        stream = Opened(hello={}, batches=nothing(), epoch="e")
        forms = [EventForm(gateway, stream, limit_bytes=None, with_json=False) for _ in range(2)]
        (first,), (second,) = (list(form.parts(batch)) for form in forms)
        assert first is second
        alone = EventForm(gateway, stream, limit_bytes=len(first) - 1, with_json=False)
        assert b"".join(alone.parts(batch)) == first


async def test_a_cursor_names_no_row_that_is_still_to_come(tmp_path: Path) -> None:
    """Rows are put in form while others are written: whoever came back with their cursor would miss them."""
    async with served(tmp_path) as there:
        stream = Opened(hello={}, batches=nothing(), epoch="e")
        form = EventForm(there.server.gateway, stream, limit_bytes=None, with_json=False)
        first, second, third = (
            next(iter(form.parts([Frame(session="s", seq=seq, at=1.0, events=[TextAdded(1.0, "b", "x")])])))
            for seq in (1, 2, 3)
        )
        read = MESSAGES["WatchSessionResponse"].FromString
        told = [read(one) for parts in ([first, second], [third]) for one in form.responses(parts)]
        assert [(one.cursor, [event.seq for event in one.events]) for one in told] == [("e-2", [1, 2]), ("e-3", [3])]


async def test_the_stream_is_listened_to_during_a_write_until_too_much_waits_and_all_of_it_stays_in_order(
    tmp_path: Path,
) -> None:
    written: list[bytes] = []
    fanout = Fanout(0)
    formed: list[str] = []

    def happens(*texts: str) -> None:
        for text in texts:
            fanout.preview(Preview(session="s", after_seq=0, events=[TextAdded(0.0, "m:0", text)]))

    async def read(after: int, limit: int) -> list[Frame]:
        raise AssertionError("everything is still there")

    async def write(message: bytes) -> None:
        written.append(message)
        if len(written) == 1:
            happens("b")
            while "b" not in formed:  # noqa: ASYNC110
                await asyncio.sleep(0)
            happens(*"cdefg")
            while "d" not in formed:  # noqa: ASYNC110
                await asyncio.sleep(0)
            for _ in range(5):
                await asyncio.sleep(0)
            assert formed == list("abcd"), "there is room for three"
            fanout.close()

    def parts(batch: Any) -> Iterator[bytes]:
        for one in batch:
            formed.append(one.events[0].text)
            yield formed[-1].encode()

    async with served(tmp_path, Settings(outbox_bytes=3)) as there:
        batches = fanout.watch(0, read, previews=True)
        line = Line(there.server.gateway.settings, lambda parts: [b"".join(parts)], write)
        ended = asyncio.get_running_loop().create_future()
        client = Client(there.server.gateway, Caller(), None, ended)
        feed = Feed(client, Nothing(), Opened(hello={}, batches=batches), line)
        running = asyncio.ensure_future(feed.run(parts))
        while not fanout.watched:  # noqa: ASYNC110
            await asyncio.sleep(0)
        happens("a")
        await running
    assert written == [b"a", b"bcd", b"efg"]


async def nothing() -> AsyncGenerator[Any, None]:
    return
    yield
