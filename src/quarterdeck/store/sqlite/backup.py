"""Copies of a store: made while it is in use, before a migration, and put back."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from quarterdeck.store.errors import StoreError
from quarterdeck.store.tables import new_epoch

from .connecting import connect
from .faults import store_error
from .folder import StoreFolder
from .schema import STEPS, Steps, check_version, migrate

BUSY_S = 5.0
POSITION_LEAP = 2**32
"""How far a restored host-wide stream skips ahead, so that positions issued before mean nothing in it."""


def back_up(folder: StoreFolder, target: Path) -> None:
    """Copy a store to a new folder, from one moment of it. The folder appears when it is complete.

    Until the copy is made, the write-ahead log holds everything that is written meanwhile.
    """
    if target.exists():
        raise StoreError(f"{target} already exists. Choose a new folder: a backup never overwrites anything.")
    draft = StoreFolder(target.with_name(f"{target.name}.partial"))
    try:
        shutil.rmtree(draft.path, ignore_errors=True)
        draft.make()
        with folder.holding_large():
            copy_database(folder.database, draft.database)
            for row in large_rows(draft.database):
                _link_or_copy(folder.large_file(row), draft.large_file(row))
        draft.path.rename(target)
    except (OSError, sqlite3.Error) as error:
        raise store_error(error, draft.database) from error
    finally:
        shutil.rmtree(draft.path, ignore_errors=True)


def copy_database(source: Path, target: Path) -> None:
    """A consistent copy, whatever is written meanwhile; durable when it returns."""
    with contextlib.closing(connect(source, busy_s=BUSY_S)) as reading:
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        with contextlib.closing(connect(target, busy_s=BUSY_S)) as writing:
            reading.backup(writing)
    with target.open("rb+") as file:
        os.fsync(file.fileno())


def bring_up_to_date(database: Path, connect_to_write: Callable[[], sqlite3.Connection], steps: Steps = STEPS) -> None:
    """Migrate a database of an older version, and keep a copy of it as it was: ``store.db.version-1``.

    Raises ``StoreTooNew``, or ``StorageCorrupt`` if the database is another program's.
    """
    with contextlib.closing(connect(database, busy_s=BUSY_S)) as looking:
        version = check_version(looking, database, steps=steps)
    if 0 < version < len(steps):
        copy_database(database, database.with_name(f"{database.name}.version-{version}"))
    with contextlib.closing(connect_to_write()) as writing:
        migrate(writing, steps=steps)


def large_rows(database: Path) -> list[int]:
    """Rows whose bodies are files."""
    with contextlib.closing(connect(database, busy_s=BUSY_S)) as connection:
        return [row for (row,) in connection.execute("SELECT id FROM rows WHERE large_bytes > 0")]


def _link_or_copy(source: Path, target: Path) -> None:
    """Large bodies never change, so on the same disk both stores may have the same file."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)
        target.chmod(0o600)


def restore(backup: Path, target: Path) -> None:
    """Make a store of a backup, in a folder that has none.

    Its logs get new epochs and the host-wide stream starts anew: cursors that were given out after the backup was made
    would otherwise point at rows that are not the same.
    """
    source, folder = StoreFolder(backup), StoreFolder(target)
    if folder.database.exists():
        raise StoreError(f"{target} already has a store. Move it away first: restoring never overwrites anything.")
    if not source.database.exists():
        raise StoreError(f"{backup} is not a backup: it has no {source.database.name}.")
    try:
        folder.make()
        for path in source.large.iterdir():
            _link_or_copy(path, folder.large / path.name)
        copy_database(source.database, folder.database)
        with contextlib.closing(connect(folder.database, busy_s=BUSY_S)) as connection:
            _start_anew(connection)
    except (OSError, sqlite3.Error) as error:
        folder.database.unlink(missing_ok=True)
        raise store_error(error, folder.database) from error


def _start_anew(connection: sqlite3.Connection) -> None:
    connection.create_function("new_epoch", 0, new_epoch)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE logs SET epoch = new_epoch()")
    connection.execute("DELETE FROM changes")
    leap = "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'changes'"
    connection.execute(leap, (POSITION_LEAP,))
    connection.execute("COMMIT")
