"""The durable log of many sessions, and what is known because of it. A store decides nothing: the host does.

::

    async with await SqliteStore.open("~/.local/state/quarterdeck") as store:
        done = await store.commit(Commit(session=…, fence=…, rows=[…], changes=[…]))
        page = await store.read(session, after=done.first_seq - 1)

Per session one gap-free sequence of rows from 1; beside it projections (sessions, approvals, grants, usage, audit …)
that are written in the same transaction, so they never disagree with the log. What is committed is there after a crash.

``interface`` what a store does · ``records`` what it keeps · ``commits`` what is written · ``queries`` what is asked ·
``applying`` and ``checking`` what a commit means · ``memory`` and ``sqlite`` the stores.
"""

from __future__ import annotations

from . import commits, errors, queries, records
from .commits import Commit, Committed
from .errors import StoreError
from .interface import EventStore
from .memory import MemoryStore
from .sqlite import SqliteStore, Sync, restore

__all__ = [
    "Commit",
    "Committed",
    "EventStore",
    "MemoryStore",
    "SqliteStore",
    "StoreError",
    "Sync",
    "commits",
    "errors",
    "queries",
    "records",
    "restore",
]
