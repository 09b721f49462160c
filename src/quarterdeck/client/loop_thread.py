"""An asyncio event loop in its own thread, for programs that do not run one: synchronous ones, and those on trio.

One thread serves all sessions. It starts when it is first used and ends with the interpreter; after ``end``, and in a
forked child, the next use starts another.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet

from .errors import Aborted

T = TypeVar("T")

CLOSE_ALL_S = 6.0
"""Time for all sessions to close at exit: twice the usual grace of one."""
JOIN_S = 10.0
"""Time for the thread to end. It is a daemon, so a thread that hangs does not keep the interpreter alive."""
UNWIND_S = 15.0
"""Time for interrupted work to clean up after Ctrl-C. A second Ctrl-C does not wait."""


class Closeable(Protocol):
    async def close(self) -> Any: ...


class DaemonThreads(concurrent.futures.ThreadPoolExecutor):
    """A daemon thread for each call.

    A callback may wait for a person, which must not hold up other callbacks or the end of the interpreter.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[T]:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  # whoever waits for the call is told
                future.set_exception(error)

        threading.Thread(target=run, name="quarterdeck-callback", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is kept between calls, and nothing is waited for."""


class Work(Generic[T]):
    """A coroutine that runs in the loop's thread, or is about to."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, T]], on_done: Callable[[asyncio.Task[T]], Any]) -> None:
        self._make = make
        self._on_done = on_done
        self._context = contextvars.copy_context()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[T] | None = None

    def hand_to(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        loop.call_soon_threadsafe(self._begin, loop)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._make(), context=self._context)
        self._task.add_done_callback(self._on_done)

    def cancel(self) -> bool:
        """Cancel it, from any thread; False if it was never handed to a loop."""
        if self._loop is None:
            return False
        with contextlib.suppress(RuntimeError):  # the loop is closed: everything was cancelled then
            self._loop.call_soon_threadsafe(self._cancel)
        return True

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class LoopThread:
    """The thread, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finalizer may come here while its own thread is here
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._forgotten: list[asyncio.AbstractEventLoop] = []
        self._open: WeakSet[Closeable] = WeakSet()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    @property
    def running(self) -> bool:
        return self._loop is not None

    def is_current(self) -> bool:
        """Whether the caller runs in this thread, and so must not wait for it."""
        return threading.current_thread() is self._thread

    # Work

    def start(self, work: Callable[[], Coroutine[Any, Any, T]], on_done: Callable[[asyncio.Task[T]], Any]) -> Work[T]:
        """Run the coroutine that ``work`` returns, in the caller's context; ``on_done`` gets the ended task, in the
        loop's thread."""
        started = Work(work, on_done)
        self._hand_over(started)
        return started

    def _hand_over(self, work: Work[T]) -> None:
        with self._lock:  # nothing is scheduled on a loop after it was asked to stop
            work.hand_to(self._running_loop())

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run what ``work`` makes and wait for it. Interrupted (Ctrl-C), it cancels the work and lets it clean up."""
        if self.is_current():
            raise RuntimeError(
                "a coroutine in the session's own event loop made a blocking call, which would deadlock: make the "
                "callback a plain function, which runs in a thread"
            )
        outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        started = Work(work, lambda task: _copy(task, outcome))
        try:  # a signal may come anywhere from here on
            self._hand_over(started)
            return outcome.result()
        except BaseException:
            if not outcome.done() and started.cancel():
                concurrent.futures.wait([outcome], UNWIND_S)
            raise

    def call_function(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Call a plain function in the loop's thread."""

        async def work() -> T:
            return function(*args, **kwargs)

        return self.call(work)

    def settle(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """``call`` for cleanup. A finalizer may run in any thread; in the loop's own it does not wait."""
        if self.is_current():
            self.post(work)
        else:
            self.call(work)

    def post(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run what ``work`` returns without waiting; a failure goes to the loop's exception handler."""
        self.start(work, _report)

    # Open sessions

    def opened(self, session: Closeable) -> None:
        """Close this session at the end. To be called in the loop's thread, like ``closed``."""
        self._open.add(session)

    def closed(self, session: Closeable) -> None:
        self._open.discard(session)

    # Beginning and end

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = loop = asyncio.new_event_loop()
            loop.set_default_executor(DaemonThreads())
            self._thread = threading.Thread(target=self._run, args=(loop,), name="quarterdeck-loop", daemon=True)
            self._thread.start()
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
            loop.run_until_complete(self._farewell())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    async def _farewell(self) -> None:
        """Close the sessions that are open, then cancel whatever is left."""
        closing = [asyncio.ensure_future(session.close()) for session in tuple(self._open)]
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_ALL_S)
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=CLOSE_ALL_S)
        for task in closing:
            if task.done():
                _report(task)

    def end(self) -> None:
        """Close all sessions and end the thread, in bounded time. What waits for it fails with ``Aborted``."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
            if loop is None or thread is None:
                return
            loop.call_soon_threadsafe(loop.stop)
        if not self.is_current():
            thread.join(JOIN_S)

    def _forget(self) -> None:
        """In a forked child there is no thread, and the loop's selector is the parent's: it must not even be closed."""
        self._lock = threading.RLock()
        if self._loop is not None:
            self._forgotten.append(self._loop)
        self._loop = self._thread = None
        self._open = WeakSet()


def _copy(task: asyncio.Task[T], outcome: concurrent.futures.Future[T]) -> None:
    if task.cancelled():
        outcome.set_exception(Aborted("the call was cancelled: its event loop was ended"))
    elif (error := task.exception()) is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


def _report(task: asyncio.Future[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        context = {"message": "quarterdeck: work in the background failed", "exception": error}
        task.get_loop().call_exception_handler(context)


LOOP_THREAD = LoopThread()
"""Shared by all sessions."""
