"""A store in one SQLite file, which several processes may use at once.

Write-ahead logging lets readers read while one process writes; writers wait for each other, bounded. The database's
work runs in a thread of the store's own, so a busy disk never holds up the event loop.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

from quarterdeck.client.either_loop import run_in
from quarterdeck.wire._json import dumps, loads

from .protocol import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreError,
    SessionStoreListEntry,
    SessionSummaryEntry,
)
from .summary import fold_session_summary

T = TypeVar("T")

BUSY_S = 30.0
"""How long to wait for another process that is writing; a write takes milliseconds."""

RETRY_S = 0.01

_SCHEMA = """
CREATE TABLE IF NOT EXISTS transcript (
    id INTEGER PRIMARY KEY,
    project_key TEXT NOT NULL,
    session_id TEXT NOT NULL,
    subpath TEXT NOT NULL,
    mtime INTEGER NOT NULL,
    summary BLOB,
    UNIQUE (project_key, session_id, subpath)
);
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY,
    transcript INTEGER NOT NULL REFERENCES transcript (id) ON DELETE CASCADE,
    uuid TEXT,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS entry_of_transcript ON entry (transcript, id);
CREATE UNIQUE INDEX IF NOT EXISTS entry_once ON entry (transcript, uuid) WHERE uuid IS NOT NULL;
"""
_WHERE = "project_key = ? AND session_id = ? AND subpath = ?"


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Several processes may do this to a new file at once. For this change alone SQLite does not wait by itself."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_S)
        else:
            return


class SqliteSessionStore(SessionStore):
    """Keeps sessions in a file. Records are kept once by their uuid. Close it, or use ``async with``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """``path`` is created with mode 0600: transcripts are private."""
        self.path = Path(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="quarterdeck-store")
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    async def __aenter__(self) -> SqliteSessionStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the file. Repeatable; the store cannot be used afterwards."""
        if not self._closed:
            await self._run(self._close)
            self._closed = True
            self._thread.shutdown(wait=False)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        if entries:
            await self._run(lambda: self._append(key, entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        return await self._run(lambda: self._load(key))

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        rows = await self._rows(
            "SELECT session_id, mtime FROM transcript WHERE project_key = ? AND subpath = ''", project_key
        )
        return [{"session_id": session_id, "mtime": mtime} for session_id, mtime in rows]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        rows = await self._rows(
            "SELECT session_id, mtime, summary FROM transcript WHERE project_key = ? AND subpath = ''", project_key
        )
        return [{"session_id": name, "mtime": mtime, "data": loads(data)} for name, mtime, data in rows]

    async def delete(self, key: SessionKey) -> None:
        await self._run(lambda: self._delete(key))

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        rows = await self._rows(
            "SELECT subpath FROM transcript WHERE project_key = ? AND session_id = ? AND subpath != '' ORDER BY id",
            key["project_key"],
            key["session_id"],
        )
        return [subpath for (subpath,) in rows]

    # In the thread

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise SessionStoreError(f"the session store {self.path} is closed")
        try:
            return await run_in(self._thread, work)
        except (sqlite3.Error, OSError) as error:
            raise SessionStoreError(f"the session store {self.path} failed: {error}") from error

    async def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        return await self._run(lambda: self._open().execute(query, values).fetchall())

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
            try:
                _log_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.executescript(_SCHEMA)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        bodies = [dumps(entry) for entry in entries]  # before the lock is taken
        with _WriteTransaction(self._open()) as database:
            transcript, mtime, summary = self._touch(database, key)
            fresh = [
                entry
                for entry, body in zip(entries, bodies, strict=True)
                if _insert(database, transcript, entry.get("uuid"), body)
            ]
            if not key.get("subpath"):
                before = cast("SessionSummaryEntry", {"session_id": key["session_id"], "mtime": mtime, "data": summary})
                folded = fold_session_summary(before, key, fresh)
                database.execute("UPDATE transcript SET summary = ? WHERE id = ?", (dumps(folded["data"]), transcript))

    def _touch(self, database: sqlite3.Connection, key: SessionKey) -> tuple[int, int, dict[str, Any]]:
        """(row, time of this write, summary so far). Times never repeat, so that a stale summary shows."""
        at = (key["project_key"], key["session_id"], key.get("subpath") or "")
        row = database.execute(f"SELECT id, mtime, summary FROM transcript WHERE {_WHERE}", at).fetchone()  # noqa: S608
        now = int(time.time() * 1000)
        if row is None:
            added = database.execute(
                "INSERT INTO transcript (project_key, session_id, subpath, mtime) VALUES (?, ?, ?, ?)", (*at, now)
            )
            return int(added.lastrowid or 0), now, {}
        now = max(now, row[1] + 1)
        database.execute("UPDATE transcript SET mtime = ? WHERE id = ?", (now, row[0]))
        return row[0], now, {} if row[2] is None else loads(row[2])

    def _load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        at = (key["project_key"], key["session_id"], key.get("subpath") or "")
        database = self._open()
        found = database.execute(f"SELECT id FROM transcript WHERE {_WHERE}", at).fetchone()  # noqa: S608
        if found is None:
            return None
        rows = database.execute("SELECT body FROM entry WHERE transcript = ? ORDER BY id", found)
        return [loads(body) for (body,) in rows]

    def _delete(self, key: SessionKey) -> None:
        with _WriteTransaction(self._open()) as database:
            subpath = key.get("subpath")
            where = "project_key = ? AND session_id = ?" + (" AND subpath = ?" if subpath else "")
            values = (key["project_key"], key["session_id"], *([subpath] if subpath else []))
            database.execute(f"DELETE FROM transcript WHERE {where}", values)  # noqa: S608


def _insert(database: sqlite3.Connection, transcript: int, uuid: str | None, body: bytes) -> bool:
    values = (transcript, uuid, body)
    done = database.execute("INSERT OR IGNORE INTO entry (transcript, uuid, body) VALUES (?, ?, ?)", values)
    return done.rowcount == 1


class _WriteTransaction:
    """A transaction that has the write lock from its start: two writers never both begin and then fail."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> sqlite3.Connection:
        self._database.execute("BEGIN IMMEDIATE")
        return self._database

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.execute("COMMIT" if error is None else "ROLLBACK")
