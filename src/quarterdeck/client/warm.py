"""``WarmPool``: sessions started and initialized ahead of time.

>>> async with WarmPool(3, ClaudeAgentOptions(cwd="/srv/repo")) as pool:   # doctest: +SKIP
...     async with pool.session(model="haiku") as session:
...         print((await session.prompt("Which tests fail?")).result)
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import copy_context
from types import TracebackType
from typing import Any

import msgspec

from quarterdeck.protocol import Exited
from quarterdeck.wire import PermissionMode

from .errors import CLIConnectionError, QuarterdeckError
from .journal import JournalReader
from .options import ClaudeAgentOptions
from .session import Session

logger = logging.getLogger("quarterdeck")

MAX_IDLE_S = 600.0
"""A CLI reads settings, memory and git state when it starts, so one that has waited long has outdated ones."""
STARTING = 2
"""Concurrent starts: each takes a whole core for a while, which the sessions in use need more."""
HEALTH_S = 1.0
FAILED_START_S = 5.0
"""The wait after a failed start; it doubles with each further one, up to a minute."""
FAILED_START_MAX_S = 60.0


class PoolCounts(msgspec.Struct):
    """What a pool has done so far."""

    warm: int = 0
    """Sessions that were ready when they were taken."""
    cold: int = 0
    """Sessions that had to be started on demand."""
    died: int = 0
    """Sessions that died or stopped answering while they waited."""
    aged_out: int = 0
    failed_starts: int = 0


class _Idle(JournalReader):
    """A session that waits, and wakes the pool if its process ends."""

    def __init__(self, session: Session, since: float, on_exit: Callable[[_Idle], None]) -> None:
        self.session = session
        self.since = since
        self._on_exit = on_exit

    def exited(self, exited: Exited, at: float) -> None:
        self._on_exit(self)


class WarmPool:
    """Keeps ``size`` sessions ready, all with the same options. Use it as an async context manager.

    ``new_session`` makes the sessions: for tests, and for remote sessions.
    """

    def __init__(
        self,
        size: int,
        options: ClaudeAgentOptions | None = None,
        *,
        max_idle_s: float = MAX_IDLE_S,
        starting: int = STARTING,
        health_timeout_s: float = HEALTH_S,
        new_session: Callable[[ClaudeAgentOptions], Session] = Session,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.options = options or ClaudeAgentOptions()
        _check(size, starting, self.options)
        self.size = size
        self.counts = PoolCounts()
        self.last_error: Exception | None = None
        """Why the last start failed; None once one has succeeded again."""
        self._max_idle_s = max_idle_s
        self._health_timeout_s = health_timeout_s
        self._new_session = new_session
        self._clock = clock
        self._slots = asyncio.Semaphore(starting)
        self._idle: deque[_Idle] = deque()
        self._starting = 0
        self._failures = 0
        self._starts: set[asyncio.Task[None]] = set()
        self._ends: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._age_timer: asyncio.TimerHandle | None = None
        self._retry_timer: asyncio.TimerHandle | None = None
        self._open = False
        self._context = copy_context()
        """Sessions start in this context, not in that (and the trace) of the taker who made room for them."""

    async def __aenter__(self) -> WarmPool:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def start(self) -> None:
        """Start filling the pool in the background; ``ready`` waits for it."""
        if self._open:
            raise CLIConnectionError("the pool was already started")
        self._open = True
        self._refill()

    @property
    def idle(self) -> int:
        """How many sessions are ready now."""
        return len(self._idle)

    async def ready(self, count: int | None = None, *, timeout_s: float = 60.0) -> None:
        """Wait until ``count`` sessions are ready, by default all. A ``TimeoutError`` says why starts fail."""
        wanted = self.size if count is None else min(count, self.size)
        try:
            async with asyncio.timeout(timeout_s):
                while len(self._idle) < wanted:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError as error:
            found = f"{len(self._idle)} of {wanted} sessions were ready after {timeout_s} s"
            raise TimeoutError(found) from (self.last_error or error)

    # Taking

    @asynccontextmanager
    async def session(
        self, *, model: str | None = None, permission_mode: PermissionMode | None = None
    ) -> AsyncIterator[Session]:
        """A session of your own, closed at the end. ``model`` and ``permission_mode`` replace those of the options."""
        session = await self.take(model=model, permission_mode=permission_mode)
        try:
            yield session
        finally:
            await session.close()

    async def take(self, *, model: str | None = None, permission_mode: PermissionMode | None = None) -> Session:
        """Like ``session``, but you close it."""
        session = await self._take()
        try:
            if model is not None:
                await session.set_model(model)
            if permission_mode is not None:
                await session.set_permission_mode(permission_mode)
        except BaseException:
            await session.close()
            raise
        return session

    async def _take(self) -> Session:
        if not self._open:
            raise CLIConnectionError("the pool is not open: use `async with`, or call start() first")
        for _ in range(self.size):  # not forever, although skipped ones are replaced in the meantime
            if not self._idle:
                break
            found = self._idle.popleft()
            found.session.journal.remove(found)
            self._refill()
            try:
                healthy = not self._is_old(found) and await self._is_healthy(found.session)
            except BaseException:
                self._end(found.session)
                raise
            if healthy:
                self.counts.warm += 1
                return found.session
            self._end(found.session)
        self._refill()
        self.counts.cold += 1
        return await self._new_session(self.options).open()

    def _is_old(self, found: _Idle) -> bool:
        old = self._clock() - found.since > self._max_idle_s
        self.counts.aged_out += old
        return old

    async def _is_healthy(self, session: Session) -> bool:
        """Whether it is alive and answers. ``mcp_status`` is cheap, and every CLI since 2.0.77 knows it."""
        if session.exit_status is None:
            try:
                await session.request("mcp_status", timeout_s=self._health_timeout_s)
            except QuarterdeckError as error:
                logger.warning("A waiting session did not answer and is replaced: %s", error)
            else:
                return True
        self.counts.died += 1
        return False

    # Keeping

    def tend(self) -> None:
        """End sessions that have waited too long and start missing ones. The pool calls this itself when due."""
        for found in [one for one in self._idle if self._is_old(one)]:
            self._drop(found)
        self._refill()

    def _died(self, found: _Idle) -> None:
        if found in self._idle:
            self.counts.died += 1
            self._drop(found)
            self._refill()

    def _drop(self, found: _Idle) -> None:
        self._idle.remove(found)
        found.session.journal.remove(found)
        self._end(found.session)

    def _refill(self) -> None:
        self._set_age_timer()
        if not self._open or self._retry_timer is not None:
            return
        for _ in range(self.size - len(self._idle) - self._starting):
            self._starting += 1
            self._run(self._start_one(), self._starts)

    async def _start_one(self) -> None:
        try:
            async with self._slots:
                if self._retry_timer is None:
                    await self._warm_up()
        finally:
            self._starting -= 1
            self._refill()
            self._changed.set()

    async def _warm_up(self) -> None:
        session = self._new_session(self.options)
        found = _Idle(session, 0.0, self._died)
        session.journal.add(found)
        try:
            await session.open()
        except Exception as error:  # noqa: BLE001  # whatever it is, takers meet it again at their cold start
            self._failed(error)
            return
        if session.exit_status is not None or not self._open:
            await session.close()
            return
        self._failures, self.last_error = 0, None
        found.since = self._clock()
        self._idle.append(found)

    def _failed(self, error: Exception) -> None:
        """Starts that fail must not be repeated at full speed."""
        self.counts.failed_starts += 1
        self.last_error = error
        self._failures += 1
        wait_s = min(FAILED_START_S * 2 ** (self._failures - 1), FAILED_START_MAX_S)
        logger.warning("A session of the pool did not start; retrying in %.0f s: %s", wait_s, error)
        if self._retry_timer is None and self._open:
            self._retry_timer = asyncio.get_running_loop().call_later(wait_s, self._start_again)

    def _start_again(self) -> None:
        self._retry_timer = None
        self._refill()

    def _set_age_timer(self) -> None:
        if self._age_timer is not None:
            self._age_timer.cancel()
            self._age_timer = None
        if self._idle and self._open:
            left_s = self._idle[0].since + self._max_idle_s - self._clock()
            self._age_timer = asyncio.get_running_loop().call_later(max(left_s, 0.0) + 0.01, self.tend)

    def _end(self, session: Session) -> None:
        """Close in the background: nobody needs to wait for it."""

        async def close() -> None:
            await session.close()

        self._run(close(), self._ends)

    def _run(self, work: Coroutine[Any, Any, None], jobs: set[asyncio.Task[None]]) -> None:
        job = asyncio.get_running_loop().create_task(work, context=self._context.copy())
        jobs.add(job)
        job.add_done_callback(self._done)

    def _done(self, job: asyncio.Task[None]) -> None:
        self._starts.discard(job)
        self._ends.discard(job)
        if not job.cancelled() and (error := job.exception()) is not None:
            logger.error("The pool could not end or start a session", exc_info=error)

    async def close(self) -> None:
        """End all waiting sessions, even if cancelled meanwhile. Sessions that were taken are left to their users."""
        self._open = False
        for timer in (self._age_timer, self._retry_timer):
            if timer is not None:
                timer.cancel()
        self._age_timer = self._retry_timer = None
        ending = asyncio.gather(*self._wind_up(), return_exceptions=True)
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending
            raise

    def _wind_up(self) -> list[asyncio.Task[None]]:
        for job in self._starts:
            job.cancel()  # a start that is cancelled ends its process
        while self._idle:
            found = self._idle.popleft()
            found.session.journal.remove(found)
            self._end(found.session)
        return [*self._starts, *self._ends]


def _check(size: int, starting: int, options: ClaudeAgentOptions) -> None:
    if size < 1 or starting < 1:
        raise ValueError("WarmPool needs a size and a number of concurrent starts of at least 1")
    if options.session_id is not None:
        raise ValueError("a pool's sessions cannot all have the same session_id")
    if (options.resume or options.continue_conversation) and not options.fork_session:
        raise ValueError(
            "a pool's sessions cannot all resume the same conversation; use fork_session=True to get copies"
        )
