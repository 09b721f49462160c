"""What SQLite and the system refuse, as errors that say what to do."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path

from quarterdeck.store.errors import (
    InvalidCommit,
    StorageBusy,
    StorageCorrupt,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
    StoreError,
)

LITTLE_ROOM_BYTES = 1024 * 1024
"""With less than this free on the disk, an I/O error counts as a full disk: not every file system says so."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
_INVALID = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.DataError, sqlite3.ProgrammingError)


def store_error(error: Exception, path: Path) -> StoreError:
    """The error to raise instead; ``path`` is the database."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, OSError):
        return _system_error(error, path)
    if isinstance(error, _INVALID) or not isinstance(error, sqlite3.Error | MemoryError):
        return InvalidCommit(f"This cannot be stored: {error}")
    return _database_error(error, path)


def _system_error(error: OSError, path: Path) -> StorageFailed:
    if error.errno in _FULL:
        return _full(path)
    if error.errno in _READ_ONLY:
        return _read_only(path)
    return StorageFailed(f"{path.parent} cannot be used: {error}. Check the disk and the folder.", path)


def _database_error(error: Exception, path: Path) -> StorageFailed:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return _full(path)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return _read_only(path)
        case sqlite3.SQLITE_CANTOPEN if not os.access(path.parent, os.W_OK, effective_ids=_EFFECTIVE):
            return _read_only(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageBusy(
                f"Another program has locked {path}. Nothing was written; stop that program, or try again later.", path
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StorageCorrupt(
                f"{path} is damaged ({error}). Stop the host and restore a backup. Keep the damaged file: the sqlite3 "
                "command .recover may recover more.",
                path,
            )
        case _ if _free_bytes(path) < LITTLE_ROOM_BYTES:
            return _full(path)
        case _:
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            return StorageFailed(f"{path} cannot be used: {error} ({name}). Check the disk.", path)


_EFFECTIVE = os.access in os.supports_effective_ids


def _full(path: Path) -> StorageFull:
    return StorageFull(
        f"The disk is full: {path} cannot grow. Nothing was written. Free some space, or let retention remove old "
        "rows; the store then continues by itself.",
        path,
    )


def _read_only(path: Path) -> StorageReadOnly:
    return StorageReadOnly(
        f"{path} or its folder is read-only for this user. Nothing was written; make both writable.", path
    )


def _free_bytes(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return LITTLE_ROOM_BYTES
