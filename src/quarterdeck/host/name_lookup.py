"""Looks up the addresses of a name within a time limit, however long the resolver takes.

A lookup can't be cancelled: its thread stays until the resolver gives up. So each lookup has its own daemon thread,
which doesn't block a shared pool or the program's exit, and concurrent lookups of a name share one.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LOOKUP_S = 5.0
"""How long a name server has to answer: the usual resolvers' timeout for one query."""
MOST_LOOKUPS = 128
"""Limit on threads waiting for a name server: more than there are alerts."""


class NameLookup:
    """Lookups in progress, by name."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Future[list[str]]] = {}

    async def addresses(self, name: str) -> list[str]:
        """Look up a name's addresses, in the resolver's order. Raises ``OSError``, e.g. ``TimeoutError``."""
        with contextlib.suppress(ValueError):
            return [str(ipaddress.ip_address(name))]
        found = self._running.get(name)
        if found is None:
            if len(self._running) >= MOST_LOOKUPS:
                raise OSError("too many names are being looked up")
            found = self._running[name] = in_thread(lambda: _resolved(name))
            found.add_done_callback(lambda _: self._running.pop(name, None))
        try:
            async with asyncio.timeout(LOOKUP_S):
                return await asyncio.shield(found)
        except TimeoutError:
            raise TimeoutError(f"no answer within {LOOKUP_S:.0f} s") from None


def _resolved(name: str) -> list[str]:
    try:
        return [str(place[0]) for *_, place in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    except UnicodeError as error:  # a label is empty or too long
        raise OSError(str(error)) from error


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run in its own daemon thread; returns or raises its outcome."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def done(result: T | None, error: Exception | None) -> None:
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)
            future.exception()  # the one who asked may be gone

    def run() -> None:
        result, problem = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 (raised where it is awaited)
            problem = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(done, result, problem)

    threading.Thread(target=run, name="quarterdeck-webhook", daemon=True).start()
    return future
