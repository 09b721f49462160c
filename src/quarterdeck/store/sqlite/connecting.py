"""Connections to the database, and what is set on each."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal, TypeAlias

Sync: TypeAlias = Literal["full", "normal"]
"""``full``: a commit that has returned survives the loss of power. ``normal``: it survives the end and the killing of
the process; if the machine itself goes down, the last commits may be missing, and what is there is whole."""

WAL_BYTES = 16 * 1024 * 1024
"""The write-ahead log is moved into the database at this size, and truncated to it."""
CACHE_KIB = 16 * 1024
"""The writer's, while it writes."""
READER_CACHE_KIB = 256
"""A reader's. The next commit makes all of it useless, and what it lacks is in the system's cache: with a larger one no
read was faster."""
STATEMENTS = 192


def connect(path: Path, *, busy_s: float) -> sqlite3.Connection:
    """A connection that leaves transactions to the caller and may be closed by a different thread."""
    return sqlite3.connect(
        path, timeout=busy_s, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS
    )


def connect_writer(path: Path, *, busy_s: float, sync: Sync, max_bytes: int | None) -> sqlite3.Connection:
    """The one that writes."""
    connection = connect(path, busy_s=busy_s)
    try:
        if connection.execute("PRAGMA page_count").fetchone() == (
            0,
        ):  # it writes, and an old database may be on a full disk
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {sync.upper()}")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: else a sync stops at the disk's own cache
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_BYTES // page}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if max_bytes is not None:
            connection.execute(f"PRAGMA max_page_count = {max(1, max_bytes // page)}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path, *, busy_s: float) -> sqlite3.Connection:
    """A read-only one; readers and the writer do not wait for each other."""
    connection = connect(path, busy_s=busy_s)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection
