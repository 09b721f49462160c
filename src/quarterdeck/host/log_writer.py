"""Writes one session's log in order: batches what waits into one commit, and retries when the disk was full."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

import msgspec

from quarterdeck.store import Commit, Committed, EventStore
from quarterdeck.store.commits import Change
from quarterdeck.store.errors import LogMoved, StorageFailed, StoreClosed, StoreError
from quarterdeck.store.records import NewRow, Receipt

logger = logging.getLogger("quarterdeck.host")

RETRY_S = 0.5
"""Delay before retrying after a full disk or a busy database."""
AHEAD = 2
"""Commits in flight: while one is being written, the next is in the store's queue, for its next transaction. Further
ones are merged until one completes."""

T = TypeVar("T")

Promise: TypeAlias = Receipt | Callable[[], Receipt | None]
"""A receipt, or a function that builds it once everything before it is written."""


class Batch(msgspec.Struct):
    """What to write together, and its waiters."""

    rows: Sequence[NewRow]
    changes: Sequence[Change]
    done: asyncio.Future[Committed]
    written: Callable[[Committed], None] | None = None
    """Called in log order, before any waiter continues."""
    receipt: Promise | None = None
    alone: bool = False
    """It may be refused, so it isn't merged with others."""

    @property
    def may_be_joined(self) -> bool:
        """A commit has one receipt."""
        return not self.alone and self.receipt is None

    @property
    def empty(self) -> bool:
        """Nothing to write: a marker to wait for everything before it."""
        return not (self.rows or self.changes or self.receipt)


class Group(msgspec.Struct):
    """Batches written in one commit."""

    batches: list[Batch]
    commit: Commit
    outcome: Committed | StoreError | None = None

    @property
    def alone(self) -> bool:
        return self.batches[0].alone

    @property
    def can_be_followed(self) -> bool:
        """Whether a commit behind it fails if this one does, because it names the row it follows."""
        return bool(self.commit.rows) and self.commit.receipt is None and not self.alone


class LogWriter:
    """Writes one commit at a time, with one more queued in the store; merges everything else meanwhile."""

    def __init__(
        self,
        store: EventStore,
        session: str,
        fence: int,
        *,
        stalled: Callable[[StoreError | None], None] = lambda _: None,
    ) -> None:
        """``stalled`` is called with the reason when writing fails, and with None when it works again."""
        self._store = store
        self._session = session
        self._fence = fence
        self._stalled = stalled
        self._waiting: deque[Batch] = deque()
        self._submitted: deque[Group] = deque()
        """With the store, in order."""
        self._last_seq: int | None = None
        """The last row confirmed by the store; None at first."""
        self._retry: asyncio.TimerHandle | None = None
        self._failed: StoreError | None = None
        self._why_stalled: StoreError | None = None
        self._next_stall: asyncio.Future[None] | None = None
        """For those who wait: done when nothing can be written."""

    @property
    def idle(self) -> bool:
        return not self._submitted and not self._waiting

    def write(
        self,
        rows: Sequence[NewRow] = (),
        changes: Sequence[Change] = (),
        *,
        written: Callable[[Committed], None] | None = None,
        receipt: Promise | None = None,
        alone: bool = False,
    ) -> asyncio.Future[Committed]:
        """Write a batch. The future completes when it is durable, or fails with ``StoreError``."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Committed] = loop.create_future()
        batch = Batch(rows, changes, done, written, receipt, alone)
        error = self._failed or (self._why_stalled if alone else None)
        if error is not None:
            self._fail([batch], error)
            return done
        if rows and not self._waiting and self._retry is None and self._may_submit(batch):
            self._submit([batch])  # as most do
            return done
        self._waiting.append(batch)
        if batch.empty and not self._submitted:
            loop.call_soon(self._hand_over)  # it is done at once, but not before its caller has the future
        else:
            self._hand_over()
        return done

    async def settled(self) -> None:
        """Wait until everything submitted is written or refused, or until writing stalls."""
        if not self.idle and self._why_stalled is None:
            stalled = self._next_stall = self._next_stall or asyncio.get_running_loop().create_future()
            await asyncio.wait([self.write(), stalled], return_when=asyncio.FIRST_COMPLETED)

    async def drained(self) -> None:
        """Wait until everything submitted is written or refused, however long it takes."""
        if not self.idle:
            await asyncio.wait([self.write()])

    async def close(self, timeout_s: float = 5.0) -> None:
        """Write what is queued, within this time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not self.idle and (left_s := deadline - loop.time()) > 0:
            await asyncio.wait([self.write()], timeout=left_s)
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._give_up(self._why_stalled or StoreClosed())

    # Handing over

    def _hand_over(self) -> None:
        """Submit as many commits as may be in flight."""
        while self._waiting and self._retry is None:
            if self._waiting[0].empty:
                if self._submitted and self._submitted[-1].alone:
                    return
                self._after_what_is_submitted(self._waiting.popleft())
            elif self._may_submit(self._waiting[0]):
                self._submit(self._next())
            else:
                return

    def _after_what_is_submitted(self, batch: Batch) -> None:
        if self._submitted:
            self._submitted[-1].batches.append(batch)
        else:
            self._done([batch], Committed())

    def _may_submit(self, batch: Batch) -> bool:
        if not self._submitted:
            return True
        if not batch.may_be_joined or self._why_stalled is not None or self._last_seq is None:
            return False
        return len(self._submitted) < AHEAD and self._submitted[-1].can_be_followed

    def _next(self) -> list[Batch]:
        batches = [self._waiting.popleft()]
        while batches[0].may_be_joined and self._waiting and self._waiting[0].may_be_joined:
            batches.append(self._waiting.popleft())
        return batches

    def _submit(self, batches: list[Batch]) -> None:
        first = batches[0]
        commit = Commit(
            session=self._session,
            fence=self._fence,
            rows=first.rows if len(batches) == 1 else [row for batch in batches for row in batch.rows],
            changes=first.changes if len(batches) == 1 else [change for one in batches for change in one.changes],
            receipt=self._receipt(first),
            after=self._end_of_submitted(),
        )
        group = Group(batches, commit)
        self._submitted.append(group)
        self._store.submit(commit, lambda outcome: self._answered(group, outcome))

    def _receipt(self, batch: Batch) -> Receipt | None:
        promise = batch.receipt
        if not callable(promise):
            return promise
        try:
            return promise()
        except Exception:
            logger.exception("A write of session %s has no receipt", self._session)  # its rows are in the fold
            return None

    def _end_of_submitted(self) -> int | None:
        """The row that the next commit must follow; None for any."""
        if not self._submitted or self._last_seq is None:
            return None
        return self._last_seq + sum(len(group.commit.rows) for group in self._submitted)

    # Results

    def _answered(self, group: Group, outcome: Committed | StoreError) -> None:
        group.outcome = outcome
        while self._submitted and (outcome := self._submitted[0].outcome) is not None:  # type: ignore[assignment]
            if isinstance(outcome, Committed):
                self._succeeded(self._submitted.popleft(), outcome)
            elif all(one.outcome is not None for one in self._submitted):
                groups, self._submitted = self._submitted, deque()
                self._not_written(groups, outcome)
            else:
                return  # what was to follow it is refused as well, and must come back first
        self._hand_over()

    def _succeeded(self, group: Group, committed: Committed) -> None:
        if committed.last_seq and not committed.replayed:
            self._last_seq = committed.last_seq
        if self._why_stalled is not None and not group.alone:
            self._why_stalled = None
            self._call(self._stalled, None)
        self._done(group.batches, committed)

    def _done(self, batches: list[Batch], committed: Committed) -> None:
        first = committed.first_seq
        for batch in batches:
            own = committed
            if len(batches) > 1:
                count = len(batch.rows)
                own = msgspec.structs.replace(
                    committed, first_seq=first if count else 0, last_seq=first + count - 1 if count else 0
                )
                first += count
            if batch.written is not None:
                self._call(batch.written, own)
            if not batch.done.done():
                batch.done.set_result(own)

    def _call(self, reader: Callable[[T], None], told: T) -> None:
        """Call a reader of the log; if it fails, everything behind it is written and shown all the same."""
        try:
            reader(told)
        except Exception:
            logger.exception("Session %s: a reader of the log failed", self._session)

    def _not_written(self, groups: Iterable[Group], error: StoreError) -> None:
        """Handle a failed commit and those that were to follow it."""
        batches = [batch for group in groups for batch in group.batches]
        if batches[0].alone:
            self._fail(batches, error)
        elif isinstance(error, StorageFailed):
            # A full disk must not lose running work: lines wait here, and in the spool behind them.
            self._waiting.extendleft(reversed(batches))
            self._retry = asyncio.get_running_loop().call_later(RETRY_S, self._try_again)
            self._stall(error)
        elif isinstance(error, LogMoved):
            self._waiting.extendleft(reversed(batches))
            self._last_seq = None
        else:
            # The log must have no holes, so nothing may follow a failed commit.
            logger.error("Session %s cannot be written: %s", self._session, error)
            self._failed = error
            self._fail(batches, error)
            self._give_up(error)
            self._call(self._stalled, error)

    def _try_again(self) -> None:
        self._retry = None
        self._hand_over()

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
        self._call(self._stalled, error)

    def _give_up(self, error: StoreError) -> None:
        """Fail all waiters."""
        groups, self._submitted = self._submitted, deque()
        waiting, self._waiting = self._waiting, deque()
        self._fail([*(batch for group in groups for batch in group.batches), *waiting], error)

    def _fail(self, batches: Iterable[Batch], error: StoreError) -> None:
        for batch in batches:
            if not batch.done.done():
                batch.done.set_exception(error)
                batch.done.exception()  # perhaps nobody waits
