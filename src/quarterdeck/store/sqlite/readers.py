"""Reader threads, each with its own connection: they never wait for the writer, nor it for them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from quarterdeck.store.errors import StoreClosed

from .connecting import connect_reader
from .faults import store_error

T = TypeVar("T")


class Readers:
    """Runs a function with a connection, inside one snapshot of the database.

    No snapshot outlives its function, and no function hands out rows as they are read: a consumer that takes its time
    holds nothing that the write-ahead log would have to be kept for.
    """

    def __init__(self, path: Path, *, threads: int, busy_s: float) -> None:
        self._path = path
        self._busy_s = busy_s
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="quarterdeck-store-reader")
        self._closed = False
        self._lock = threading.Lock()

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Raises ``StoreError``."""
        with self._lock:  # nothing may start after the end
            if self._closed:
                raise StoreClosed
            reading = asyncio.get_running_loop().run_in_executor(self._threads, self._run, function)
        return await reading

    def _run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                return function(connection)
            finally:
                connection.execute("ROLLBACK")
        except Exception as error:
            told = store_error(error, self._path)
            if told is error:
                raise
            self._forget()
            raise told from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = connect_reader(self._path, busy_s=self._busy_s)
            self._connections.append(connection)
        return connection

    def _forget(self) -> None:
        """Reopen the file at the next read: it may have been repaired."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is not None:
            del self._own.connection
            self._connections.remove(connection)
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def close(self) -> None:
        """Wait for what is being read, then close. Repeatable."""
        with self._lock:
            self._closed = True
        self._threads.shutdown()
        while self._connections:
            self._connections.pop().close()
