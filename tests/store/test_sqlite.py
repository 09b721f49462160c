"""The store in SQLite: what every store does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from quarterdeck.store import EventStore, SqliteStore
from store.conformance import StoreConformance


class TestSqliteStore(StoreConformance):
    @asynccontextmanager
    async def open(self, folder: Path) -> AsyncIterator[EventStore]:
        async with await SqliteStore.open(folder, sync="normal") as store:
            yield store
