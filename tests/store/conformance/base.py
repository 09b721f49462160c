"""What the parts of the suite share."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from quarterdeck.store import EventStore


class Conformance:
    """What the parts share."""

    @abstractmethod
    def open(self, folder: Path) -> AbstractAsyncContextManager[EventStore]:
        """An empty store; ``folder`` is empty and its own."""
