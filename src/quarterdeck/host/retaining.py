"""Deletes old rows once an hour."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from quarterdeck.store.queries import Retained, Retention

from .host_base import HostBase

logger = logging.getLogger("quarterdeck.host")

FIRST_S = 60.0
"""Delay before the first run, so that it does not slow down startup."""
EVERY_S = 3_600.0


class Retaining(HostBase):
    """How much of a session's log to keep. Default: 90 days and 512 MiB."""

    def __init__(self, *args: Any, retention: Retention | None = Retention(), **options: Any) -> None:  # noqa: B008 (frozen)
        super().__init__(*args, **options)
        self._retention = retention
        """None: keep everything."""
        self._retainer: asyncio.Task[None] | None = None

    async def _open(self) -> None:
        await super()._open()
        if self._retention is not None:
            self._retainer = asyncio.get_running_loop().create_task(self._retain_regularly())

    async def close(self) -> None:
        """Close the host. With a keeper, the processes keep running."""
        retainer, self._retainer = self._retainer, None
        if retainer is not None:
            retainer.cancel()
            await asyncio.gather(retainer, return_exceptions=True)
        await super().close()

    async def retain(self) -> Retained:
        """Delete old rows now. The host does this once an hour."""
        return Retained() if self._retention is None else await self.store.retain(self._retention, now=self.now())

    async def _retain_regularly(self) -> None:
        await asyncio.sleep(FIRST_S)
        while True:
            try:
                removed = await self.retain()
                logger.debug("Retention removed %s", removed)
            except Exception:
                logger.exception("Old rows could not be removed")
            await asyncio.sleep(EVERY_S)
