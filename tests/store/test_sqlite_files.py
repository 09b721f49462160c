"""The folder of a store: who may open it, what is in it, and bodies that are too large for the database."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from inside import tables_of, writing_connection
from quarterdeck.host import Host
from quarterdeck.store import SqliteStore
from quarterdeck.store.commits import DeleteSession, PutSnapshot
from quarterdeck.store.errors import StorageCorrupt, StoreInUse
from quarterdeck.store.queries import Retention
from quarterdeck.store.sqlite.folder import LARGE_BYTES
from store.children import child
from store.making import add, bodies, everything, row, start


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies of more than 1,000 bytes are large."""
    monkeypatch.setattr("quarterdeck.store.sqlite.tables.LARGE_BYTES", 1_000)


def large_files(folder: Path) -> list[int]:
    return sorted(path.stat().st_size for path in (folder / "large").iterdir())


async def test_everything_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store, "s", row("one"))
        await store.claim(["s"], owner="b")
        head, position = await store.head("s"), await store.position()
    async with await SqliteStore.open(tmp_path) as store:
        assert (await store.head("s"), await store.position()) == (head, position)
        assert await bodies(store) == [b"one"]


async def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "store"
    async with await SqliteStore.open(folder) as store:
        await start(store)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes == {
        "store": 0o700,
        "large": 0o700,
        "store.db": 0o600,
        "store.db-wal": 0o600,
        "store.db-shm": 0o600,
        "store.lock": 0o600,
    }


@pytest.mark.parametrize(("given", "pragma"), [({}, 2), ({"sync": "full"}, 2), ({"sync": "normal"}, 1)])
async def test_a_commit_waits_for_the_disk_unless_asked_otherwise(
    tmp_path: Path, given: dict[str, Any], pragma: int
) -> None:
    async with await SqliteStore.open(tmp_path, **given) as store:
        await start(store)
        assert writing_connection(store).execute("PRAGMA synchronous").fetchone() == (pragma,)


async def test_a_host_waits_for_the_disk(tmp_path: Path) -> None:
    async with Host(tmp_path, keeper=False) as host:
        assert writing_connection(host.store).execute("PRAGMA synchronous").fetchone() == (2,)


async def test_a_second_host_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path):
        with pytest.raises(StoreInUse, match=f"process {os.getpid()} is using") as refused:
            await SqliteStore.open(tmp_path)
        assert refused.value.pid == os.getpid()
        other = child("hold", str(tmp_path))
        out, _ = other.communicate()
        assert f"process {os.getpid()} is using {tmp_path}".encode() in out
    async with await SqliteStore.open(tmp_path):
        pass


async def test_a_host_and_those_who_share_keep_each_other_out(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, shared=True), await SqliteStore.open(tmp_path, shared=True) as store:
        await start(store)
        with pytest.raises(StoreInUse):
            await SqliteStore.open(tmp_path)
    async with await SqliteStore.open(tmp_path):
        with pytest.raises(StoreInUse):
            await SqliteStore.open(tmp_path, shared=True)


async def test_many_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    opening = [SqliteStore.open(tmp_path, shared=True) for _ in range(8)]
    stores = await asyncio.gather(*opening)
    await asyncio.gather(*(start(store, f"s{number}") for number, store in enumerate(stores)))
    assert len(await stores[0].heads()) == 8
    assert await stores[0].check() == []
    for store in stores:
        await store.close()


async def test_a_host_that_was_killed_leaves_no_lock(tmp_path: Path) -> None:
    other = child("hold", str(tmp_path))
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"holding\n"
        with pytest.raises(StoreInUse, match=f"process {other.pid} is using"):
            await SqliteStore.open(tmp_path)
    finally:
        other.kill()
        other.communicate()
    async with await SqliteStore.open(tmp_path) as store:
        await start(store)


async def test_a_row_of_64_mib_is_in_the_database_and_a_larger_one_beside_it(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await start(store, "s", row("first"))
        limit = b"\0" + bytes(LARGE_BYTES - 2) + b"\n"
        await add(store, "s", limit)
        assert large_files(tmp_path) == []
        await add(store, "s", limit + b"!", b"last")
        assert large_files(tmp_path) == [LARGE_BYTES + 1]
        found = await everything(store)
        assert [len(one.body) for one in found] == [5, LARGE_BYTES, LARGE_BYTES + 1, 4]
        assert found[1].body == limit
        assert found[2].body == limit + b"!"


@pytest.mark.usefixtures("small_limit")
async def test_a_large_body_is_read_checked_and_counted_as_any_other(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store, "s", row(b"a" * 1_000), row(b"b" * 1_001), row(b"c" * 5_000))
        assert large_files(tmp_path) == [1_001, 5_000]
        assert await bodies(store) == [b"a" * 1_000, b"b" * 1_001, b"c" * 5_000]
        head = await store.head("s")
        assert head is not None
        assert head.size_bytes == 7_001
        assert len((await store.read("s", limit_bytes=1_500)).rows) == 2
        assert await store.check() == []


@pytest.mark.usefixtures("small_limit")
async def test_a_large_body_goes_with_its_row(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store, "s", row(bytes(2_000)), row(bytes(3_000)))
        await start(store, "t", row(bytes(4_000)))
        await add(store, "s", changes=[PutSnapshot(1, b"")])
        await store.retain(Retention(row_bytes=3_000), now=0.0)
        assert large_files(tmp_path) == [3_000, 4_000]
        await add(store, "t", changes=[DeleteSession()])
    async with await SqliteStore.open(tmp_path) as store:  # the rows of a deleted session go when there is time
        assert await bodies(store) == []


@pytest.mark.usefixtures("small_limit")
async def test_a_large_body_that_is_missing_is_told(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store, "s", row(bytes(2_000)))
        (path,) = (tmp_path / "large").iterdir()
        path.write_bytes(b"short")
        with pytest.raises(StorageCorrupt, match="should have 2000 bytes but has 5"):
            await everything(store)
        path.unlink()
        with pytest.raises(StorageCorrupt, match="has 0"):
            await everything(store)
        assert await store.check() == [f"{path} should have 2000 bytes but has 0"]


@pytest.mark.usefixtures("small_limit")
async def test_files_that_no_row_names_are_removed_at_the_start(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store, "s", row(bytes(2_000)))
    for name in ("00000000000000ff", "0000010000000002.partial"):
        (tmp_path / "large" / name).write_bytes(b"left by a process that died")
    async with await SqliteStore.open(tmp_path) as store:
        assert large_files(tmp_path) == [2_000]
        assert await bodies(store) == [bytes(2_000)]


async def test_the_rows_of_a_deleted_session_are_removed_and_the_file_gets_smaller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quarterdeck.store.sqlite.upkeep.FREE_PAGES_KEPT", 10)
    monkeypatch.setattr("quarterdeck.store.sqlite.upkeep.PIECE_ROWS", 100)
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await start(store, "s", *(row(bytes(4_000)) for _ in range(1_000)))
        await start(store, "t", row("kept"))
        await add(store, "s", changes=[DeleteSession()])
    full = (tmp_path / "store.db").stat().st_size
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        while tables_of(store) is not None and tables_of(store).has_deleted_logs:
            await add(store, "t", b"more")
        await store.retain(Retention(), now=0.0)
        assert await store.check() == []
        assert (await bodies(store, "t"))[0] == b"kept"
    assert (tmp_path / "store.db").stat().st_size < full / 4


async def test_a_store_that_nobody_writes_to_gives_its_cache_back_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr("quarterdeck.store.sqlite.writer.IDLE_S", 0.01)
    monkeypatch.setattr("quarterdeck.store.sqlite.writer.give_back", lambda: given_back.append(True))
    async with asyncio.timeout(30), await SqliteStore.open(tmp_path) as store:
        await start(store, "s", row("one"))
        done: list[str] = []
        tables = tables_of(store)
        assert tables is not None
        tables.connection.set_trace_callback(done.append)
        for text in ("two", "three"):
            await add(store, "s", row(text))
            given_back.clear()
            while done[-1:] != ["PRAGMA shrink_memory"] or not given_back:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await bodies(store) == [b"one", b"two", b"three"]
