"""Sessions whose log can't be written at the moment: they accept no new work, and waiting callers get an error.

Nothing in progress is lost: lines wait in memory up to a limit, then in the keeper's spool, then in the process's pipe.
When the store can be written again, everything continues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from quarterdeck.store.errors import (
    CommitRefused,
    InvalidCommit,
    InvalidCursor,
    KeyReused,
    NoSuchApproval,
    NoSuchSession,
    StoreClosed,
    StoreError,
)

from .errors import Code, HostError

T = TypeVar("T")

SETTLE_S = 0.05
"""After a stall: how long until the work it refused has come back."""


class Stalls:
    """Why each of these sessions can't be written."""

    def __init__(self) -> None:
        self._errors: dict[str, StoreError] = {}
        self._waiting: dict[asyncio.Future[None], str | None] = {}
        self._unfinished: set[asyncio.Task[Any]] = set()

    def tell(self, session: str, error: StoreError | None) -> None:
        """Set why a session can't be written; None if it can again."""
        if error is None:
            self._errors.pop(session, None)
            return
        self._errors[session] = error
        for waiting, about in self._waiting.items():
            if about in (None, session) and not waiting.done():
                waiting.set_result(None)

    def why(self, session: str) -> StoreError | None:
        """Why this session can't be written; None if it can."""
        return self._errors.get(session)

    def all(self) -> list[tuple[str, StoreError]]:
        return sorted(self._errors.items())

    def check(self, session: str | None) -> None:
        """Raises ``HostError`` if the session accepts no new work."""
        error = None if session is None else self._errors.get(session)
        if error is not None:
            raise HostError(
                "storage",
                f"Session {session} accepts no new work, because its log cannot be written: {error}",
                hint="Running work is not lost. Try again once this is fixed; stop still works.",
            )

    async def unless_stalled(self, session: str | None, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of ``work``. If the log stalls meanwhile, raises ``HostError``; the work completes later.

        ``session`` None: not known yet, so any stalled session counts.
        """
        task = asyncio.get_running_loop().create_task(work)
        stalled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[stalled] = session
        try:
            await asyncio.wait((task, stalled), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await asyncio.wait([task], timeout=SETTLE_S)  # what was refused because of it says so itself
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            del self._waiting[stalled]
        if task.done():
            return task.result()
        self._unfinished.add(task)
        task.add_done_callback(self._finished)
        raise HostError(
            "storage",
            "The log cannot be written. The request is kept in memory and carried out once it can be written again.",
            hint="Repeat it only with the same key. get_health says what is wrong.",
            pending=True,
        )

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # its caller already knows

    def close(self) -> None:
        """Stop waiting for unfinished work."""
        for task in tuple(self._unfinished):
            task.cancel()


_CODES: tuple[tuple[type[StoreError], Code], ...] = (
    (NoSuchSession, "not_found"),
    (NoSuchApproval, "not_found"),
    (KeyReused, "conflict"),
    (CommitRefused, "conflict"),
    (InvalidCommit, "invalid"),
    (InvalidCursor, "invalid"),
    (StoreClosed, "shutting_down"),
)


def host_error(error: StoreError) -> HostError:
    """Convert a store error to the error that every API returns."""
    for kind, code in _CODES:
        if isinstance(error, kind):
            return HostError(code, str(error))
    return HostError("storage", str(error))
