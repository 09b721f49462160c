"""``SqliteStore``: the log in one folder, for one host."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from quarterdeck.store.applying import apply, claim
from quarterdeck.store.commits import Commit, Committed
from quarterdeck.store.errors import StoreError
from quarterdeck.store.interface import RECEIPT_KEPT_S, EventStore
from quarterdeck.store.queries import (
    PAGE_BYTES,
    PAGE_ROWS,
    ApprovalPage,
    ApprovalQuery,
    AuditPage,
    AuditQuery,
    HostChangePage,
    LoadedSession,
    LogPage,
    Retained,
    Retention,
    SessionPage,
    SessionQuery,
    UsageDimension,
    UsageTotal,
    check_dimensions,
)
from quarterdeck.store.records import (
    ApprovalRecord,
    Effect,
    GrantRecord,
    LogHead,
    Receipt,
    SessionRecord,
    Snapshot,
    TokenRecord,
)
from quarterdeck.store.tables import new_epoch

from . import reading
from .backup import back_up, bring_up_to_date, large_rows
from .checking import find_problems
from .connecting import Sync, connect_writer
from .faults import store_error
from .folder import StoreFolder
from .readers import Readers
from .tables import SqliteTables, find_receipt
from .upkeep import PIECE_ROWS, give_back_space, position, trim, trim_others
from .writer import WriterThread

T = TypeVar("T")

BUSY_S = 5.0
"""How long to wait for another program that has locked the database; ours never does for long."""
READERS = 3
"""Enough for a long replay and still a token lookup."""


class SqliteStore(EventStore):
    """Keeps everything in a folder. ``async with await SqliteStore.open(folder) as store``."""

    def __init__(self, folder: StoreFolder, writer: WriterThread, readers: Readers) -> None:
        """Use ``open``."""
        self._folder = folder
        self._writer = writer
        self.commit_times = writer.times
        self._readers = readers

    @classmethod
    async def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        sync: Sync = "full",
        shared: bool = False,
        max_bytes: int | None = None,
        busy_s: float = BUSY_S,
    ) -> SqliteStore:
        """Open the store in this folder, and make it if there is none.

        ``shared`` lets other processes open it too, each with ``shared``: every check is made inside the transaction,
        so nothing is lost by it but speed. ``max_bytes`` limits the database, large bodies not counted. Raises
        ``StoreError``: ``StoreInUse`` if another host has it, ``StoreTooNew``, ``StorageFailed``.
        """
        place = StoreFolder(_path(folder))

        def connect() -> SqliteTables:
            connection = connect_writer(place.database, busy_s=busy_s, sync=sync, max_bytes=max_bytes)
            return SqliteTables(connection, place, shared=shared)

        return await asyncio.to_thread(cls._open, place, connect, shared=shared, busy_s=busy_s)

    @classmethod
    def _open(
        cls, folder: StoreFolder, connect: Callable[[], SqliteTables], *, shared: bool, busy_s: float
    ) -> SqliteStore:
        try:
            folder.make()
            folder.lock(shared=shared)
            _prepare(folder, connect, sweep=not shared)
            return cls(folder, WriterThread(connect), Readers(folder.database, threads=READERS, busy_s=busy_s))
        except BaseException as error:
            folder.unlock()
            if isinstance(error, Exception) and not isinstance(error, StoreError):
                raise store_error(error, folder.database) from error
            raise

    @property
    def rows_written(self) -> int:
        return self._writer.rows

    @property
    def commits_waiting(self) -> int:
        return self._writer.waiting

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._readers.close()
        self._folder.unlock()

    async def backup(self, target: str | os.PathLike[str]) -> None:
        """Copy the store as it is now to a new folder, while it is in use. ``restore`` makes a store of it."""
        await asyncio.to_thread(back_up, self._folder, _path(target))

    async def commit(self, commit: Commit) -> Committed:
        size_bytes = sum([len(row.body) for row in commit.rows])
        return await self._writer.do(lambda tables: apply(tables, commit), size_bytes=size_bytes)

    def submit(self, commit: Commit, answered: Callable[[Committed | StoreError], None]) -> None:
        size_bytes = sum([len(row.body) for row in commit.rows])
        self._writer.submit(lambda tables: apply(tables, commit), answered, size_bytes=size_bytes)

    async def claim(self, sessions: Sequence[str], *, owner: str) -> dict[str, int]:
        return await self._writer.do(lambda tables: claim(tables, sessions, owner))

    async def use_fold(self, version: str) -> bool:
        return await self._writer.do(lambda tables: _use_fold(tables, version))

    async def retain(self, retention: Retention, *, now: float) -> Retained:
        rows = 0
        for head in await self.heads():
            removed = PIECE_ROWS
            while removed == PIECE_ROWS:
                session = head.session
                removed = await self._writer.do(lambda tables, session=session: trim(tables, session, retention, now))  # type: ignore[misc]
                rows += removed
        others = await self._writer.do(lambda tables: trim_others(tables, retention, now))
        while await self._writer.do(give_back_space):
            pass
        return msgspec.structs.replace(others, rows=rows)

    async def check(self) -> list[str]:
        try:
            return await self._read(find_problems, self._folder)
        except StoreError as error:
            return [str(error)]

    async def _read(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        return await self._readers.run(lambda connection: function(connection, *arguments, **named))

    async def heads(self) -> list[LogHead]:
        return await self._read(reading.read_heads)

    async def head(self, session: str) -> LogHead | None:
        found = await self._read(reading.read_head, session)
        return found[1] if found else None

    async def read(
        self, session: str, *, after: int = 0, limit_rows: int = PAGE_ROWS, limit_bytes: int = PAGE_BYTES
    ) -> LogPage:
        limits = {"limit_rows": limit_rows, "limit_bytes": limit_bytes}
        return await self._read(reading.read_rows, self._folder, session, after=after, **limits)

    async def snapshot(self, session: str, *, at_most: int | None = None) -> Snapshot | None:
        return await self._read(reading.read_snapshot, session, at_most)

    async def load(self, session: str) -> LoadedSession | None:
        return await self._read(reading.read_all_of, self._folder, session)

    async def changes(self, *, after: int, limit: int = PAGE_ROWS) -> HostChangePage:
        return await self._read(reading.read_changes, after=after, limit=limit)

    async def position(self) -> int:
        return await self._read(position)

    async def session(self, any_id: str) -> SessionRecord | None:
        return await self._read(reading.read_session, any_id)

    async def sessions(self, query: SessionQuery) -> SessionPage:
        return await self._read(reading.read_sessions, query)

    async def approval(self, approval: str) -> ApprovalRecord | None:
        return await self._read(reading.read_approval, approval)

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        return await self._read(reading.read_approvals, query)

    async def grants(self) -> list[GrantRecord]:
        found = await self._read(_all, "SELECT record FROM grants ORDER BY id")
        return [msgspec.msgpack.decode(record, type=GrantRecord) for (record,) in found]

    async def token(self, digest: bytes) -> TokenRecord | None:
        found = await self._read(_all, "SELECT record FROM tokens WHERE digest = ?", digest)
        return msgspec.msgpack.decode(found[0][0], type=TokenRecord) if found else None

    async def tokens(self) -> list[TokenRecord]:
        found = await self._read(_all, "SELECT record FROM tokens ORDER BY id")
        return [msgspec.msgpack.decode(record, type=TokenRecord) for (record,) in found]

    async def usage(
        self, by: Sequence[UsageDimension], *, since: str = "", until: str = "", session: str | None = None
    ) -> list[UsageTotal]:
        check_dimensions(by)
        return await self._read(reading.read_usage, by, since=since, until=until, session=session)

    async def audit(self, query: AuditQuery) -> AuditPage:
        return await self._read(reading.read_audit, query)

    async def effects(self, *, session: str | None = None) -> list[Effect]:
        return await self._read(reading.read_effects, session)

    async def receipt(self, scope: str, key: str, *, now: float) -> tuple[Receipt, Committed] | None:
        kept = await self._read(find_receipt, scope, key)
        return kept if kept and kept[0].at + RECEIPT_KEPT_S >= now else None

    async def setting(self, name: str) -> bytes | None:
        found = await self._read(_all, "SELECT body FROM settings WHERE name = ?", name)
        return found[0][0] if found else None


def _prepare(folder: StoreFolder, connect: Callable[[], SqliteTables], *, sweep: bool) -> None:
    """Bring the database to this version, and remove what a process left that died."""
    bring_up_to_date(folder.database, lambda: connect().connection)
    if sweep and any(folder.large.iterdir()):
        folder.sweep_large(large_rows(folder.database))


def _path(given: str | os.PathLike[str]) -> Path:
    return Path(given).expanduser()


def _all(connection: sqlite3.Connection, statement: str, *values: Any) -> list[Any]:
    return connection.execute(statement, values).fetchall()


def _use_fold(tables: SqliteTables, version: str) -> bool:
    connection = tables.connection
    before = connection.execute("SELECT value FROM facts WHERE name = 'fold'").fetchone()
    if before == (version,):
        return False
    tables.forget_logs()
    connection.execute("REPLACE INTO facts VALUES ('fold', ?)", (version,))
    connection.execute("DELETE FROM snapshots")
    numbers = connection.execute("SELECT number FROM logs").fetchall()
    renewed = [(new_epoch(), number) for (number,) in numbers]
    connection.executemany("UPDATE logs SET epoch = ?, snapshot_seq = 0 WHERE number = ?", renewed)
    return True
