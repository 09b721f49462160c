"""``Latch``: a one-shot ``asyncio.Event`` that saves half a kilobyte each."""

from __future__ import annotations

import asyncio


class Latch:
    """Set once, which wakes all waiters."""

    __slots__ = ("_is_set", "_waiters")

    def __init__(self) -> None:
        self._is_set = False
        self._waiters: list[asyncio.Future[None]] = []

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self) -> None:
        """Wait until it is set. Use a timeout if that may never happen."""
        if not self._is_set:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    async def within(self, seconds: float) -> bool:
        """Wait this long at most; returns whether it was set."""
        try:
            async with asyncio.timeout(seconds):
                await self.wait()
        except TimeoutError:
            return self._is_set
        return True
