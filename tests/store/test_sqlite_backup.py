"""Backups: made while the store is in use, complete or not there, and told apart from what they were made of."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quarterdeck.store import SqliteStore, StoreError, restore
from quarterdeck.store.commits import PutSnapshot
from quarterdeck.store.errors import StorageFailed
from quarterdeck.store.queries import Retention
from quarterdeck.store.sqlite import backup as backup_module
from store.making import add, ask, bodies, row, start


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies of more than 1,000 bytes are large."""
    monkeypatch.setattr("quarterdeck.store.sqlite.tables.LARGE_BYTES", 1_000)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_backup_made_while_rows_are_written_is_a_whole_store(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path / "live", sync="normal") as store:
        await start(store, "s", *(row(bytes(3_000)) for _ in range(1_000)))
        copying = asyncio.create_task(store.backup(tmp_path / "copy"))
        written = 0
        while not copying.done():
            await add(store, "s", str(written).encode())
            written += 1
        await copying
        await add(store, "s", b"after the backup")
    assert written > 0
    async with await SqliteStore.open(tmp_path / "copy") as copy:
        assert await copy.check() == []
        found = (await bodies(copy))[1_000:]
        assert found == [str(number).encode() for number in range(len(found))]


@pytest.mark.usefixtures("small_limit")
async def test_a_backup_has_the_large_bodies_although_they_are_removed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    real = backup_module.copy_database
    async with await SqliteStore.open(tmp_path / "live", sync="normal") as store:
        await start(store, "s", row(b"large" * 1_000), row("small"))
        await add(store, "s", changes=[PutSnapshot(2, b"")])

        def copy_then_trim(source: Path, target: Path) -> None:
            real(source, target)
            trimming = store.retain(Retention(row_bytes=0), now=0.0)
            asyncio.run_coroutine_threadsafe(trimming, loop).result()

        monkeypatch.setattr(backup_module, "copy_database", copy_then_trim)
        await store.backup(tmp_path / "copy")
        assert list((tmp_path / "live" / "large").iterdir()) == []
    async with await SqliteStore.open(tmp_path / "copy") as copy:
        assert await bodies(copy) == [b"large" * 1_000, b"small"]


async def test_a_backup_overwrites_nothing_and_leaves_nothing_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await SqliteStore.open(tmp_path / "live") as store:
        (tmp_path / "there").mkdir()
        with pytest.raises(StoreError, match="exists"):
            await store.backup(tmp_path / "there")

        def broken(source: Path, target: Path) -> None:
            raise OSError("broken")

        monkeypatch.setattr(backup_module, "copy_database", broken)
        with pytest.raises(StorageFailed):
            await store.backup(tmp_path / "copy")
    assert names_in(tmp_path) == ["live", "there"]


@pytest.mark.usefixtures("small_limit")
async def test_a_restored_store_has_everything_and_old_cursors_mean_nothing_in_it(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path / "live") as store:
        await start(store, "s", row("one"), row(b"large" * 1_000))
        await ask(store, "a1")
        await store.backup(tmp_path / "copy")
        await start(store, "t")
        before, position = await store.head("s"), await store.position()
    restore(tmp_path / "copy", tmp_path / "restored")
    async with await SqliteStore.open(tmp_path / "restored") as store:
        assert await bodies(store) == [b"one", b"large" * 1_000, b"ask"]
        after = await store.head("s")
        assert before is not None
        assert after is not None
        assert (after.epoch != before.epoch, after.last_seq) == (True, before.last_seq)
        for old in range(position + 1):
            assert (await store.changes(after=old)).gap
        assert not (await store.changes(after=await store.position())).gap
        assert (await store.approval("a1")) is not None
        assert await store.check() == []


async def test_restoring_overwrites_nothing(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path / "live") as store:
        await store.backup(tmp_path / "copy")
    with pytest.raises(StoreError, match="already has a store"):
        restore(tmp_path / "copy", tmp_path / "live")
    with pytest.raises(StoreError, match="is not a backup"):
        restore(tmp_path / "nothing", tmp_path / "new")
