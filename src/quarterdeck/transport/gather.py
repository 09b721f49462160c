"""Watches the pipes of all sessions of an event loop together.

They share a separate epoll, which the loop watches as one descriptor, so we choose the order: pipes that had little
output last time are read first, and checked again between reads of flooding ones. A session keeps its latency next to
others that send a lot. The loop itself would read in order of arrival.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Protocol, TypeAlias

Callback: TypeAlias = Callable[[], bool | None]
"""Reads once. Returns True if it read so much that others go first."""

FLOODS_AT_A_TIME = 4
"""Reads before the others are checked again: a check covers everything ready, and costs as much as a few messages."""


class Watcher(Protocol):
    """Calls back while a descriptor is readable."""

    def add(self, descriptor: int, callback: Callback, context: Context) -> None: ...

    def pause(self, descriptor: int) -> None: ...

    def resume(self, descriptor: int) -> None: ...

    def remove(self, descriptor: int) -> None:
        """Does nothing if it wasn't added."""


def watcher(loop: asyncio.AbstractEventLoop, *, together: bool) -> Watcher:
    """``together``: whether the system supports it (``Capabilities.epoll``)."""
    if not together:
        return _EachByTheLoop(loop)
    return _gatherers.get(loop) or Gatherer(loop)


class _EachByTheLoop:
    """Fallback without epoll."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._callbacks: dict[int, Callable[[], object]] = {}

    def add(self, descriptor: int, callback: Callback, context: Context) -> None:
        self._callbacks[descriptor] = partial(context.run, callback)
        self.resume(descriptor)

    def pause(self, descriptor: int) -> None:
        if not self._loop.is_closed():
            self._loop.remove_reader(descriptor)

    def resume(self, descriptor: int) -> None:
        self._loop.add_reader(descriptor, self._callbacks[descriptor])

    def remove(self, descriptor: int) -> None:
        if self._callbacks.pop(descriptor, None) is not None:
            self.pause(descriptor)


class Gatherer:
    """One per loop. It is registered, and holds a descriptor, from its first pipe to its last."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._callbacks: dict[int, tuple[Context, Callback]] = {}
        self._flooding: set[int] = set()
        """Pipes that had a lot of output last time."""

    def add(self, descriptor: int, callback: Callback, context: Context) -> None:
        if not self._callbacks:
            self._open()
        try:
            self.resume(descriptor)
            self._callbacks[descriptor] = (context, callback)
        finally:
            self._close_if_unused()

    def pause(self, descriptor: int) -> None:
        self._epoll.unregister(descriptor)

    def resume(self, descriptor: int) -> None:
        self._epoll.register(descriptor, select.EPOLLIN)

    def remove(self, descriptor: int) -> None:
        if self._callbacks.pop(descriptor, None) is None:
            return
        self._flooding.discard(descriptor)
        with contextlib.suppress(FileNotFoundError):  # it is paused
            self._epoll.unregister(descriptor)
        self._close_if_unused()

    def _read(self) -> None:
        if not self._callbacks:  # closed, or in a forked child
            return
        for number, descriptor in enumerate(self._read_quiet(), 1):
            self._read_one(descriptor)
            if not number % FLOODS_AT_A_TIME and self._callbacks:
                self._read_quiet()

    def _read_quiet(self) -> list[int]:
        """Read the ready pipes that aren't flooding; returns those that are."""
        floods = []
        for descriptor, _ in self._epoll.poll(0, len(self._callbacks)):
            if descriptor in self._flooding:
                floods.append(descriptor)
            else:
                self._read_one(descriptor)
        return floods

    def _read_one(self, descriptor: int) -> None:
        added = self._callbacks.get(descriptor)
        if added is None:  # it was removed by one before it
            return
        try:
            floods = added[0].run(added[1])
        except Exception as error:  # noqa: BLE001  # as the loop itself does: the others must be read
            self._loop.call_exception_handler({"message": "a session's callback failed", "exception": error})
            return
        if floods and descriptor in self._callbacks:
            self._flooding.add(descriptor)
        else:
            self._flooding.discard(descriptor)

    # Its own beginning and end

    def _open(self) -> None:
        self._epoll = select.epoll()
        self._loop.add_reader(self._epoll.fileno(), self._read)
        _gatherers[self._loop] = self

    def _close_if_unused(self) -> None:
        if self._callbacks:
            return
        del _gatherers[self._loop]
        if not self._loop.is_closed():
            self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def disown(self) -> None:
        """In a forked child: the epoll is the parent's."""
        self._callbacks.clear()
        self._epoll.close()


_gatherers: dict[asyncio.AbstractEventLoop, Gatherer] = {}


def _disown_all() -> None:
    for gatherer in _gatherers.values():
        gatherer.disown()
    _gatherers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)
