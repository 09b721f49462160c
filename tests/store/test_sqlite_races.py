"""Several processes, several loops, slow readers: nobody is in anybody's way."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import soak
from quarterdeck.store import SqliteStore
from quarterdeck.store.sqlite import connecting, writer
from store.children import child
from store.making import add, ask, bodies, everything, row, start

PROCESSES = 4


async def test_racing_processes_have_one_winner_for_each_approval(tmp_path: Path) -> None:
    names = [f"a{number}" for number in range(200)]
    async with await SqliteStore.open(tmp_path, shared=True, sync="normal") as store:
        await start(store)
        await asyncio.gather(*(ask(store, name) for name in names))
    racers = []
    for number in range(PROCESSES):
        mine = names * 2 if number == 0 else list(names)  # a thousand decisions in all
        random.Random(soak.SEED + number).shuffle(mine)
        racers.append(child("race", str(tmp_path), f"racer-{number}", ",".join(mine)))
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == b"ready\n"
        told = await asyncio.gather(*(asyncio.to_thread(racer.communicate, b"go\n") for racer in racers))
    finally:
        for racer in racers:
            racer.kill()
            racer.wait()
    results = [json.loads(out) for out, _ in told]
    winners = {name: f"racer-{number}" for number, result in enumerate(results) for name in result["won"]}
    assert sorted(name for result in results for name in result["won"]) == sorted(names)
    assert all(winners[name] == winner for result in results for name, winner in result["lost"].items())
    async with await SqliteStore.open(tmp_path) as store:
        for name in names:
            found = await store.approval(name)
            assert found is not None
            assert found.decision is not None
            assert found.decision.by == winners[name]
        assert len(await everything(store)) == 400
        assert await store.check() == []


def test_a_loop_that_ended_before_its_answer_harms_nobody(tmp_path: Path) -> None:
    async def leave(store: SqliteStore) -> None:
        task = asyncio.create_task(add(store, "s", b"left behind"))
        await asyncio.sleep(0)
        task.cancel()

    async def open_and_start() -> SqliteStore:
        store = await SqliteStore.open(tmp_path)
        await start(store)
        return store

    async def go_on(store: SqliteStore) -> list[bytes]:
        async with store:
            await add(store, "s", b"from another loop")
            return await bodies(store)

    store = asyncio.run(open_and_start())
    asyncio.run(leave(store))
    assert asyncio.run(go_on(store))[-1] == b"from another loop"


async def test_a_row_that_cannot_be_kept_harms_no_commit_beside_it(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store)
        bad = add(store, "s", row(generation=2**70))
        results = await asyncio.gather(add(store, "s", b"1"), bad, add(store, "s", b"2"), return_exceptions=True)
        assert [type(one).__name__ for one in results] == ["Committed", "InvalidCommit", "Committed"]
        assert await bodies(store) == [b"1", b"2"]


@pytest.fixture
def small_wal(monkeypatch: pytest.MonkeyPatch) -> int:
    """The write-ahead log at a hundredth of its size."""
    size = 160 * 1024
    monkeypatch.setattr(connecting, "WAL_BYTES", size)
    monkeypatch.setattr(writer, "WAL_BYTES", size)
    monkeypatch.setattr(writer, "WAL_LIMIT_BYTES", 2 * size)
    monkeypatch.setattr(writer, "RESTART_WAIT_MS", 1)
    return size


async def test_a_reader_that_takes_its_time_does_not_make_the_write_ahead_log_grow(
    tmp_path: Path, small_wal: int
) -> None:
    wal = tmp_path / "store.db-wal"
    sizes = []
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await start(store, "s", *(row(f"{number}") for number in range(200)))
        after = 0
        while page := (await store.read("s", after=after, limit_rows=2)).rows:
            after = page[-1].seq
            if after < 200:
                await add(store, "s", bytes(20_000))
            sizes.append(wal.stat().st_size)
    assert max(sizes) < 3 * small_wal


async def test_another_programs_long_read_makes_it_grow_only_as_long_as_it_lasts(
    tmp_path: Path, small_wal: int
) -> None:
    wal = tmp_path / "store.db-wal"
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await start(store)
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM rows").fetchall()
            for _ in range(80):
                await add(store, "s", bytes(20_000))
            assert wal.stat().st_size > 4 * small_wal
            assert reader.execute("SELECT count(*) FROM rows").fetchone() == (0,)
        for _ in range(20):
            await add(store, "s", bytes(20_000))
        assert wal.stat().st_size < 3 * small_wal
        assert len(await everything(store)) == 100


async def test_reads_answer_while_the_writer_waits_for_a_lock(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, busy_s=60.0) as store:
        await start(store, "s", row("before"))
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(add(store, "s", b"after"))
            for _ in range(20):
                assert await bodies(store) == [b"before"]
            assert not waiting.done()
        await waiting
        assert await bodies(store) == [b"before", b"after"]
