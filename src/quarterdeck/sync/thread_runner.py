"""Runs the program's callbacks: coroutines in the loop, plain functions in threads, where they may block."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, TypeVar

from quarterdeck.client.offload import CallbackRunner
from quarterdeck.client.serving import CancelSignal

logger = logging.getLogger("quarterdeck")

ABORT_POLL_S = 0.1
"""How often a ``threading.Event`` is polled: it cannot call back when it is set."""
KEPT = 10_000
"""Lines of stderr that a slow callback may fall behind; older ones are then lost to it."""
T = TypeVar("T")
_END = object()


class ThreadRunner(CallbackRunner):
    """A thread for each call, so that it may block, wait for a person, and call the session."""

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(*args)
        value = await asyncio.to_thread(function, *args)
        return await value if inspect.isawaitable(value) else value

    def one_way(self, function: Callable[[T], None]) -> Callable[[T], None]:
        return BackgroundCalls(function).take

    def signal(self, signal: CancelSignal) -> ThreadSignal:
        return ThreadSignal(signal)

    def abort(self, abort: Any) -> PolledEvent:
        return PolledEvent(abort)

    async def prompts(self, prompts: Any) -> AsyncIterator[Any]:
        if hasattr(prompts, "__aiter__"):
            async for prompt in prompts:
                yield prompt
            return
        iterator = iter(prompts)
        while (prompt := await asyncio.to_thread(next, iterator, _END)) is not _END:
            yield prompt


class BackgroundCalls(Generic[T]):
    """Calls a function with one item after another, in a thread that lives only while there are items."""

    def __init__(self, function: Callable[[T], None]) -> None:
        self._function = function
        self._waiting: deque[T] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._busy = False

    def take(self, told: T) -> None:
        with self._lock:
            self._waiting.append(told)
            if self._busy:
                return
            self._busy = True
        threading.Thread(target=self._run, name="quarterdeck-told", daemon=True).start()

    def _next(self) -> list[T]:
        with self._lock:
            batch = list(self._waiting)
            self._waiting.clear()
            self._busy = bool(batch)
            return batch

    def _run(self) -> None:
        while batch := self._next():
            for told in batch:
                try:
                    self._function(told)
                except Exception:
                    logger.exception("A notification callback failed: %r", self._function)


class ThreadSignal:
    """``CancelSignal`` with a ``wait`` that blocks."""

    def __init__(self, inner: CancelSignal) -> None:
        self._inner = inner
        self._event = threading.Event()
        inner.add_callback(self._event.set)

    @property
    def reason(self) -> str | None:
        return self._inner.reason

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the answer is no longer needed; False on timeout."""
        return self._event.wait(timeout_s)


class PolledEvent:
    """A ``threading.Event`` that aborts a session."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def is_set(self) -> bool:
        return bool(self._inner.is_set())

    async def wait(self) -> None:
        while not self._inner.is_set():  # noqa: ASYNC110  # it is set by a thread that knows nothing of the loop
            await asyncio.sleep(ABORT_POLL_S)
