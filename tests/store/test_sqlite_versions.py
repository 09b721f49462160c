"""Databases of other versions: older ones are brought up to date and kept as they were, newer ones are refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from quarterdeck.store import SqliteStore
from quarterdeck.store.errors import StoreTooNew
from quarterdeck.store.queries import ApprovalQuery, SessionQuery
from quarterdeck.store.sqlite.backup import bring_up_to_date
from quarterdeck.store.sqlite.schema import STEPS, version_of
from store.making import bodies

VERSIONS = Path(__file__).parent / "versions"
"""A dump of a store of each version; ``python -m store.dump_version`` makes the newest."""

MADE_UP = (
    ("CREATE TABLE people (name TEXT NOT NULL)",),
    ("ALTER TABLE people ADD COLUMN age INTEGER NOT NULL DEFAULT 0", "CREATE INDEX by_name ON people (name)"),
    ("CREATE TABLE pets (owner TEXT NOT NULL)", "INSERT INTO pets SELECT name FROM people"),
)


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def made_up(path: Path, version: int) -> None:
    """A database of this version, with somebody in it."""
    bring_up_to_date(path, lambda: connect(path), MADE_UP[:version])
    if version:
        with closing(connect(path)) as connection:
            connection.execute("INSERT INTO people (name) VALUES ('ann')")


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()


@pytest.mark.parametrize("version", range(len(MADE_UP) + 1))
def test_every_former_version_becomes_what_a_new_one_is(tmp_path: Path, version: int) -> None:
    path, new = tmp_path / "old.db", tmp_path / "new.db"
    made_up(path, version)
    before = schema(path)
    bring_up_to_date(path, lambda: connect(path), MADE_UP)
    made_up(new, len(MADE_UP))
    assert schema(path) == schema(new)
    backups = sorted(found.name for found in tmp_path.glob("old.db.version-*"))
    assert backups == ([f"old.db.version-{version}"] if 0 < version < len(MADE_UP) else [])
    for name in backups:
        assert schema(tmp_path / name) == before
    if version:
        with closing(connect(path)) as connection:
            assert connection.execute("SELECT name, age FROM people").fetchall() == [("ann", 0)]


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    made_up(path, 1)
    broken = (*MADE_UP[:2], ("CREATE TABLE pets (owner TEXT)", "this is no SQL"))
    with pytest.raises(sqlite3.OperationalError):
        bring_up_to_date(path, lambda: connect(path), broken)
    with closing(connect(path)) as connection:
        assert version_of(connection) == 2
    assert "pets" not in dict(schema(path))
    bring_up_to_date(path, lambda: connect(path), MADE_UP)
    assert "pets" in dict(schema(path))


async def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path):
        pass
    with closing(connect(tmp_path / "store.db")) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    before = (tmp_path / "store.db").read_bytes()
    with pytest.raises(StoreTooNew, match=f"has version {len(STEPS) + 1}; .*up to {len(STEPS)}. Update Quarterdeck"):
        await SqliteStore.open(tmp_path)
    assert (tmp_path / "store.db").read_bytes() == before


def test_there_is_a_dump_of_every_version() -> None:
    names = sorted(path.name for path in VERSIONS.glob("*.sql"))
    assert names == [f"version-{number}.sql" for number in range(1, len(STEPS) + 1)]


def load(dump: Path, path: Path) -> None:
    with closing(connect(path)) as connection:
        connection.executescript(dump.read_text("utf-8"))


@pytest.mark.parametrize("dump", sorted(VERSIONS.glob("*.sql")), ids=lambda path: path.stem)
async def test_a_store_of_a_former_version_is_opened_with_all_it_has(tmp_path: Path, dump: Path) -> None:
    load(dump, tmp_path / "store.db")
    async with await SqliteStore.open(tmp_path) as store:
        assert await store.check() == []
        assert await bodies(store) == [b"one", b"\0two", b"ask"]
        assert [record.name for record in (await store.sessions(SessionQuery())).sessions] == ["Dumped"]
        (asked,) = (await store.approvals(ApprovalQuery())).approvals
        assert asked.decision is not None
        assert (asked.state, asked.seq, asked.decision.by) == ("decided", 3, "ann")
        assert [total.usage.cost_nano_usd for total in await store.usage([])] == [42]
        assert [effect.kind for effect in await store.effects()] == ["deliver"]
        assert [record.id for record in await store.tokens()] == ["t"]
        assert [record.rule for record in await store.grants()] == ["Bash(ls)"]
        assert await store.setting("budgets") == b"{}"
        snapshot = await store.snapshot("s")
        assert snapshot is not None
        assert (snapshot.seq, snapshot.body) == (2, b"snapshot")
        kept = await store.receipt("token/decide/a1", "k", now=1.0)
        assert kept is not None
        assert (kept[0].outcome, kept[1].last_seq) == (b"outcome", 0)
