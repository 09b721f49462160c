"""A load of ``client.py`` on Quarterdeck without one of its tricks.

Run as ``python without.py TRICK LOAD JSON``; with ``nothing`` for a trick, it is Quarterdeck as it is.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import client
from quarterdeck.client.arrival import Arrival
from quarterdeck.client.serving import RequestServer
from quarterdeck.transport import gather, process


def waking_at_once() -> None:
    """Readers and handlers wake in the next turn of the loop, as they do with a future."""
    wake = Arrival.wake
    Arrival.wake = lambda self, *, at_once=False: wake(self)  # type: ignore[method-assign]


def serving_together() -> None:
    """Requests that come together get a task each."""
    RequestServer.serve = lambda self, requests: self._serve_each(requests[::-1])  # type: ignore[method-assign]


def the_task_that_stays() -> None:
    """A request that comes alone gets a new task."""
    begin = RequestServer.__init__

    def retired(self: RequestServer, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        self.retire()

    RequestServer.__init__ = retired  # type: ignore[method-assign]


def one_epoll() -> None:
    """The loop watches each pipe itself."""
    process.watcher = lambda loop, *, together: gather.watcher(loop, together=False)


def latches() -> None:
    class Latch(asyncio.Event):
        async def within(self, seconds: float) -> bool:
            try:
                async with asyncio.timeout(seconds):
                    await self.wait()
            except TimeoutError:
                return self.is_set()
            return True

    process.Latch = Latch  # type: ignore[assignment,misc]


_TRICKS = (waking_at_once, serving_together, the_task_that_stays, one_epoll, latches)
TRICKS: dict[str, Callable[[], None]] = {"nothing": lambda: None, **{trick.__name__: trick for trick in _TRICKS}}


def main() -> None:
    TRICKS[sys.argv[1]]()
    sys.argv[1] = "quarterdeck"
    client.main()


if __name__ == "__main__":
    main()
