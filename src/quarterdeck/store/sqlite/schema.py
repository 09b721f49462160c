"""The tables, as steps from one version to the next. A new store takes all of them; an old one those it lacks.

A step that was released is never changed. ``tests/store/versions`` has a database of each version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from quarterdeck.store.errors import StorageCorrupt, StoreTooNew

Steps = Sequence[Sequence[str]]

SEQ_BITS = 40
SEQ_MASK = (1 << SEQ_BITS) - 1
"""A row's id is its log's number and its ``seq`` in one integer. So a session's rows lie side by side in the one tree
that the table is, adding one touches no index, and reading them is a walk along the leaves."""

VERSION_1 = (
    """CREATE TABLE logs (
        number INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: rows of a deleted log may still be there
        session TEXT NOT NULL UNIQUE,
        epoch TEXT NOT NULL,
        fence INTEGER NOT NULL,
        owner TEXT NOT NULL,
        first_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL,
        snapshot_seq INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        spool_end INTEGER NOT NULL,
        input_number INTEGER NOT NULL
    )""",
    "CREATE TABLE deleted_logs (number INTEGER PRIMARY KEY)",
    """CREATE TABLE rows (
        id INTEGER PRIMARY KEY, -- number of the log << 40 | seq
        at REAL NOT NULL,
        kind TEXT NOT NULL,
        origin TEXT NOT NULL,
        generation INTEGER NOT NULL,
        spool_end INTEGER NOT NULL,
        input_number INTEGER NOT NULL,
        sender TEXT NOT NULL,
        large_bytes INTEGER NOT NULL, -- size of the file beside the database that holds the body; 0: the body is here
        body BLOB NOT NULL
    )""",
    "CREATE TABLE snapshots (log INTEGER NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (log, seq))",
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        cwd TEXT NOT NULL, -- ends with a slash
        archived INTEGER NOT NULL,
        active_at REAL NOT NULL,
        tags TEXT NOT NULL, -- each as JSON between newlines
        text TEXT NOT NULL,
        open_seq INTEGER NOT NULL,
        record BLOB NOT NULL
    )""",
    "CREATE INDEX sessions_by_activity ON sessions (active_at DESC, id)",
    "CREATE TABLE aliases (alias TEXT PRIMARY KEY, session TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX aliases_of_session ON aliases (session)",
    """CREATE TABLE approvals (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        request_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        state TEXT NOT NULL,
        seq INTEGER NOT NULL,
        record BLOB NOT NULL
    )""",
    "CREATE INDEX approvals_of_session ON approvals (session, state)",
    "CREATE INDEX approvals_by_state ON approvals (state)",
    "CREATE TABLE grants (id TEXT PRIMARY KEY, record BLOB NOT NULL)",
    "CREATE TABLE tokens (id TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, record BLOB NOT NULL)",
    """CREATE TABLE usage (
        session TEXT NOT NULL,
        turn INTEGER NOT NULL,
        day TEXT NOT NULL,
        model TEXT NOT NULL,
        cwd TEXT NOT NULL,
        account TEXT NOT NULL,
        agent TEXT NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cache_read_tokens INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL,
        cost_nano_usd INTEGER NOT NULL
    )""",
    "CREATE INDEX usage_by_day ON usage (day)",
    "CREATE INDEX usage_of_session ON usage (session)",
    """CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        who TEXT NOT NULL,
        operation TEXT NOT NULL,
        via TEXT NOT NULL,
        session TEXT,
        body BLOB NOT NULL
    )""",
    "CREATE INDEX audit_of_session ON audit (session)",
    "CREATE INDEX audit_by_who ON audit (who)",
    """CREATE TABLE effects (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, kind TEXT NOT NULL, body BLOB NOT NULL
    )""",
    """CREATE TABLE receipts (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        request BLOB NOT NULL,
        outcome BLOB NOT NULL,
        at REAL NOT NULL,
        committed BLOB NOT NULL,
        PRIMARY KEY (scope, key)
    )""",
    "CREATE INDEX receipts_by_age ON receipts (at)",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE changes (pos INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, record BLOB)",
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) -- about this database: the version of the fold",
)

STEPS: Steps = (VERSION_1,)


def version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_version(connection: sqlite3.Connection, path: Path, *, steps: Steps = STEPS) -> int:
    """The version of the database, 0 for an empty one. Raises ``StoreTooNew``, or ``StorageCorrupt`` if it is not ours.

    Asked before anything is set on the database: what is not ours stays as it is.
    """
    connection.execute("BEGIN")  # both checks at the same moment: someone may be creating the tables
    try:
        version = version_of(connection)
        has_tables = connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None
    finally:
        connection.execute("ROLLBACK")
    if version > len(steps):
        raise StoreTooNew(path, version, len(steps))
    if version == 0 and has_tables:
        raise StorageCorrupt(f"{path} is another program's database. Move it, or choose another folder.", path)
    return version


def migrate(connection: sqlite3.Connection, *, steps: Steps = STEPS) -> None:
    """Bring the database to the newest version, one transaction a step; one that fails leaves what was reached, whole.

    The version is read inside the transaction: of several processes that open a new store, one makes the tables.
    """
    while version_of(connection) < len(steps):
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = version_of(connection)
            if version < len(steps):
                for statement in steps[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
