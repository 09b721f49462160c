"""How much the database does for a read. Counted, not timed: a step is an instruction of SQLite's own machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from quarterdeck.store import SqliteStore
from quarterdeck.store.commits import PutSnapshot
from quarterdeck.store.queries import ApprovalQuery
from quarterdeck.store.sqlite.folder import StoreFolder
from quarterdeck.store.sqlite.reading import read_approvals, read_rows, read_session, read_snapshot
from store.making import add, ask, row, start

TAIL = 50


def steps(path: Path, read: Callable[[sqlite3.Connection], object]) -> int:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("SELECT 1 FROM logs").fetchall()  # reads the schema, which is not what is counted
        connection.set_progress_handler(step, 1)
        read(connection)
    return count


async def log(store: SqliteStore, name: str, rows: int) -> None:
    await start(store, name, *(row("{}") for _ in range(rows)))
    await add(store, name, changes=[PutSnapshot(rows - TAIL, b"snapshot")])


async def test_opening_a_long_log_at_its_end_is_no_more_work_than_a_short_one(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await log(store, "short", 100)
        await log(store, "long", 30_000)
        await log(store, "other", 100)

    def open_at_its_end(name: str) -> Callable[[sqlite3.Connection], object]:
        def read(connection: sqlite3.Connection) -> None:
            snapshot = read_snapshot(connection, name, None)
            assert snapshot is not None
            limits = {"limit_rows": 1_000, "limit_bytes": 2**20}
            page = read_rows(connection, StoreFolder(tmp_path), name, after=snapshot.seq, **limits)
            assert len(page.rows) == TAIL

        return read

    short, long = (steps(tmp_path / "store.db", open_at_its_end(name)) for name in ("short", "long"))
    assert long <= short * 1.1


async def test_what_is_looked_up_all_the_time_is_found_without_looking_through_everything(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        for number in range(300):
            await start(store, f"s{number}", aliases=(f"cli-{number}",))
        for number in range(300):
            await ask(store, f"a{number}", f"s{number}")
    database = tmp_path / "store.db"
    assert steps(database, lambda connection: read_session(connection, "cli-150")) < 100
    waiting = ApprovalQuery(session="s150", states=["pending"])
    assert steps(database, lambda connection: read_approvals(connection, waiting)) < 100
