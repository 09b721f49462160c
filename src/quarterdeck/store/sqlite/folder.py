"""The folder of a store: the database, the lock that one host holds, and large bodies beside it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from quarterdeck.store.errors import StorageCorrupt, StoreInUse

LARGE_BYTES = 64 * 1024 * 1024
"""Larger bodies are files."""

PID_WIDTH = 20


class StoreFolder:
    """Private to its user: the log contains every conversation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "store.db"
        self.large = path / "large"
        self._lock: int | None = None
        self._holds = 0
        self._held_back: list[int] = []
        self._removing = threading.Lock()

    def make(self) -> None:
        """Create what is missing, readable only by the user; SQLite gives its other files the database's mode."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.large.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def lock(self, *, shared: bool = False) -> None:
        """Keep others out until ``unlock`` or the end of this process; ``shared``: those that do not share.

        Raises ``StoreInUse``.
        """
        lock = os.open(self.path / "store.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(lock, PID_WIDTH, 0).strip()
            os.close(lock)
            raise StoreInUse(self.path, int(owner) if owner.isdigit() else None) from None
        except BaseException:
            os.close(lock)
            raise
        os.pwrite(lock, f"{os.getpid():<{PID_WIDTH}}".encode(), 0)  # over the last one's, which a full disk allows too
        self._lock = lock

    def unlock(self) -> None:
        """Let others in. Repeatable. The file stays: removing it would let two hosts lock two files of
        the same name."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def large_file(self, row: int) -> Path:
        return self.large / f"{row:016x}"

    def write_large(self, row: int, body: bytes) -> None:
        """Durable when it returns, and never half there: the row that names it is committed afterwards."""
        path = self.large_file(row)
        draft = path.with_suffix(".partial")
        try:
            with open(draft, "wb", opener=_private) as file:  # Path.open takes no opener
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(self.large)

    def read_large(self, row: int, size: int) -> bytes:
        path = self.large_file(row)
        try:
            body = path.read_bytes()
        except FileNotFoundError:
            body = b""
        if len(body) != size:
            raise StorageCorrupt(f"{path} should have {size} bytes but has {len(body)}. Restore a backup.", path)
        return body

    def remove_large(self, rows: Collection[int]) -> None:
        """For deleted rows. A file that cannot be removed now is removed at the next start."""
        with self._removing:
            if self._holds:
                self._held_back += rows
                return
        for row in rows:
            with contextlib.suppress(OSError):
                self.large_file(row).unlink()

    @contextlib.contextmanager
    def holding_large(self) -> Iterator[None]:
        """Remove no file within this block: a backup copies those that its rows name."""
        with self._removing:
            self._holds += 1
        try:
            yield
        finally:
            with self._removing:
                self._holds -= 1
                released, self._held_back = ([], self._held_back) if self._holds else (self._held_back, [])
            self.remove_large(released)

    def sweep_large(self, kept: Collection[int]) -> None:
        """Remove files that no row names: a process died between the file and the commit, or while removing."""
        names = {self.large_file(row).name for row in kept}
        for path in self.large.iterdir():
            if path.name not in names:
                with contextlib.suppress(OSError):
                    path.unlink()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
