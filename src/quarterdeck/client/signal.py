"""``CancelSignal``: how a callback learns that its answer is no longer wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class CancelSignal:
    """Set once, when the CLI takes its request back or the session ends. The callback's task is cancelled as well."""

    __slots__ = ("_callbacks", "_waiter", "reason")

    def __init__(self) -> None:
        self.reason: str | None = None
        self._callbacks: tuple[Callable[[], None], ...] = ()
        self._waiter: asyncio.Future[None] | None = None

    @property
    def aborted(self) -> bool:
        return self.reason is not None

    def is_set(self) -> bool:
        return self.reason is not None

    def add_callback(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the signal is set; at once if it is set already."""
        if self.reason is not None:
            callback()
        else:
            self._callbacks += (callback,)

    async def wait(self) -> str:
        """Until the signal is set; the reason. Wait for it beside something else: it may never be set."""
        if self.reason is None:
            if self._waiter is None:
                self._waiter = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._waiter)
        return str(self.reason)

    def set(self, reason: str) -> None:
        if self.reason is not None:
            return
        self.reason = reason
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        callbacks, self._callbacks = self._callbacks, ()
        for callback in callbacks:
            callback()
