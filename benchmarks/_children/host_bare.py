"""Bare programs, each of which does one of the host's jobs: loads for ``benchmarks._children.host``."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Generic, TypeVar

from quarterdeck import AssistantMessage, ResultMessage, Session, StreamEvent
from quarterdeck.keeper import KeeperClient
from quarterdeck.keeper.transport import KeeperTransport
from quarterdeck.store import Commit, Committed, SqliteStore
from quarterdeck.store.commits import PutSession
from quarterdeck.store.errors import StoreError
from quarterdeck.store.records import NewRow, SessionRecord
from quarterdeck.timeline import Timeline
from quarterdeck.transport import ChildCommand, ExitStatus
from quarterdeck.wire import Message, decode

from .client import Figures, Meter, percentiles
from .host_kit import Setting, delivered, metered, options

ROWS_PER_COMMIT = 100
PROMPT = b'{"type":"user","message":{"role":"user","content":"go"}}\n'
RESULT = b'"type":"result"'

T = TypeVar("T")
_TIME = re.compile(rb'"text":"(\d+)"')


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


class BareFanout(Generic[T]):
    """Everything that is published, for everyone who watches: a list, and a bell."""

    def __init__(self) -> None:
        self._published: list[T] = []
        self._bell = asyncio.Event()
        self._ended = False

    def publish(self, messages: Sequence[T], *, last: bool = False) -> None:
        self._published += messages
        self._ended = last
        self._bell.set()
        self._bell = asyncio.Event()

    async def watch(self) -> AsyncGenerator[T, None]:
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
    fanout = BareFanout[Message]()

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


class _Committing:
    """Takes a process's bytes: whole lines are a commit, and shown when it is durable."""

    def __init__(self, store: SqliteStore, name: str) -> None:
        self.shown = BareFanout[bytes]()
        self._store = store
        self._name = name
        self._rest = b""

    def bytes_received(self, data: bytes) -> None:
        lines = BytesIO(self._rest + data).readlines()
        self._rest = b"" if lines[-1].endswith(b"\n") else lines.pop()

        def show(outcome: Committed | StoreError) -> None:
            if isinstance(outcome, StoreError):
                self.shown.publish([], last=True)
            else:
                self.shown.publish(lines, last=RESULT in lines[-1])

        if lines:
            rows = [NewRow(at=1.0, kind="received", origin="agent", body=line, generation=1) for line in lines]
            self._store.submit(Commit(session=self._name, fence=1, rows=rows), show)

    def eof_received(self) -> None:
        """It does not end before we end it."""

    def exited(self, status: ExitStatus) -> None:
        """It does not end before we end it."""


async def _only_durable(setting: Setting, see: Callable[[bytes], None] = lambda _: None) -> tuple[int, Figures]:
    """What durability alone takes: lines come from the keeper, are committed, and then shown. None is decoded."""

    async def turn(transport: KeeperTransport, taking: _Committing) -> int:
        transport.write(PROMPT)
        count = 0
        async for line in taking.shown.watch():
            count += 1
            see(line)
        return count

    names, started = session_names(setting), []
    command = ChildCommand([setting.cli], setting.folder, {**os.environ, **setting.env, "HOME": setting.folder})
    async with a_store(setting, names) as store, await KeeperClient.open(setting.state / "keeper") as keeper:
        try:
            for name in names:
                transport, taking = keeper.start(name, command, durable=True), _Committing(store, name)
                await transport.start(taking)
                started.append((transport, taking))
            counts, figures = await metered(setting, asyncio.gather(*(turn(*one) for one in started)))
        finally:
            await keeper.stop()
    if len(set(counts)) != 1:
        raise SystemExit(f"each session says the same, and these many lines were committed: {sorted(counts)}")
    return sum(counts), figures


async def durable_floor(setting: Setting) -> Figures:
    """The flood of the durable events, with nothing but the keeper, the store and a list."""
    rows, figures = await _only_durable(setting)
    return {**figures, "rows": rows}


async def late_floor(setting: Setting) -> Figures:
    """How late each durable line is, with nothing but the keeper, the store and a list."""
    delays: list[float] = []

    def note(line: bytes) -> None:
        now = time.monotonic_ns()
        if (told := _TIME.search(line)) is not None:
            delays.append((now - int(told[1])) / 1000)

    _, figures = await _only_durable(setting, note)
    return {**figures, **percentiles(delays)}


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


LOADS = (durable_store, durable_floor, previews_bare, late_client, late_store, late_floor, replay_bare)
