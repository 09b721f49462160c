"""The one thread that writes. Commits that wait while it syncs go into the next transaction together."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from quarterdeck._histograms import Histogram
from quarterdeck._memory import give_back
from quarterdeck.store.commits import Committed
from quarterdeck.store.errors import StorageFailed, StorageFull, StoreClosed, StoreError

from .connecting import WAL_BYTES
from .faults import store_error
from .tables import SqliteTables
from .upkeep import remove_deleted_rows

T = TypeVar("T")
Work = Callable[[SqliteTables], T]

GROUP_JOBS = 2_000
GROUP_BYTES = 4 * 1024 * 1024
"""A transaction takes in no more than this: it keeps the write-ahead log small, and the first to wait from waiting."""
WAL_LIMIT_BYTES = 8 * WAL_BYTES
"""From this size on, a checkpoint waits for readers instead of keeping what they still use."""
IDLE_S = 2.0
"""After this long without a commit, the pages that the writer has in memory are given back."""
LOOK_EVERY = 16
"""Transactions after which the size of the log is looked at, if there is no pause in which to do it."""
RESTART_WAIT_MS = 200
"""How long it waits: our own reads are short, and another program's must not stop the host."""


class Job(NamedTuple):
    """Work for a transaction, and who waits for it."""

    work: Work[Any]
    size_bytes: int
    loop: asyncio.AbstractEventLoop
    answer: Callable[[Any], None]
    """Called in the loop with the work's result, or with the ``StoreError`` that it failed with."""


Outcome = tuple[Job, Any]
"""The outcome of a job."""


class WriterThread:
    """Takes jobs from any thread's event loop and answers there."""

    def __init__(self, open_tables: Callable[[], SqliteTables]) -> None:
        self._open_tables = open_tables
        self._tables: SqliteTables | None = open_tables()
        self._path = self._tables.folder.database
        self._file = _identity(self._path)
        self._wal = self._path.with_name(f"{self._path.name}-wal")
        self._wal_limit_bytes = WAL_LIMIT_BYTES
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._gathered: dict[asyncio.AbstractEventLoop, list[Job]] = {}
        """Jobs of this turn of a loop: they are handed over together at its end."""
        self._unlooked = 0
        """Transactions since the size of the log was looked at."""
        self.times = Histogram()
        """Of transactions."""
        self.rows = 0
        """How many were written."""
        self._was_full = False
        self._closing = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="quarterdeck-store-writer", daemon=True)
        self._thread.start()

    async def do(self, work: Work[T], *, size_bytes: int = 0) -> T:
        """Run this in a transaction; returns when it is durable. Raises ``StoreError``."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def answer(outcome: Any) -> None:
            if future.done():  # its caller was cancelled
                return
            if isinstance(outcome, StoreError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.submit(work, answer, size_bytes=size_bytes)
        return await future

    def submit(self, work: Work[Any], answer: Callable[[Any], None], *, size_bytes: int = 0) -> None:
        """The same without waiting: ``answer`` is called in this loop with the result or the ``StoreError``."""
        loop = asyncio.get_running_loop()
        job = Job(work, size_bytes, loop, answer)
        with self._lock:  # nothing may come behind the end
            if self._closing:
                loop.call_soon(answer, StoreClosed())
            elif (gathered := self._gathered.get(loop)) is not None:
                gathered.append(job)
            else:
                self._gathered[loop] = [job]
                loop.call_soon(self._hand_over, loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Not job by job: each would wake the thread, which then fights with the loop for the interpreter."""
        with self._lock:
            for job in self._gathered.pop(loop, ()):
                self._queue.put(job)

    @property
    def waiting(self) -> int:
        return self._queue.qsize() + sum(map(len, [*self._gathered.values()]))

    def close(self) -> None:
        """Write what waits, then end. Blocks until then. Repeatable."""
        with self._lock:
            if not self._closing:
                self._closing = True
                for job in [job for jobs in self._gathered.values() for job in jobs]:
                    self._queue.put(job)
                self._gathered.clear()
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            jobs, is_open = self._next_group()
            if jobs:
                self._answer(self._write(jobs))
            del jobs  # what was committed need not be kept until more comes
            self._unlooked += 1
            if self._unlooked >= LOOK_EVERY or self._queue.empty():
                self._unlooked = 0
                self._bound_wal()
        if self._tables is not None:
            with contextlib.suppress(Exception):
                self._tables.connection.close()

    def _next_group(self) -> tuple[list[Job], bool]:
        """What waits, up to a limit; whether more may come."""
        first = self._first()
        if first is None:
            return [], False
        jobs, size_bytes = [first], first.size_bytes
        while len(jobs) < GROUP_JOBS and size_bytes < GROUP_BYTES:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return jobs, False
            jobs.append(job)
            size_bytes += job.size_bytes
        return jobs, True

    def _first(self) -> Job | None:
        """The next job; until it comes, rows of deleted sessions are removed piece by piece."""
        while self._tables is not None and self._tables.has_deleted_logs:
            with contextlib.suppress(queue.Empty):
                return self._queue.get_nowait()
            try:
                self._transaction([remove_deleted_rows])
            except Exception:  # noqa: BLE001  # it is tried again after the next commit, whose caller is told
                break
            self._bound_wal()
        try:
            return self._queue.get(timeout=IDLE_S)
        except queue.Empty:
            self._free_cache()
            return self._queue.get()

    def _free_cache(self) -> None:
        """Nothing is written: what the next commits need is read again, from the system's cache."""
        if self._tables is not None:
            with contextlib.suppress(Exception):
                self._tables.connection.execute("PRAGMA shrink_memory")
        give_back()

    def _write(self, jobs: list[Job]) -> list[Outcome]:
        try:
            results = self._transaction([job.work for job in jobs])
        except Exception as error:  # noqa: BLE001  # told to those who wait
            if isinstance(store_error(error, self._path), StorageFailed) or len(jobs) == 1:
                return [(job, _for_one(error, self._path)) for job in jobs]
            return [self._write([job])[0] for job in jobs]  # one of them cannot be stored: the others can
        return list(zip(jobs, results, strict=True))

    def _transaction(self, works: list[Work[Any]]) -> list[Any]:
        """All of them in one transaction: the result of each, or the ``StoreError`` that refused it."""
        began = time.perf_counter()
        self._check_file()
        tables = self._tables = self._tables or self._open_tables()
        results: list[Any] = []
        try:
            if self._was_full:
                self._was_full = not self._empty_wal(tables)
            tables.begin()
            for work in works:
                try:
                    results.append(work(tables))
                except StorageFailed:
                    raise
                except StoreError as refusal:
                    results.append(refusal)
            tables.commit()
        except BaseException as error:
            self._give_up(tables, error)
            raise
        self.times.observe(time.perf_counter() - began)
        self.rows += sum([result.rows for result in results if type(result) is Committed])
        return results

    def _check_file(self) -> None:
        """A removed file can still be written, and everything would be lost when the process ends."""
        if _identity(self._path) != self._file:
            raise StorageFailed(
                f"{self._path} was removed or replaced while it was in use. Nothing was written; put it back, or stop"
                " the host and restore a backup.",
                self._path,
            )

    def _empty_wal(self, tables: SqliteTables) -> bool:
        """Bring all of the write-ahead log into the database; whether nobody was in the way.

        After a full disk, before anything is written: the log holds many pages several times over, and what room there
        is must not go to a log that grows on, but to the database, which lets go of all of the log then.
        """
        is_blocked, _, _ = tables.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_blocked

    def _give_up(self, tables: SqliteTables, error: BaseException) -> None:
        """Undo the transaction. After a failure of the disk the connection is not trusted any more."""
        told = store_error(error, self._path) if isinstance(error, Exception) else None
        self._was_full = isinstance(told, StorageFull)
        try:
            tables.rollback()
        except Exception:  # noqa: BLE001  # the failure that matters is on its way
            is_lost = True
        else:
            is_lost = type(told) is StorageFailed
        if is_lost:
            with contextlib.suppress(Exception):
                tables.connection.close()
            self._tables = None

    def _answer(self, outcomes: list[Outcome]) -> None:
        by_loop: defaultdict[asyncio.AbstractEventLoop, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            by_loop[outcome[0].loop].append(outcome)
        for loop, told in by_loop.items():
            with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits there
                loop.call_soon_threadsafe(_tell, told)

    def _bound_wal(self) -> None:
        """Bring all of the write-ahead log into the database, if readers have kept SQLite from it for too long.

        Usually SQLite does it within a commit, here in the writer's thread: only while nothing is written can all of it
        be brought in, and only then does the file start over instead of growing on.
        """
        try:
            size_bytes = self._wal.stat().st_size
        except OSError:
            return
        if self._tables is None or size_bytes < self._wal_limit_bytes:
            return
        execute = self._tables.connection.execute
        with contextlib.suppress(Exception):  # it is tried again when more has come
            (busy_ms,) = execute("PRAGMA busy_timeout").fetchone()
            execute(f"PRAGMA busy_timeout = {RESTART_WAIT_MS}")
            try:
                is_blocked = execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0]
            finally:
                execute(f"PRAGMA busy_timeout = {busy_ms}")
            self._wal_limit_bytes = size_bytes + WAL_BYTES if is_blocked else WAL_LIMIT_BYTES


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file this is; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _for_one(error: Exception, path: Path) -> StoreError:
    """A separate error for everyone who waits: a traceback belongs to one."""
    told = store_error(error, path)
    if isinstance(told, StorageFailed) and told is error:
        told = type(told)(str(told), told.path)
    if told is not error:
        told.__cause__ = error
    return told


def _tell(outcomes: list[Outcome]) -> None:
    for job, result in outcomes:
        try:
            job.answer(result)
        except Exception as error:  # noqa: BLE001  # the others have to be told, too
            job.loop.call_exception_handler({"message": "A callback for a commit failed", "exception": error})
