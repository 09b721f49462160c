"""Removes, now and then, what is older or larger than the host keeps."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from quarterdeck.store.queries import Retained, Retention

from .host_base import HostBase

logger = logging.getLogger("quarterdeck.host")

FIRST_S = 60.0
"""When to look first: a host that has just started has better things to do."""
EVERY_S = 3_600.0


class Retaining(HostBase):
    """What a host forgets without being asked: 90 days of rows and 512 MiB per session are kept unless it says else."""

    def __init__(self, *args: Any, retention: Retention | None = Retention(), **options: Any) -> None:  # noqa: B008 (frozen)
        super().__init__(*args, **options)
        self._retention = retention
        """None: everything is kept."""
        self._retainer: asyncio.Task[None] | None = None

    async def _open(self) -> None:
        await super()._open()
        if self._retention is not None:
            self._retainer = asyncio.get_running_loop().create_task(self._retain_regularly())

    async def close(self) -> None:
        """Leave; with a keeper, the processes go on."""
        retainer, self._retainer = self._retainer, None
        if retainer is not None:
            retainer.cancel()
            await asyncio.gather(retainer, return_exceptions=True)
        await super().close()

    async def retain(self) -> Retained:
        """Remove it now. The host does this by itself, once an hour."""
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
