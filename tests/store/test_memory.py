"""The store in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from quarterdeck.store import EventStore, MemoryStore
from store.conformance import StoreConformance


class TestMemoryStore(StoreConformance):
    @asynccontextmanager
    async def open(self, folder: Path) -> AsyncIterator[EventStore]:
        async with MemoryStore() as store:
            yield store
