"""One load on the host, or on the bare thing it is compared with, in a process of its own.

Run as ``python -m benchmarks._children.host LOAD JSON``; prints one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck import AssistantMessage, ClaudeAgentOptions, ResultMessage, Session, StreamEvent
from quarterdeck.host import Host
from quarterdeck.host.events import RawLine, StatusChange
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import CreateSession, OfSession, ReadEvents, SendPrompt, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.keeper import KeeperClient, find_keepers
from quarterdeck.store import Commit, SqliteStore
from quarterdeck.store.commits import PutSession
from quarterdeck.store.records import NewRow, SessionRecord
from quarterdeck.timeline import Timeline
from quarterdeck.timeline.events import TextAdded, TextCompleted
from quarterdeck.wire import Message, decode

from .client import Figures, Meter, percentiles, resident_kb

SETTLE_S = 0.3
AT_ONCE = 10
"""Sessions that are started together."""
ROWS_PER_COMMIT = 100
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Setting(msgspec.Struct, kw_only=True):
    """What the parent asks for; each load uses some of it."""

    cli: str
    folder: str
    env: dict[str, str] = {}
    lines: str = ""
    """A file of lines, for what needs no CLI."""
    sessions: int = 1
    subscribers: int = 1
    per_second: int = 0
    count: int = 0
    ids: list[str] = []
    rows: list[int] = []
    started: float = 0.0

    @property
    def state(self) -> Path:
        return Path(self.folder, "state")

    def host(self, **more: Any) -> Host:
        return Host(self.state, agents={"claude": self.cli}, env={**self.env, "HOME": self.folder}, **more)


# What several loads need


@asynccontextmanager
async def a_host(setting: Setting) -> AsyncIterator[Host]:
    """With everything ended afterwards."""
    try:
        async with setting.host() as host:
            yield host
    finally:
        await stop_keeper(setting)


async def stop_keeper(setting: Setting) -> None:
    async with await KeeperClient.open(setting.state / "keeper", take_over=True) as client:
        await client.stop()


async def created(host: Host, setting: Setting, count: int) -> list[str]:
    """Ids of new sessions that wait for a prompt."""
    ids: list[str] = []
    while len(ids) < count:
        request = CreateSession(cwd=setting.folder)
        batch = (host.create_session(request) for _ in range(min(AT_ONCE, count - len(ids))))
        ids += [session.id for session in await asyncio.gather(*batch)]
    return ids


async def frames_of_turn(host: Host, session: str, see: Callable[[Frame], None] = lambda _: None) -> int:
    """Send a prompt, and read the session's frames until it is idle again; how many there were."""
    known = await host.get_session(OfSession(session_id=session))
    watched = host.watch_session(WatchSession(session_id=session, after=f"{known.epoch}-{known.seq}", previews=False))
    await host.send_prompt(SendPrompt(session_id=session, content="go"))
    count = 0
    async with aclosing(watched):
        async for frame in watched:
            assert isinstance(frame, Frame)
            count += 1
            see(frame)
            if any(isinstance(event, StatusChange) and event.state == "idle" for event in frame.events):
                return count
    raise AssertionError("the stream ended before the turn")


class KeeperFacts:
    """What the keeper of a host has used."""

    def __init__(self, setting: Setting) -> None:
        self._pid = next(place.pid for place in find_keepers(setting.state / "keeper") if place.alive)

    def processor_s(self) -> float:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_kb(self) -> float:
        return int(Path(f"/proc/{self._pid}/statm").read_text().split()[1]) * PAGE / 1024


async def metered(setting: Setting, work: Awaitable[Any]) -> tuple[Any, Figures]:
    keeper = KeeperFacts(setting)
    before = keeper.processor_s()
    with Meter() as meter:
        result = await work
    return result, {**meter.figures, "keeper_s": keeper.processor_s() - before}


def bare_rows(setting: Setting, count: int) -> list[NewRow]:
    lines = Path(setting.lines).read_bytes().splitlines()[:count]
    return [NewRow(at=1.0, kind="received", origin="agent", body=line, generation=1) for line in lines]


@asynccontextmanager
async def a_store(setting: Setting, names: Sequence[str] = ()) -> AsyncIterator[SqliteStore]:
    async with await SqliteStore.open(setting.state) as store:
        for name in names:
            record = SessionRecord(id=name, state="idle", cwd="/", created_at=1.0, active_at=1.0)
            await store.commit(Commit(session=name, changes=[PutSession(record)]))
        yield store


def session_names(setting: Setting) -> list[str]:
    return [f"s{number}" for number in range(setting.sessions)]


# Durable events


async def durable_host(setting: Setting) -> Figures:
    """Sessions that flood with lines that are rows, each with a subscriber."""
    async with a_host(setting) as host:
        ids = await created(host, setting, setting.sessions)
        turns = asyncio.gather(*(frames_of_turn(host, one) for one in ids))
        counts, figures = await metered(setting, turns)
    return {**figures, "rows": sum(counts)}


async def durable_store(setting: Setting) -> Figures:
    """The same lines, straight into the store."""
    rows = bare_rows(setting, setting.count)

    async def write(name: str) -> None:
        for at in range(0, len(rows), ROWS_PER_COMMIT):
            await store.commit(Commit(session=name, fence=1, rows=rows[at : at + ROWS_PER_COMMIT]))

    names = session_names(setting)
    async with a_store(setting, names) as store:
        with Meter() as meter:
            await asyncio.gather(*map(write, names))
    return {**meter.figures, "rows": len(rows) * len(names)}


# Previews


async def previews_host(setting: Setting) -> Figures:
    """One session that streams, and many who watch."""
    attached = asyncio.Semaphore(0)

    async def watch(session: str, after: str) -> tuple[int, int]:
        count = size = 0
        watched = host.watch_session(WatchSession(session_id=session, after=after))
        async with aclosing(watched):
            async for one in watched:
                if isinstance(one, Preview):
                    for event in one.events:
                        if isinstance(event, TextAdded):
                            count += 1
                            size += len(event.text)
                elif one.seq == known.seq:
                    attached.release()
                elif any(isinstance(event, StatusChange) and event.state == "idle" for event in one.events):
                    break
        return count, size

    async def all_of_it() -> list[tuple[int, int]]:
        await host.send_prompt(SendPrompt(session_id=session, content="go"))
        return await asyncio.gather(*watching)

    async with a_host(setting) as host:
        (session,) = await created(host, setting, 1)
        known = await host.get_session(OfSession(session_id=session))
        after = f"{known.epoch}-{known.seq - 1}"  # so that each gets a frame when it is there
        watching = [asyncio.create_task(watch(session, after)) for _ in range(setting.subscribers)]
        for _ in watching:
            await attached.acquire()
        told, figures = await metered(setting, all_of_it())
    return {**figures, **_delivered(told, setting)}


def _delivered(told: Sequence[tuple[int, int]], setting: Setting) -> Figures:
    if any(count != setting.count for count, _ in told):
        raise SystemExit(f"{setting.count} pieces of text, and the subscribers got {sorted({n for n, _ in told})}")
    return {"deliveries": sum(count for count, _ in told)}


class BareFanout:
    """Everything that is published, for everyone who watches: a list, and a bell."""

    def __init__(self) -> None:
        self._published: list[Message] = []
        self._bell = asyncio.Event()
        self._ended = False

    def publish(self, messages: Sequence[Message], *, last: bool = False) -> None:
        self._published += messages
        self._ended = last
        self._bell.set()
        self._bell = asyncio.Event()

    async def watch(self) -> AsyncGenerator[Message, None]:
        seen = 0
        while True:
            bell = self._bell
            while seen < len(self._published):
                message = self._published[seen]
                seen += 1
                yield message
            if self._ended:
                return
            await bell.wait()


async def previews_bare(setting: Setting) -> Figures:
    """The same session on the client alone; what it says goes to a list that everyone reads."""
    fanout = BareFanout()

    async def watch() -> tuple[int, int]:
        count = size = 0
        async for message in fanout.watch():
            if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                count += 1
                size += len(message.event["delta"]["text"])
        return count, size

    async def feed(session: Session) -> None:
        await session.send("go")
        async for messages in session.batches():
            last = any(isinstance(message, ResultMessage) for message in messages)
            fanout.publish(messages, last=last)
            if last:
                return

    async with Session(options(setting)) as session:
        with Meter() as meter:
            watching = [asyncio.create_task(watch()) for _ in range(setting.subscribers)]
            await feed(session)
            told = await asyncio.gather(*watching)
    return {**meter.figures, **_delivered(told, setting)}


def options(setting: Setting) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(cli_path=setting.cli, env=setting.env, cwd=setting.folder, include_partial_messages=True)


# Latency


async def late_host(setting: Setting) -> Figures:
    """How late each durable line is at its subscriber, at a steady pace."""
    delays: list[float] = []
    async with a_host(setting) as host:
        ids = await created(host, setting, setting.sessions)
        turns = asyncio.gather(*(frames_of_turn(host, one, _noting(delays)) for one in ids))
        _, figures = await metered(setting, turns)
    return {**figures, **percentiles(delays)}


def _noting(delays: list[float]) -> Callable[[Frame], None]:
    def note(frame: Frame) -> None:
        now = time.monotonic_ns()
        delays.extend((now - int(event.text)) / 1000 for event in frame.events if isinstance(event, TextCompleted))

    return note


async def late_client(setting: Setting) -> Figures:
    """The same with the client alone."""
    delays: list[float] = []

    async def listen(session: Session) -> None:
        async for message in session.prompt("go"):
            now = time.monotonic_ns()
            if isinstance(message, AssistantMessage):
                delays.append((now - int(message.content[0].text)) / 1000)  # type: ignore[union-attr]

    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(Session(options(setting))) for _ in range(setting.sessions)]
        with Meter() as meter:
            await asyncio.gather(*map(listen, sessions))
    return {**meter.figures, **percentiles(delays)}


async def late_store(setting: Setting) -> Figures:
    """How long a commit takes at the same pace: each session commits what has come while its last one was written."""
    delays: list[float] = []
    row = bare_rows(setting, 1)

    async def write(name: str, phase: float) -> None:
        began, done = time.monotonic() + phase / setting.per_second, 0
        while done < setting.count:
            due = min(int((time.monotonic() - began) * setting.per_second), setting.count) - done
            if due <= 0:
                await asyncio.sleep(began + (done + 1) / setting.per_second - time.monotonic())
                continue
            asked = time.monotonic_ns()
            await store.commit(Commit(session=name, fence=1, rows=row * due))
            delays.append((time.monotonic_ns() - asked) / 1000)
            done += due

    names = session_names(setting)
    async with a_store(setting, names) as store:
        with Meter() as meter:
            await asyncio.gather(*(write(name, number / len(names)) for number, name in enumerate(names)))
    return {**meter.figures, **percentiles(delays)}


async def interrupts(setting: Setting) -> Figures:
    """How long it takes from asking for an interrupt until the CLI has read it, while all sessions talk."""
    asked: dict[str, list[int]] = {}

    async def interrupt_in_turn(ids: list[str]) -> None:
        """One at a time: what is measured is not a queue of interrupts."""
        number = 0
        while True:
            session = ids[number % len(ids)]
            asked.setdefault(session, []).append(time.monotonic_ns())
            await host.interrupt(OfSession(session_id=session))
            number += 1
            await asyncio.sleep(1 / 100)

    async with a_host(setting) as host:
        ids = await created(host, setting, setting.sessions)
        turns = asyncio.gather(*(frames_of_turn(host, one) for one in ids))
        interrupting = asyncio.create_task(interrupt_in_turn(ids))
        _, figures = await metered(setting, turns)
        interrupting.cancel()
        delays = [delay for session in asked for delay in await _until_read(host, session, asked[session])]
    return {**figures, **percentiles(delays)}


async def _until_read(host: Host, session: str, asked: list[int]) -> list[float]:
    """By the answers, in which the stand-in says when it read the request."""
    frames = (await host.read_events(ReadEvents(session_id=session, view="raw", limit=1_000_000))).frames
    lines = [json.loads(event.line) for frame in frames for event in frame.events if isinstance(event, RawLine)]
    requests = [line["request_id"] for line in lines if line.get("request", {}).get("subtype") == "interrupt"]
    answers = {
        line["response"]["request_id"]: line["response"]["response"]["read_ns"]
        for line in lines
        if line["type"] == "control_response"
    }
    return [
        (answers[request] - begun) / 1000 for request, begun in zip(requests, asked, strict=False) if request in answers
    ]


# Long sessions


async def fill(setting: Setting) -> dict[str, list[str]]:
    """Not measured: sessions with so many rows, in many turns, and one to warm up with."""
    ids = []
    async with a_host(setting) as host:
        for rows in (*setting.rows, 1):
            (session,) = await created(host, setting, 1)
            ids.append(session)
            while (await host.get_session(OfSession(session_id=session))).seq < rows:
                await frames_of_turn(host, session)
            await host.stop(OfSession(session_id=session))
    return {"ids": ids}


async def opening(setting: Setting) -> Figures:
    """Each session opened at its end by a host that has just started, several times."""
    *ids, warm_up = setting.ids
    took: dict[str, list[Figures]] = {session: [] for session in ids}
    for number in range(setting.count):
        async with setting.host(keeper=False) as host:
            await host.get_timeline(OfSession(session_id=warm_up))
            for session in ids if number % 2 else reversed(ids):
                with Meter() as meter:
                    await host.get_timeline(OfSession(session_id=session))
                took[session].append(meter.figures)
    return {
        f"{name}_{index}": sorted(one[name] for one in took[session])[setting.count // 2]
        for index, session in enumerate(ids)
        for name in ("wall_s", "processor_s")
    }


async def replay_host(setting: Setting) -> Figures:
    """A subscriber that begins at the beginning."""
    session = setting.ids[0]
    async with setting.host(keeper=False) as host:
        last = (await host.get_session(OfSession(session_id=session))).seq
        count = 0
        with Meter() as meter:
            watched = host.watch_session(WatchSession(session_id=session, previews=False))
            async with aclosing(watched):
                async for frame in watched:
                    assert isinstance(frame, Frame)
                    count += 1
                    if frame.seq == last:
                        break
    if count != last:
        raise SystemExit(f"{last} rows, {count} frames")
    return {**meter.figures, "rows": count}


async def replay_bare(setting: Setting) -> Figures:
    """The rows read page by page, decoded and folded into a timeline."""
    session, seq, timeline = setting.ids[0], 0, Timeline()
    async with a_store(setting) as store:
        with Meter() as meter:
            while rows := (await store.read(session, after=seq)).rows:
                for row in rows:
                    if row.kind == "received":
                        timeline.received(decode(row.body), at=row.at)
                    elif row.kind == "sent":
                        timeline.sent(decode(row.body), at=row.at)
                seq = rows[-1].seq
    return {**meter.figures, "rows": seq}


# Many sessions


async def idle(setting: Setting) -> Figures:
    """Memory of sessions that have had a turn and wait for the next prompt."""
    async with a_host(setting) as host:
        await _had_a_turn(host, setting, AT_ONCE)
        keeper = KeeperFacts(setting)
        before, keeper_before = await _settled_kb(), keeper.resident_kb()
        await _had_a_turn(host, setting, setting.sessions)
        grown, keeper_grown = await _settled_kb() - before, keeper.resident_kb() - keeper_before
    return {"kb": grown / setting.sessions, "keeper_kb": keeper_grown / setting.sessions}


async def _had_a_turn(host: Host, setting: Setting, count: int) -> list[str]:
    ids = await created(host, setting, count)
    for at in range(0, count, AT_ONCE):
        await asyncio.gather(*(frames_of_turn(host, one) for one in ids[at : at + AT_ONCE]))
    return ids


async def _settled_kb() -> float:
    await asyncio.sleep(SETTLE_S)
    gc.collect()
    return resident_kb()


async def populate(setting: Setting) -> dict[str, list[str]]:
    """Not measured: sessions with processes that stay with the keeper."""
    async with setting.host() as host:
        return {"ids": await _had_a_turn(host, setting, setting.sessions)}


async def restart(setting: Setting) -> Figures:
    """From the start of this process to a host that has taken up every session."""
    with Meter() as meter:
        host = await setting.host().open()
    reached = time.monotonic()
    try:
        for session in setting.ids:
            state = (await host.get_session(OfSession(session_id=session))).state
            if state != "idle":
                raise SystemExit(f"session {session} is {state} after the restart")
    finally:
        await host.close()
    return {**meter.figures, "start_s": reached - setting.started}


async def leave(setting: Setting) -> Figures:
    """Not measured: end what ``populate`` left."""
    await stop_keeper(setting)
    return {}


_LOADS = (
    *(durable_host, durable_store, previews_host, previews_bare, late_host, late_client, late_store, interrupts),
    *(fill, opening, replay_host, replay_bare, idle, populate, restart, leave),
)
LOADS: dict[str, Callable[[Setting], Awaitable[Any]]] = {load.__name__: load for load in _LOADS}


async def run(load: str, setting: Setting) -> Any:
    return await LOADS[load](setting)


def main() -> None:
    load, setting = sys.argv[1], msgspec.json.decode(sys.argv[2], type=Setting)
    print(json.dumps(asyncio.run(run(load, setting))))


if __name__ == "__main__":
    main()
