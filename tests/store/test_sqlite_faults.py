"""Disk and database refuse: the error says what to do, nothing is half written, and the store goes on by itself."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from inside import tables_of
from quarterdeck.store import SqliteStore, StoreError
from quarterdeck.store.commits import PutSnapshot
from quarterdeck.store.errors import (
    StorageBusy,
    StorageCorrupt,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
)
from quarterdeck.store.queries import Retention
from quarterdeck.store.sqlite.faults import store_error
from quarterdeck.store.sqlite.folder import StoreFolder
from quarterdeck.store.sqlite.tables import SqliteTables
from store.children import child
from store.making import add, bodies, everything, row, start

NOBODY = 65534
PAGE_BYTES = 4096


async def test_a_store_at_its_limit_refuses_and_goes_on_when_retention_has_made_room(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, sync="normal", max_bytes=400_000) as store:
        await start(store)
        written = []
        with pytest.raises(StorageFull, match=r"disk is full: .*store\.db.*Free some space"):
            for number in range(100):
                await add(store, "s", row(body := str(number).encode() * 4_000))
                written.append(body)
        assert await bodies(store) == written
        await add(store, "s", changes=[PutSnapshot(len(written) - 1, b"snapshot")])
        await store.retain(Retention(row_bytes=10_000), now=0.0)
        await add(store, "s", b"there is room")
        assert [one.body for one in await everything(store, after=len(written) - 1)] == [written[-1], b"there is room"]
        assert await store.check() == []


async def test_a_full_group_fails_as_one_and_each_caller_is_told(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, sync="normal", max_bytes=400_000) as store:
        await start(store)
        commits = (add(store, "s", bytes(50_000)) for _ in range(40))
        results = await asyncio.gather(*commits, return_exceptions=True)
        refused = [one for one in results if isinstance(one, StorageFull)]
        done = [one for one in results if not isinstance(one, BaseException)]
        assert len(refused) + len(done) == 40
        assert len(set(map(id, refused))) == len(refused) > 0
        assert len(await everything(store)) == len(done)
        await add(store, "s", b"small")
        assert await store.check() == []


def can_mount() -> bool:
    return (
        shutil.which("unshare") is not None and subprocess.run(["unshare", "-Urm", "true"], check=False).returncode == 0
    )


def test_a_disk_that_gets_full_loses_nothing_and_one_that_has_room_again_is_used(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("this user may not mount a small disk of its own")
    mount = 'mount -t tmpfs -o size=3m none "$0" && exec "$@"'
    process = child("fill", str(tmp_path), before=("unshare", "-Urm", "sh", "-c", mount, str(tmp_path)))
    out, _ = process.communicate()
    assert (out, process.returncode) == (b"survived\n", 0)


async def test_a_large_body_without_room_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.store.sqlite.tables.LARGE_BYTES", 1_000)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await start(store)
        with monkeypatch.context() as broken:
            broken.setattr("quarterdeck.store.sqlite.folder.os.fsync", full)
            with pytest.raises(StorageFull):
                await add(store, "s", bytes(2_000))
        assert list((tmp_path / "large").iterdir()) == []
        await add(store, "s", bytes(2_000))
        assert await bodies(store) == [bytes(2_000)]


@contextmanager
def without_root(folder: Path) -> Iterator[None]:
    """As somebody whom permissions stop."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that other users reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("mode", [0o444, 0o644])
async def test_a_store_that_cannot_be_written_is_not_opened(public_folder: Path, mode: int) -> None:
    folder = public_folder / "store"
    async with await SqliteStore.open(folder) as store:
        await start(store)
    for path in (folder, folder / "large"):
        path.chmod(0o555 if mode == 0o444 else 0o755)
    for path in (folder / "store.db", folder / "store.lock"):
        path.chmod(mode)
    if os.geteuid() != 0 and mode == 0o644:
        pytest.skip("only root can make a folder that is somebody else's")
    with without_root(folder), pytest.raises(StorageReadOnly, match="read-only for this user"):
        await SqliteStore.open(folder)
    folder.chmod(0o755)
    async with await SqliteStore.open(folder) as store:
        assert await store.head("s") is not None


async def test_a_locked_database_is_waited_for_then_refused_then_used_again(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path, busy_s=0.05) as store:
        await start(store)
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageBusy, match="Another program has locked"):
                await add(store, "s", b"locked out")
            assert await bodies(store) == []
        await add(store, "s", b"in")
        assert await bodies(store) == [b"in"]


def damage(path: Path, first_page: int, pages: int) -> None:
    with path.open("rb+") as file:
        file.seek(first_page * PAGE_BYTES)
        file.write(b"\xa5" * pages * PAGE_BYTES)


async def test_damaged_pages_are_told_and_what_they_do_not_hold_is_still_read(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store, "s", *(row(bytes(500)) for _ in range(2_000)))
        await start(store, "t", row("elsewhere"))
    pages = (tmp_path / "store.db").stat().st_size // PAGE_BYTES
    damage(tmp_path / "store.db", pages // 2, 5)
    async with await SqliteStore.open(tmp_path) as store:
        with pytest.raises(StorageCorrupt, match=r"is damaged .* restore a backup"):
            await everything(store)
        assert await bodies(store, "t") == [b"elsewhere"]
        problems = await store.check()
        assert problems
        assert all("store.db" in problem for problem in problems)


async def test_a_file_that_is_no_database_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"this is no database " * 1_000)
    with pytest.raises(StorageCorrupt, match="is damaged"):
        await SqliteStore.open(tmp_path)


async def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db")) as other:
        other.execute("CREATE TABLE theirs (a)")
    before = (tmp_path / "store.db").read_bytes()
    with pytest.raises(StorageCorrupt, match="another program's database"):
        await SqliteStore.open(tmp_path)
    assert (tmp_path / "store.db").read_bytes() == before


async def test_after_an_error_of_the_disk_the_database_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store)
        used = tables_of(store)

        def broken(tables: SqliteTables) -> None:
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as breaking:
            breaking.setattr(SqliteTables, "flush", broken)
            with pytest.raises(StorageFailed, match="Check the disk"):
                await add(store, "s", b"lost")
        await add(store, "s", b"kept")
        assert tables_of(store) is not used
        assert await bodies(store) == [b"kept"]


async def test_a_database_that_was_removed_while_in_use_takes_nothing_until_it_is_back(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path) as store:
        await start(store)
        (tmp_path / "store.db").rename(tmp_path / "elsewhere")
        with pytest.raises(StorageFailed, match="was removed or replaced"):
            await add(store, "s", b"lost")
        (tmp_path / "store.db").touch()
        with pytest.raises(StorageFailed, match="was removed or replaced"):
            await add(store, "s", b"lost")
        (tmp_path / "elsewhere").replace(tmp_path / "store.db")
        await add(store, "s", b"kept")
        assert await bodies(store) == [b"kept"]


def an_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("it failed")
    error.sqlite_errorcode = code
    error.sqlite_errorname = "SQLITE_IOERR_WRITE"
    return error


def test_an_error_of_the_disk_is_a_full_disk_where_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    failed = store_error(an_error(sqlite3.SQLITE_IOERR), path)
    assert type(failed) is StorageFailed
    assert "SQLITE_IOERR_WRITE" in str(failed)
    monkeypatch.setattr("quarterdeck.store.sqlite.faults.LITTLE_ROOM_BYTES", 2**60)
    assert type(store_error(an_error(sqlite3.SQLITE_IOERR), path)) is StorageFull


def test_an_error_of_the_system_says_which_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for number, kind in ((errno.EDQUOT, StorageFull), (errno.EROFS, StorageReadOnly), (errno.EIO, StorageFailed)):
        told = store_error(OSError(number, os.strerror(number)), path)
        assert type(told) is kind
        assert str(tmp_path) in str(told)


async def test_an_empty_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        await SqliteStore.open(tmp_path / "file")


def test_the_lock_is_given_back_when_opening_fails(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"this is no database " * 1_000)
    with pytest.raises(StorageCorrupt):
        asyncio.run(SqliteStore.open(tmp_path))
    folder = StoreFolder(tmp_path)
    folder.lock()
    folder.unlock()


async def test_a_row_that_is_already_there_fails_the_whole_transaction(tmp_path: Path) -> None:
    """An insert that fails stops in the middle (``OR FAIL``): nothing before it may stay, and others are written."""
    async with await SqliteStore.open(tmp_path, sync="normal") as store:
        await start(store)
        await start(store, "other")
        await add(store, "s", b"1")
        database = StoreFolder(tmp_path).database
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(
                "INSERT INTO rows SELECT id + 2, at, kind, origin, 1, 0, 0, '', 0, x'33' FROM rows WHERE body = x'31'"
            )
        commits = (add(store, "s", b"2", b"3"), add(store, "other", b"4"))
        failed, written = await asyncio.gather(*commits, return_exceptions=True)
        assert isinstance(failed, StoreError)
        assert not isinstance(written, BaseException)
        with closing(sqlite3.connect(database)) as connection:
            kept = sorted(body for (body,) in connection.execute("SELECT body FROM rows"))
        assert kept == [b"1", b"3", b"4"]
        head = await store.head("s")
        assert head is not None
        assert head.last_seq == 1
