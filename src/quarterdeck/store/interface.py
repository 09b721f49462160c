"""``EventStore``: what every store does. ``tests/store/conformance.py`` says it in tests."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from quarterdeck._histograms import Histogram

from .commits import Commit, Committed
from .errors import StoreError
from .queries import (
    PAGE_BYTES,
    PAGE_ROWS,
    ApprovalPage,
    ApprovalQuery,
    AuditPage,
    AuditQuery,
    HostChangePage,
    LoadedSession,
    LogPage,
    Retained,
    Retention,
    SessionPage,
    SessionQuery,
    UsageDimension,
    UsageTotal,
)
from .records import (
    ApprovalRecord,
    Effect,
    GrantRecord,
    LogHead,
    Receipt,
    SessionRecord,
    Snapshot,
    TokenRecord,
)

logger = logging.getLogger("quarterdeck.store")

RECEIPT_KEPT_S = 7 * 86_400.0
"""How long an idempotency key is remembered."""

_waits: set[asyncio.Task[None]] = set()
"""Of ``submit``: a loop does not keep its tasks alive."""


class EventStore(ABC):
    """A durable log per session, and what is known because of it.

    Commits are written in the order in which ``commit`` is called. A caller that is cancelled while it waits does not
    take its commit back: it may be written, and a receipt tells. Reads see every commit that has returned.
    """

    commit_times: Histogram | None = None
    """How long transactions took, where that is known."""

    @property
    @abstractmethod
    def rows_written(self) -> int:
        """Rows of all sessions since the store was opened."""

    @property
    def commits_waiting(self) -> int:
        """How many wait to be written."""
        return 0

    @abstractmethod
    async def commit(self, commit: Commit) -> Committed:
        """Write everything, or nothing; returns when it is durable. Raises ``StoreError``."""

    def submit(self, commit: Commit, answered: Callable[[Committed | StoreError], None]) -> None:
        """As ``commit``, for a caller that goes on: ``answered`` is called in this loop, later, with what came of it.

        Answers come in the order in which commits were submitted.
        """

        async def wait() -> None:
            outcome: Committed | StoreError
            try:
                outcome = await self.commit(commit)
            except StoreError as error:
                outcome = error
            except Exception as error:
                logger.exception("A commit failed")
                outcome = StoreError(f"This cannot be written: {error!r}")
            answered(outcome)

        task = asyncio.get_running_loop().create_task(wait())
        _waits.add(task)
        task.add_done_callback(_waits.discard)

    @abstractmethod
    async def claim(self, sessions: Sequence[str], *, owner: str) -> dict[str, int]:
        """Own these sessions from now on; returns the fence that each write has to carry.

        Whoever owned them is refused from here on (``Fenced``). Raises ``NoSuchSession``; then none is claimed.
        """

    @abstractmethod
    async def use_fold(self, version: str) -> bool:
        """Say which version of the fold makes the snapshots. Another than before renews every epoch and drops them."""

    @abstractmethod
    async def retain(self, retention: Retention, *, now: float) -> Retained:
        """Remove what is older or larger than it may be.

        Kept whatever its age: rows that no snapshot covers, rows from the first open approval and from a session's
        ``open_seq`` on, effects, grants, tokens, usage.
        """

    @abstractmethod
    async def check(self) -> list[str]:
        """Look at everything; returns what is wrong, in words. May take minutes on a large store."""

    @abstractmethod
    async def close(self) -> None:
        """Write what was handed over, then end. Repeatable."""

    # The log.

    @abstractmethod
    async def heads(self) -> list[LogHead]:
        """Where every log stands."""

    @abstractmethod
    async def head(self, session: str) -> LogHead | None:
        """Where this session's log stands."""

    @abstractmethod
    async def read(
        self, session: str, *, after: int = 0, limit_rows: int = PAGE_ROWS, limit_bytes: int = PAGE_BYTES
    ) -> LogPage:
        """Rows after ``after``: at least one, if there is one. Raises ``NoSuchSession``."""

    @abstractmethod
    async def snapshot(self, session: str, *, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot, or the newest at or before a row."""

    @abstractmethod
    async def changes(self, *, after: int, limit: int = PAGE_ROWS) -> HostChangePage:
        """Sessions and approvals that changed after this position of the host-wide stream."""

    @abstractmethod
    async def position(self) -> int:
        """The end of the host-wide stream. Ask before reading a list, then follow the changes after it."""

    @abstractmethod
    async def load(self, session: str) -> LoadedSession | None:
        """What it takes to go on with this session, read at once."""

    # The projections.

    @abstractmethod
    async def session(self, any_id: str) -> SessionRecord | None:
        """A session by its id or one of the CLI's."""

    @abstractmethod
    async def sessions(self, query: SessionQuery) -> SessionPage:
        """Find sessions."""

    @abstractmethod
    async def approval(self, approval: str) -> ApprovalRecord | None:
        """One approval."""

    @abstractmethod
    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        """Find approvals."""

    @abstractmethod
    async def grants(self) -> list[GrantRecord]:
        """All grants, revoked ones too, by id."""

    @abstractmethod
    async def token(self, digest: bytes) -> TokenRecord | None:
        """The token with this digest, revoked or not."""

    @abstractmethod
    async def tokens(self) -> list[TokenRecord]:
        """All tokens, by id."""

    @abstractmethod
    async def usage(
        self, by: Sequence[UsageDimension], *, since: str = "", until: str = "", session: str | None = None
    ) -> list[UsageTotal]:
        """Sums over the days from ``since`` to ``until``, both included; sorted by the dimensions."""

    @abstractmethod
    async def audit(self, query: AuditQuery) -> AuditPage:
        """Who did what."""

    @abstractmethod
    async def effects(self, *, session: str | None = None) -> list[Effect]:
        """What was committed and is not finished, oldest first."""

    @abstractmethod
    async def receipt(self, scope: str, key: str, *, now: float) -> tuple[Receipt, Committed] | None:
        """What a write with this key came to, within the last seven days."""

    @abstractmethod
    async def setting(self, name: str) -> bytes | None:
        """Something that the whole host knows."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
