"""A full-text index next to a store: a separate database, which can be removed at any time and is rebuilt."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from quarterdeck._memory import give_back

from .errors import StorageFailed

logger = logging.getLogger("quarterdeck.store")

FILE = "search.db"
VERSION = 1
BEGIN, END = "\x02", "\x03"
"""Around each matching word in an excerpt."""
EXCERPT_WORDS = 24
KINDS = ("session", "prompt", "text", "tool", "event")
_KIND_BITS = 3
_NUMBER_BITS = 43
"""A document's id: the session's number, the row, the kind; so a session's documents are adjacent."""

_TABLES = (
    "CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL UNIQUE,"
    " epoch TEXT NOT NULL, seq INTEGER NOT NULL, about TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
)
_EXCERPT = f"snippet(texts, 0, char(2), char(3), '…', {EXCERPT_WORDS})"
_RANKED = "FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank LIMIT ? OFFSET ?"
_FIND = f"SELECT rowid, {_EXCERPT} {_RANKED}"  # a number of ours
_RANK = f"SELECT rowid {_RANKED}"
_SHOW = f"SELECT rowid, {_EXCERPT} FROM texts WHERE texts MATCH ? AND +rowid IN (%s)"  # noqa: S608
"""Reads the matches once. By ``rowid``, it would merge the words with a common beginning once per row."""

T = TypeVar("T")


class SearchDocument(msgspec.Struct, frozen=True):
    """What one row says. Row 0 is the session itself."""

    seq: int
    kind: str
    text: str


class SearchMatch(msgspec.Struct, frozen=True):
    """A document that contains the words."""

    session: str
    seq: int
    kind: str
    excerpt: str
    row: int = 0
    """Its id in the index."""


class Indexed(msgspec.Struct, frozen=True):
    """How far a session is in the index."""

    epoch: str
    seq: int
    about: str
    """What row 0 says."""


class SearchIndex:
    """Written by one thread, read by another. Nothing in it is the only copy, so nothing is synced to the disk."""

    def __init__(self, folder: Path | None) -> None:
        """``folder``: where the database is; None: in a folder that is removed in the end."""
        self._scratch = None if folder is not None else tempfile.mkdtemp(prefix="quarterdeck-search-")
        self.path = (folder or Path(str(self._scratch))) / FILE
        self._writing = ThreadPoolExecutor(1, "quarterdeck-index")
        self._reading = ThreadPoolExecutor(1, "quarterdeck-search")
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    async def open(self) -> dict[str, Indexed]:
        """Opens it; an unreadable index is rebuilt."""
        return await self._write(self._open)

    async def close(self) -> None:
        await self._write(lambda: self._disconnect(self._writer))
        await self._read(lambda: self._disconnect(self._reader))
        self._writing.shutdown()
        self._reading.shutdown()
        if self._scratch is not None:
            await asyncio.to_thread(shutil.rmtree, self._scratch, ignore_errors=True)

    async def add(self, session: str, now: Indexed, documents: Sequence[SearchDocument]) -> None:
        """Add documents of a session, which is indexed up to ``now`` then."""
        await self._write(lambda: self._add(session, now, documents))

    async def forget(self, session: str, *, before: int | None = None) -> None:
        """Everything of a session, or the rows before one."""
        await self._write(lambda: self._forget(session, before))

    async def find(self, words: Sequence[str], *, session: str | None, limit: int, offset: int) -> list[SearchMatch]:
        """Documents that contain all of the words, best first. The last word may be a prefix."""
        return await self._read(lambda: self._find(words, session, limit, offset))

    async def ranked(self, words: Sequence[str], *, session: str | None, limit: int, offset: int) -> list[SearchMatch]:
        """The same without excerpts, for callers that want few of many; ``with_excerpts`` adds them."""
        return await self._read(lambda: self._find(words, session, limit, offset, _RANK))

    async def with_excerpts(self, words: Sequence[str], matches: Sequence[SearchMatch]) -> list[SearchMatch]:
        """These matches with their excerpts, without those that are gone by now."""
        return await self._read(lambda: self._with_excerpts(words, matches)) if matches else []

    async def rest(self) -> None:
        """Nothing is added or looked for: the pages in memory are given back."""
        await self._write(lambda: _free_cache(self._writer))
        await self._read(lambda: _free_cache(self._reader))
        give_back()

    # In the threads

    async def _write(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._guarded(work))

    async def _read(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._guarded(work))

    def _guarded(self, work: Callable[[], T]) -> Callable[[], T]:
        def run() -> T:
            try:
                return work()
            except (sqlite3.Error, OSError) as error:
                raise StorageFailed(f"The search index cannot be used: {error}", self.path) from error

        return run

    def _open(self) -> dict[str, Indexed]:
        try:
            return self._load()
        except sqlite3.DatabaseError as error:
            logger.warning("Rebuilding the search index: %s", error)
            self._disconnect(self._writer)
            for path in self.path.parent.glob(f"{FILE}*"):
                path.unlink()
            return self._load()

    def _load(self) -> dict[str, Indexed]:
        self._writer = connection = _connected(self.path)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"wrong version: {version}")
        if version == 0:
            with _transaction(connection):
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
        found = connection.execute("SELECT number, session, epoch, seq, about FROM sessions").fetchall()
        self._numbers = {session: number for number, session, *_ in found}
        self._names = {number: session for number, session, *_ in found}
        return {session: Indexed(epoch, seq, about) for _, session, epoch, seq, about in found}

    def _disconnect(self, connection: sqlite3.Connection | None) -> None:
        if connection is not None:
            connection.close()

    def _add(self, session: str, now: Indexed, documents: Sequence[SearchDocument]) -> None:
        connection = self._writer
        if connection is None:
            raise sqlite3.ProgrammingError("it is closed")
        with _transaction(connection):
            number = self._numbers.get(session)
            if number is None:
                made = connection.execute(
                    "INSERT INTO sessions (session, epoch, seq, about) VALUES (?, '', 0, '')", (session,)
                )
                number = int(made.lastrowid or 0)
            connection.execute(
                "UPDATE sessions SET epoch = ?, seq = ?, about = ? WHERE number = ?",
                (now.epoch, now.seq, now.about, number),
            )
            if any(one.seq == 0 for one in documents):
                connection.execute("DELETE FROM texts WHERE rowid = ?", (_id(number, 0, 0),))
            connection.executemany(
                "INSERT OR REPLACE INTO texts (rowid, text) VALUES (?, ?)",
                [(_id(number, one.seq, KINDS.index(one.kind)), one.text) for one in documents if one.text],
            )
        self._numbers[session], self._names[number] = number, session

    def _forget(self, session: str, before: int | None) -> None:
        connection, number = self._writer, self._numbers.get(session)
        if connection is None or number is None:
            return
        last = _id(number + 1, 0, 0) if before is None else _id(number, before, 0)
        first = _id(number, 0 if before is None else 1, 0)
        with _transaction(connection):
            connection.execute("DELETE FROM texts WHERE rowid >= ? AND rowid < ?", (first, last))
            if before is None:
                connection.execute("DELETE FROM sessions WHERE number = ?", (number,))
        if before is None:
            self._numbers.pop(session, None)
            self._names.pop(number, None)

    def _find(
        self, words: Sequence[str], session: str | None, limit: int, offset: int, statement: str = _FIND
    ) -> list[SearchMatch]:
        first, last = 0, 2**63 - 1
        if session is not None:
            number = self._numbers.get(session)
            if number is None:
                return []
            first, last = _id(number, 0, 0), _id(number + 1, 0, 0) - 1
        return [self._found(*row) for row in self._asked(statement, match_of(words), first, last, limit, offset)]

    def _with_excerpts(self, words: Sequence[str], matches: Sequence[SearchMatch]) -> list[SearchMatch]:
        rows = [one.row for one in matches]
        found = dict(self._asked(_SHOW % ",".join("?" * len(rows)), match_of(words), *rows))
        return [msgspec.structs.replace(one, excerpt=found[one.row]) for one in matches if one.row in found]

    def _asked(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        if self._reader is None:
            self._reader = _connected(self.path)
        return self._reader.execute(statement, values).fetchall()

    def _found(self, row: int, excerpt: str = "") -> SearchMatch:
        session = self._names.get(row >> _NUMBER_BITS, "")  # none: it is being forgotten
        seq = (row & (1 << _NUMBER_BITS) - 1) >> _KIND_BITS
        return SearchMatch(session, seq, KINDS[row & (1 << _KIND_BITS) - 1], excerpt, row)


def _free_cache(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        connection.execute("PRAGMA shrink_memory")


def match_of(words: Sequence[str]) -> str:
    """The words in FTS5 syntax: each is a string, never an operator."""
    quoted = ['"' + word.replace('"', '""').replace("\0", "") + '"' for word in words]
    return " AND ".join(quoted) + ("*" if quoted else "")


def _id(number: int, seq: int, kind: int) -> int:
    return number << _NUMBER_BITS | seq << _KIND_BITS | kind


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10.0)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        path.chmod(0o600)
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
