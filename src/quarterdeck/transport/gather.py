"""The pipes of all sessions of an event loop, watched together.

A loop does a good deal for each descriptor that has something to read, and to wake up for one line costs more than to
take it in. So the pipes are in an epoll of their own, which the loop watches as one descriptor: whatever is ready is
read in one callback.

When many sessions speak at once, line by line, the program would still wake up for nearly every line. Then the pipes
are looked at every ``PAUSE_S`` instead, as a network driver does under load, until there is little to read again. It
costs a delta two milliseconds and saves a third of the processor time. It is never done to those who cannot wait: not
while something is written (the CLI is likely to react to it), not while more comes than one read takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Protocol

PAUSE_S = 0.002
"""Between two looks."""

BUSY_WAKES = 10
BUSY_S = 0.01
"""So many wake-ups in so little time are too many: a thousand in a second."""

PERIOD = 8
"""Looks after which it is decided whether to go on. Worth it when they found something each, on average."""


class Watcher(Protocol):
    """Calls back while a descriptor has something to read."""

    def add(self, descriptor: int, callback: Callable[[], None], context: Context) -> None: ...

    def pause(self, descriptor: int) -> None: ...

    def resume(self, descriptor: int) -> None: ...

    def remove(self, descriptor: int) -> None:
        """Harmless when it was not added."""

    def hurry(self) -> None:
        """Something is going on that must not be delayed."""


def watcher(loop: asyncio.AbstractEventLoop, *, together: bool) -> Watcher:
    """``together``: this system has what it takes (``Capabilities.epoll``)."""
    if not together:
        return _EachByTheLoop(loop)
    return _gatherers.get(loop) or Gatherer(loop)


class _EachByTheLoop:
    """Where there is no epoll."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._callbacks: dict[int, Callable[[], None]] = {}

    def add(self, descriptor: int, callback: Callable[[], None], context: Context) -> None:
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

    def hurry(self) -> None:
        pass


class Gatherer:
    """Of one loop. It has a descriptor, and is known, from its first pipe to its last."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._callbacks: dict[int, tuple[Context, Callable[[], None]]] = {}
        self._since = 0.0
        self._wakes = 0
        self._timer: asyncio.TimerHandle | None = None
        """While the pipes are looked at every now and then."""
        self._looks = self._found = 0

    def add(self, descriptor: int, callback: Callable[[], None], context: Context) -> None:
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
        with contextlib.suppress(FileNotFoundError):  # it is paused
            self._epoll.unregister(descriptor)
        self._close_if_unused()

    def hurry(self) -> None:
        self._wakes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._loop.add_reader(self._epoll.fileno(), self._woken)

    @property
    def gathers(self) -> bool:
        """Are the pipes looked at every now and then?"""
        return self._timer is not None

    # By event

    def _woken(self) -> None:
        if not self._callbacks:  # closed, or in a forked child
            return
        now = self._loop.time()
        if now - self._since > BUSY_S:
            self._since, self._wakes = now, 0
        self._wakes += 1
        self._read()
        if self._wakes >= BUSY_WAKES and self._callbacks:
            self._loop.remove_reader(self._epoll.fileno())
            self._looks = self._found = 0
            self._timer = self._loop.call_later(PAUSE_S, self._look)

    # By time

    def _look(self) -> None:
        self._timer = self._loop.call_later(PAUSE_S, self._look)
        self._looks += 1
        self._found += self._read()
        if self._looks == PERIOD:
            if self._found < PERIOD:
                self.hurry()
            self._looks = self._found = 0

    def _read(self) -> int:
        callbacks = self._callbacks
        ready = self._epoll.poll(0, len(callbacks))
        for descriptor, _ in ready:
            added = callbacks.get(descriptor)
            if added is not None:  # else it was removed by one before it
                try:
                    added[0].run(added[1])
                except Exception as error:  # noqa: BLE001  # as the loop itself does: the others must be read
                    context = {"message": "a session's callback failed", "exception": error}
                    self._loop.call_exception_handler(context)
        return len(ready)

    # Its own beginning and end

    def _open(self) -> None:
        self._epoll = select.epoll()
        self._loop.add_reader(self._epoll.fileno(), self._woken)
        _gatherers[self._loop] = self

    def _close_if_unused(self) -> None:
        if self._callbacks:
            return
        del _gatherers[self._loop]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif not self._loop.is_closed():
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
