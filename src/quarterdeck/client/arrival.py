"""``Arrival``: wakes a reader in the same call that delivers its messages.

A ``Future`` wakes its task in the next turn of the loop, which is one more system call and a good part of what a
message costs at a model's pace. A task can wait for anything that declares itself a future (``asyncio.isfuture``), and
this one runs the task immediately where that is allowed: when no other task is running.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Any


class Arrival:
    """Wakes one task. It carries no result."""

    _context: Context | None
    _message: Any

    __slots__ = ("_asyncio_future_blocking", "_callback", "_cancelled", "_context", "_done", "_loop", "_message")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._asyncio_future_blocking = False
        self._loop = loop
        self._callback: Callable[[Any], object] | None = None
        self._done = self._cancelled = False

    def wake(self, *, at_once: bool = False) -> None:
        """Does nothing if it is already done."""
        if self._done:
            return
        self._done = True
        if self._callback is None:
            return
        if at_once and self._context is not None and asyncio.current_task(self._loop) is None:
            self._context.run(self._callback, self)
        else:
            self._loop.call_soon(self._callback, self, context=self._context)

    def __await__(self) -> Generator[Any, None, None]:
        if not self._done:
            self._asyncio_future_blocking = True
            yield self

    # What a task asks of a future

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:
        self._callback, self._context = callback, context
        if self._done:
            self._loop.call_soon(callback, self, context=context)

    def remove_done_callback(self, callback: Callable[[Any], object]) -> int:
        found = self._callback == callback
        if found:
            self._callback = None
        return int(found)

    def cancel(self, msg: Any = None) -> bool:
        if self._done:
            return False
        self._cancelled, self._message = True, msg
        self.wake()
        return True

    def cancelled(self) -> bool:
        return self._cancelled

    def done(self) -> bool:
        return self._done

    def result(self) -> None:
        if self._cancelled:
            raise asyncio.CancelledError(*(() if self._message is None else (self._message,)))

    def exception(self) -> None:
        self.result()
