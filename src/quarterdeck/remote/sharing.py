"""Shares one connection among a program's sessions on the same host: opened by the first, closed by the last."""

from __future__ import annotations

import asyncio
import os
from typing import TypeAlias
from weakref import WeakKeyDictionary

from .remote_host import RemoteHost

Place: TypeAlias = str | os.PathLike[str] | RemoteHost
"""A host's address, or a connection that the program manages itself."""


class _Shared:
    """A connection and its number of users."""

    def __init__(self, host: RemoteHost) -> None:
        self.host = host
        self.users = 0
        self.opening = asyncio.Lock()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str | None], _Shared]] = WeakKeyDictionary()


class Borrowed:
    """A connection for one session."""

    def __init__(self, place: Place, token: str | None) -> None:
        self._place = place
        self._token = token
        self._shared: _Shared | None = None

    async def open(self) -> RemoteHost:
        """Raises ``HostError``."""
        if isinstance(self._place, RemoteHost):
            return await self._place.open()
        known = _by_loop.setdefault(asyncio.get_running_loop(), {})
        name = (os.fspath(self._place), self._token)
        if name not in known:
            known[name] = _Shared(RemoteHost(self._place, token=self._token))
        shared = self._shared = known[name]
        shared.users += 1
        try:
            async with shared.opening:
                return await shared.host.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Release it."""
        shared, self._shared = self._shared, None
        if shared is None:
            return
        shared.users -= 1
        if not shared.users:
            known = _by_loop.get(asyncio.get_running_loop(), {})
            for name in [name for name, one in known.items() if one is shared]:
                del known[name]
            await shared.host.close()
