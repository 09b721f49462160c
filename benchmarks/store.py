"""The store on SQLite: durable rows per second, how long a commit takes, and reading it all again.

``python -m benchmarks.store`` prints the tables (``--json`` for a program). Beside it stands ``sqlite3`` itself, with
nothing around it: one connection, one thread, a table of bodies, the same rows in transactions of a thousand. Rows are
lines recorded from the real CLI, without those that are no rows. The database is in the current folder's file system,
since a temporary folder may be in memory, where a sync costs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from quarterdeck.store import Commit, SqliteStore, Sync
from quarterdeck.store.commits import PutSession, PutSnapshot
from quarterdeck.store.records import NewRow, SessionRecord
from quarterdeck.timeline import Timeline
from quarterdeck.wire import decode

from ._arguments import Size, parse
from ._lines import recorded
from ._table import Row, Section, say, show

BARE = "bare sqlite3"
ROUNDS = Size(full=5, quick=2)
ROWS = Size(full=60_000, quick=10_000)
LONG_LOG, SHORT_LOG = 100_000, 1_000
SNAPSHOT_EVERY = 500
OPENINGS = 200
LONGEST_BYTES = 4_096
"""Longer lines are left out: a few of them would be most of the bytes, and the disk all that is measured."""
NOT_ROWS = (b'"type":"stream_event"', b'"type":"keep_alive"', b'"subtype":"thinking_tokens"')
WRITTEN_TARGET = 0.5


class Load(NamedTuple):
    """So many sessions at once, each with so many rows in a commit."""

    sessions: int
    rows: int

    def __str__(self) -> str:
        if self == (1, 1):
            return "one row at a time"
        return f"{self.sessions} sessions at once, {self.rows} row{'s' if self.rows > 1 else ''} in a commit"


LOADS = (Load(20, 100), Load(20, 10), Load(200, 1), Load(1, 1))


def lines() -> tuple[bytes, ...]:
    return tuple(
        line for line in recorded() if len(line) <= LONGEST_BYTES and not any(mark in line for mark in NOT_ROWS)
    )


def rows(count: int) -> list[NewRow]:
    bodies = itertools.islice(itertools.cycle(lines()), count)
    return [NewRow(at=1.0, kind="received", origin="agent", body=body, generation=1) for body in bodies]


def record(name: str) -> SessionRecord:
    return SessionRecord(id=name, state="idle", cwd="/w", created_at=1.0, active_at=1.0)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".benchmark-") as made:
        yield Path(made)


class Speed(NamedTuple):
    """Wall-clock time, and in CPU time, which a busy machine changes less."""

    rows_per_s: float
    us_per_row: float


class Stopwatch:
    def __init__(self) -> None:
        self._started = time.perf_counter(), time.process_time()

    def speed(self, count: int) -> Speed:
        started, used = self._started
        return Speed(count / (time.perf_counter() - started), (time.process_time() - used) / count * 1e6)


def bare_speed(count: int, sync: Sync) -> Speed:
    """Of ``sqlite3`` alone, in transactions of a thousand."""
    values = [(row.body,) for row in rows(count)]
    with folder() as place, contextlib.closing(sqlite3.connect(place / "bare.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {sync.upper()}")
        connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        watch = Stopwatch()
        for at in range(0, count, 1_000):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO rows (body) VALUES (?)", values[at : at + 1_000])
            connection.execute("COMMIT")
        return watch.speed(count)


async def written(store: SqliteStore, load: Load, count: int) -> tuple[Speed, list[float]]:
    """How fast, and the milliseconds of each commit."""
    waits: list[float] = []

    async def one(name: str, own: list[NewRow]) -> None:
        for at in range(0, len(own), load.rows):
            started = time.perf_counter()
            await store.commit(Commit(session=name, fence=1, rows=own[at : at + load.rows]))
            waits.append((time.perf_counter() - started) * 1000)

    names = [f"s{number}" for number in range(load.sessions)]
    for name in names:
        await store.commit(Commit(session=name, changes=[PutSession(record(name))]))
    every = max(count // load.sessions, load.rows)
    own = rows(every)
    watch = Stopwatch()
    await asyncio.gather(*(one(name, own) for name in names))
    return watch.speed(every * load.sessions), waits


async def write(load: Load, count: int, sync: Sync) -> tuple[Speed, list[float]]:
    with folder() as place:
        async with await SqliteStore.open(place, sync=sync) as store:
            return await written(store, load, count)


def writing(sync: Sync, *, quick: bool) -> Section:
    count = ROWS.of(quick)
    bare: list[Speed] = []
    speeds: dict[Load, list[Speed]] = {load: [] for load in LOADS}
    waits: dict[Load, list[float]] = {load: [] for load in LOADS}
    for number in range(ROUNDS.of(quick)):
        say(f"writing with {sync} sync, round {number + 1} of {ROUNDS.of(quick)}")
        bare.append(bare_speed(count, sync))
        for load in LOADS:  # what waits for every sync does less
            speed, took = asyncio.run(write(load, min(count, load.sessions * load.rows * 50), sync))
            speeds[load].append(speed)
            waits[load] += took
    table = []
    for load, samples in speeds.items():
        target = WRITTEN_TARGET if load is LOADS[0] else None
        rates = [speed.rows_per_s for speed in samples], [speed.rows_per_s for speed in bare]
        costs = [speed.us_per_row for speed in samples], [speed.us_per_row for speed in bare]
        table.append(Row(str(load), "rows/s", *rates, better="higher", target=target, against=BARE))
        table.append(Row("· CPU time per row", "µs", *costs, against=BARE))
        for percent in (50, 99):
            took = statistics.quantiles(waits[load], n=100)[percent - 1]
            table.append(Row(f"· commit time, p{percent}", "ms", [took]))
    notes = {
        "full": "A commit returns when it is synced to the disk; commits that arrive in the meantime share the next "
        "sync.",
        "normal": "A commit survives the process, but perhaps not the loss of power.",
    }
    return Section(f"Writing, {sync} sync", table, [f"{notes[sync]} A row has {mean_bytes():.0f} bytes on average."])


def mean_bytes() -> float:
    return statistics.mean(map(len, lines()))


async def fill(store: SqliteStore, name: str, count: int) -> None:
    """A log with a snapshot of every few hundred rows."""
    await store.commit(Commit(session=name, changes=[PutSession(record(name))]))
    for at in range(0, count, SNAPSHOT_EVERY):
        snapshot = PutSnapshot(at + SNAPSHOT_EVERY, bytes(50_000))
        await store.commit(Commit(session=name, fence=1, rows=rows(SNAPSHOT_EVERY), changes=[snapshot]))
    await store.commit(Commit(session=name, fence=1, rows=rows(SNAPSHOT_EVERY // 2)))


async def opened_ms(store: SqliteStore, name: str) -> float:
    """The newest snapshot and the rows after it."""
    started = time.perf_counter()
    snapshot = await store.snapshot(name)
    assert snapshot is not None
    page = await store.read(name, after=snapshot.seq)
    assert len(page.rows) == SNAPSHOT_EVERY // 2
    return (time.perf_counter() - started) * 1000


async def replayed(store: SqliteStore, name: str, timeline: Timeline | None) -> float:
    """Rows per second, from the first to the last; with a timeline, each is decoded and folded."""
    count, started = 0, time.perf_counter()
    while page := (await store.read(name, after=count)).rows:
        count += len(page)
        if timeline is not None:
            for row in page:
                timeline.received(decode(row.body), at=row.at)
    return count / (time.perf_counter() - started)


def bare_read(place: Path) -> float:
    """Rows per second of ``sqlite3`` alone, bodies only."""
    with contextlib.closing(sqlite3.connect(place / "store.db")) as connection:
        started = time.perf_counter()
        found = connection.execute("SELECT body FROM rows WHERE id >> 40 = 1").fetchall()
        return len(found) / (time.perf_counter() - started)


async def read(*, quick: bool) -> Section:
    short, long, reads, folds, bare = [], [], [], [], []
    with folder() as place:
        async with await SqliteStore.open(place, sync="normal") as store:
            say(f"writing a log of {LONG_LOG} rows")
            await fill(store, "long", LONG_LOG)
            await fill(store, "short", SHORT_LOG)
            for number in range(ROUNDS.of(quick)):
                say(f"reading, round {number + 1} of {ROUNDS.of(quick)}")
                for _ in range(OPENINGS):
                    short.append(await opened_ms(store, "short"))
                    long.append(await opened_ms(store, "long"))
                reads.append(await replayed(store, "long", None))
                bare.append(await asyncio.to_thread(bare_read, place))
                folds.append(await replayed(store, "long", Timeline()))
    opening = f"opening a log of {LONG_LOG:,} rows at its end".replace(",", " ")
    against = f"{SHORT_LOG:,} rows".replace(",", " ")
    table = [
        Row(opening, "ms", long, short, target=0.5, against=against),
        Row("reading all of it, page by page", "rows/s", reads, bare, better="higher", against=f"{BARE}, at once"),
        Row("the same, decoded and folded", "rows/s", folds, better="higher"),
    ]
    notes = [f"A snapshot of 50 KB every {SNAPSHOT_EVERY} rows; opening reads the newest and the rows after it."]
    return Section("Reading", table, notes)


def run(*, quick: bool) -> list[Section]:
    return [writing("full", quick=quick), writing("normal", quick=quick), asyncio.run(read(quick=quick))]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
