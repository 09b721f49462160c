"""Writes one session's log: in order, what waits in one commit, and again after the disk had no room."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from quarterdeck.store import Commit, Committed, EventStore
from quarterdeck.store.commits import Change
from quarterdeck.store.errors import StorageFailed, StoreClosed, StoreError
from quarterdeck.store.records import NewRow, Receipt

logger = logging.getLogger("quarterdeck.host")

RETRY_S = 0.5
"""After a disk that was full or a database that was busy: how long until the next try."""


Promise: TypeAlias = Receipt | Callable[[], Receipt | None]
"""A receipt, or what makes it once everything before it is written."""


class Batch(msgspec.Struct):
    """What is to be written together, and who waits for it."""

    rows: Sequence[NewRow]
    changes: Sequence[Change]
    done: asyncio.Future[Committed]
    written: Callable[[Committed], None] | None = None
    """Called in the order of the log, before anybody who waits goes on."""
    receipt: Promise | None = None
    alone: bool = False
    """It may be refused, also by the disk, so it is not joined with others."""

    @property
    def may_be_joined(self) -> bool:
        """A commit has one receipt."""
        return not self.alone and self.receipt is None


class LogWriter:
    """One commit at a time; whatever comes meanwhile is joined to the next one."""

    def __init__(
        self,
        store: EventStore,
        session: str,
        fence: int,
        *,
        stalled: Callable[[StoreError | None], None] = lambda _: None,
    ) -> None:
        """``stalled`` is told why nothing can be written, and None when it can again."""
        self._store = store
        self._session = session
        self._fence = fence
        self._stalled = stalled
        self._waiting: deque[Batch] = deque()
        self._task: asyncio.Task[None] | None = None
        self._failed: StoreError | None = None
        self._why_stalled: StoreError | None = None
        self._next_stall: asyncio.Future[None] | None = None
        """For those who wait: done when nothing can be written."""

    @property
    def idle(self) -> bool:
        return self._task is None

    def write(
        self,
        rows: Sequence[NewRow] = (),
        changes: Sequence[Change] = (),
        *,
        written: Callable[[Committed], None] | None = None,
        receipt: Promise | None = None,
        alone: bool = False,
    ) -> asyncio.Future[Committed]:
        """Done when it is durable. The future fails with a ``StoreError`` when it cannot be written at all."""
        done: asyncio.Future[Committed] = asyncio.get_running_loop().create_future()
        if self._failed is not None:
            done.set_exception(self._failed)
            done.exception()  # it may be that nobody waits
            return done
        if alone and self._why_stalled is not None:
            done.set_exception(self._why_stalled)
            done.exception()
            return done
        self._waiting.append(Batch(rows, changes, done, written, receipt, alone))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
        return done

    async def settled(self) -> None:
        """Wait until everything that was handed over is written or refused, or until nothing can be written."""
        while (task := self._task) is not None and self._why_stalled is None:
            stalled = self._next_stall = self._next_stall or asyncio.get_running_loop().create_future()
            await asyncio.wait([task, stalled], return_when=asyncio.FIRST_COMPLETED)

    async def drained(self) -> None:
        """Wait until everything that was handed over is written or refused, however long that takes."""
        while (task := self._task) is not None:
            await asyncio.wait([task])

    async def close(self, timeout_s: float = 5.0) -> None:
        """Write what waits, within this time."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=timeout_s)
        if (task := self._task) is not None:
            task.cancel()
            await asyncio.wait([task])
            self._fail(self._waiting, self._why_stalled or StoreClosed())
            self._waiting.clear()

    async def _run(self) -> None:
        try:
            while self._waiting:
                await self._write(self._next())
        finally:
            self._task = None

    def _next(self) -> list[Batch]:
        batches = [self._waiting.popleft()]
        while not batches[0].alone and self._waiting and self._waiting[0].may_be_joined:
            batches.append(self._waiting.popleft())
        return batches

    async def _write(self, batches: list[Batch]) -> None:
        if not any(batch.rows or batch.changes or batch.receipt for batch in batches):
            self._done(batches, Committed())
            return
        promise = batches[0].receipt
        commit = Commit(
            session=self._session,
            fence=self._fence,
            rows=[row for batch in batches for row in batch.rows],
            changes=[change for batch in batches for change in batch.changes],
            receipt=promise() if callable(promise) else promise,
        )
        try:
            committed = await (self._store.commit(commit) if batches[0].alone else self._commit(commit))
        except StoreError as error:
            self._refuse(batches, error)
        except Exception as error:
            logger.exception("Session %s cannot be written", self._session)
            self._refuse(batches, StoreError(f"The log cannot be written: {error!r}"))  # nobody must wait for ever
        except asyncio.CancelledError:
            self._fail(batches, self._why_stalled or StoreClosed())
            raise
        else:
            self._done(batches, committed)

    def _done(self, batches: list[Batch], committed: Committed) -> None:
        first = committed.first_seq
        for batch in batches:
            count = len(batch.rows)
            own = msgspec.structs.replace(
                committed, first_seq=first if count else 0, last_seq=first + count - 1 if count else 0
            )
            first += count
            if batch.written is not None:
                batch.written(own)
            if not batch.done.done():
                batch.done.set_result(own)

    async def _commit(self, commit: Commit) -> Committed:
        """What runs must not be lost because the disk is full: the lines wait here, and in the spool behind them."""
        while True:
            try:
                committed = await self._store.commit(commit)
            except StorageFailed as error:
                self._stall(error)
                await asyncio.sleep(RETRY_S)
            else:
                if self._why_stalled is not None:
                    self._why_stalled = None
                    self._stalled(None)
                return committed

    def _stall(self, error: StorageFailed) -> None:
        if self._why_stalled is None:
            logger.error("Session %s cannot be written: %s", self._session, error)
        self._why_stalled = error
        if self._next_stall is not None:
            self._next_stall.set_result(None)
            self._next_stall = None
        refused = [batch for batch in self._waiting if batch.alone]
        self._waiting = deque(batch for batch in self._waiting if not batch.alone)
        self._fail(refused, error)
        self._stalled(error)

    def _refuse(self, batches: list[Batch], error: StoreError) -> None:
        self._fail(batches, error)
        if not batches[0].alone:
            # The log must have no holes, so nothing may follow what could not be written.
            self._failed = error
            self._fail(self._waiting, error)
            self._waiting.clear()
            self._stalled(error)

    def _fail(self, batches: Iterable[Batch], error: StoreError) -> None:
        for batch in batches:
            if not batch.done.done():
                batch.done.set_exception(error)
                batch.done.exception()  # it may be that nobody waits
