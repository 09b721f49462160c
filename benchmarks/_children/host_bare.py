"""Bare programs, each of which does one of the host's jobs: loads for ``benchmarks._children.host``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from quarterdeck import AssistantMessage, ResultMessage, Session, StreamEvent
from quarterdeck.store import Commit, SqliteStore
from quarterdeck.store.commits import PutSession
from quarterdeck.store.records import NewRow, SessionRecord
from quarterdeck.timeline import Timeline
from quarterdeck.wire import Message, decode

from .client import Figures, Meter, percentiles
from .host_kit import Setting, delivered, options

ROWS_PER_COMMIT = 100


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
    return {**meter.figures, **delivered(told, setting)}


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


LOADS = (durable_store, previews_bare, late_client, late_store, replay_bare)
