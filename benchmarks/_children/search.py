"""One load on search, the index or parked sessions, in a process of its own.

Run as ``python -m benchmarks._children.search LOAD JSON``; prints one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec

from quarterdeck.host import Caller, Host
from quarterdeck.host.callers import PROGRAM
from quarterdeck.host.folding import FOLD_VERSION
from quarterdeck.host.requests import Lifecycle, ListSessions, OfSession, Search
from quarterdeck.host.tending import UNLOAD_S
from quarterdeck.store import Commit, SqliteStore
from quarterdeck.store.commits import PutSession
from quarterdeck.store.records import NewRow, SessionRecord
from quarterdeck.store.search import FILE, Indexed, SearchDocument, SearchIndex, match_of
from quarterdeck.store.sqlite.writer import IDLE_S

from .client import Figures, Meter, resident_kb
from .host import settled_kb
from .host_kit import AT_ONCE, Setting, created, frames_of_turn, stop_keeper

SESSIONS = 1_000
WORDS = 20_000
WORDS_PER_ROW = 30
QUERIES = ("w12", "w40 w90", "w300", "w2500", "w700 w1")
"""Words by how common they are: the first is in every tenth row or so, the last ones in few."""
ROUNDS = 5
LIMIT = 20
PIECE = 5_000
BATCH = 5 * AT_ONCE
"""Sessions that run at the same time before they are parked."""


def documents(count: int) -> Iterator[tuple[int, list[SearchDocument]]]:
    """Session by session, rows of words that are as common as words are."""
    chosen = random.Random(7)  # the same rows each time
    names = [f"w{number}" for number in range(WORDS)]
    weights = [1 / (number + 10) for number in range(WORDS)]
    for session in range(SESSIONS):
        rows = count // SESSIONS
        said = chosen.choices(names, weights, k=rows * WORDS_PER_ROW)
        yield (
            session,
            [
                SearchDocument(row + 1, "text", " ".join(said[row * WORDS_PER_ROW : (row + 1) * WORDS_PER_ROW]))
                for row in range(rows)
            ],
        )


async def fill(setting: Setting) -> dict[str, list[str]]:
    """Not measured: sessions in the store, and their rows in the index."""
    setting.state.mkdir()
    async with await SqliteStore.open(setting.state) as store:
        await store.use_fold(FOLD_VERSION)
        index = SearchIndex(setting.state)
        await index.open()
        for session, rows in documents(setting.count):
            name = f"session-{session}"
            record = SessionRecord(
                id=name, state="stopped", cwd=setting.folder, created_at=1.0, active_at=float(session)
            )
            row = NewRow(at=1.0, kind="event", origin="host", body=b'{"type":"gap"}')
            done = await store.commit(Commit(session=name, rows=[row], changes=[PutSession(record)]))
            head = await store.head(name)
            assert head is not None
            about = f"\n{setting.folder}"
            for at in range(0, len(rows), PIECE):
                await index.add(name, Indexed(head.epoch, done.last_seq, about), rows[at : at + PIECE])
        await index.close()
    return {"ids": []}


async def search_host(setting: Setting, caller: Caller = PROGRAM) -> Figures:
    """Each query, several times, by the host's own operation."""
    async with setting.host(keeper=False, lifecycle=Lifecycle()) as host:
        for query in QUERIES:
            await host.search(Search(q=query, limit=LIMIT), caller)
        with Meter() as meter:
            found = [len((await host.search(Search(q=query, limit=LIMIT), caller)).hits) for query in QUERIES * ROUNDS]
    return {**meter.figures, "queries": float(len(found)), "hits": float(sum(found))}


async def search_unseen(setting: Setting) -> Figures:
    """The same for a token that is limited to a folder without sessions."""
    return await search_host(setting, Caller(name="limited", scope="read", folders=("/nowhere",)))


async def search_bare(setting: Setting) -> Figures:
    """The same with nothing but the database."""
    connection = sqlite3.connect(setting.state / FILE)
    statement = """SELECT rowid, snippet(texts, 0, char(2), char(3), '…', 24) FROM texts
        WHERE texts MATCH ? ORDER BY rank LIMIT ?"""

    def ask(query: str) -> int:
        return len(connection.execute(statement, (match_of(query.split()), LIMIT)).fetchall())

    for query in QUERIES:
        ask(query)
    with Meter() as meter:
        found = [ask(query) for query in QUERIES * ROUNDS]
    connection.close()
    return {**meter.figures, "queries": float(len(found)), "hits": float(sum(found))}


async def _ingest(setting: Setting, *, index: bool) -> Figures:
    """Sessions that flood with rows, each with a subscriber."""
    try:
        async with setting.host(index=index) as host:
            ids = await created(host, setting, setting.sessions)
            with Meter() as meter:
                counts = await asyncio.gather(*(frames_of_turn(host, one) for one in ids))
            behind = 0.0
            if index:
                began = time.perf_counter()
                while (await host.search(Search(q="nothing"))).behind:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                behind = time.perf_counter() - began
    finally:
        await stop_keeper(setting)
    return {**meter.figures, "rows": float(sum(counts)), "behind_s": behind}


async def ingest_indexed(setting: Setting) -> Figures:
    return await _ingest(setting, index=True)


async def ingest_plain(setting: Setting) -> Figures:
    return await _ingest(setting, index=False)


class _Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


async def parked(setting: Setting) -> Figures:
    """Memory of sessions that have had a turn and were parked."""
    clock = _Clock()
    try:
        async with setting.host(clock=clock, lifecycle=Lifecycle(park_s=600.0, restarts=0)) as host:
            await _parked(host, setting, clock, BATCH)  # what so many need while they run stays with the process
            before = await _idle_kb()
            await _parked(host, setting, clock, setting.sessions)
            grown = await _idle_kb() - before
    finally:
        await stop_keeper(setting)
    return {"kb": grown / setting.sessions, "host_kb": resident_kb()}


async def _idle_kb() -> float:
    """Of a host that has had nothing to write for a while."""
    await asyncio.sleep(IDLE_S * 1.5)
    return await settled_kb()


async def _parked(host: Host, setting: Setting, clock: _Clock, count: int) -> None:
    """A batch at a time: only so many processes may run."""
    done = 0
    while done < count:
        ids = await created(host, setting, min(BATCH, count - done))
        done += len(ids)
        await asyncio.gather(*(frames_of_turn(host, one) for one in ids))
        states = {"idle"}
        while states != {"parked"}:
            clock.now += 700.0
            host.tend()
            await asyncio.sleep(0.02)
            states = {(await host.get_session(OfSession(session_id=one))).state for one in ids}
        while host._busy:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for one in ids:
            host._actors[one].touched -= UNLOAD_S
        host.tend()
        while any(one in host._actors for one in ids):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await host.list_sessions(ListSessions(limit=1))


_LOADS = (fill, search_host, search_unseen, search_bare, ingest_indexed, ingest_plain, parked)
LOADS: dict[str, Callable[[Setting], Awaitable[Any]]] = {load.__name__: load for load in _LOADS}


def main() -> None:
    load, setting = sys.argv[1], msgspec.json.decode(sys.argv[2], type=Setting)
    print(json.dumps(asyncio.run(LOADS[load](setting))))


if __name__ == "__main__":
    main()
