"""Ctrl-C and the signals that end us: once stops the turn, twice leaves, and either way nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from types import TracebackType

from quarterdeck.cli.common import INTERRUPTED

_ENDING = {signal.SIGTERM: 143, signal.SIGHUP: 129} if hasattr(signal, "SIGHUP") else {signal.SIGTERM: 143}


class Interrupts:
    """As a context manager around the work of the current task, which it cancels when we are to leave."""

    def __init__(self) -> None:
        self.interrupt: Callable[[], Awaitable[object] | None] = lambda: None
        """Stops the turn; it gives None when there is none to stop, and then we leave at once."""
        self._task = asyncio.current_task()
        self._asked: asyncio.Task[None] | None = None
        self.code = 0
        """What to exit with when a signal has ended it."""
        self.error: Exception | None = None
        self.interrupted = False

    def __enter__(self) -> Interrupts:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):  # on Windows Ctrl-C is a KeyboardInterrupt
            loop.add_signal_handler(signal.SIGINT, self.pressed)
            for number, code in _ENDING.items():
                loop.add_signal_handler(number, self.leave, code)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):
            for number in (signal.SIGINT, *_ENDING):
                loop.remove_signal_handler(number)
        if self._asked is not None:
            self._asked.cancel()

    def pressed(self) -> None:
        """Ctrl-C."""
        work = None if self.interrupted else self.interrupt()
        if work is None:
            self.leave(INTERRUPTED)
            return
        self.interrupted = True
        self._asked = asyncio.ensure_future(_quietly(work))

    def leave(self, code: int) -> None:
        self.code = code
        if self._task is not None:
            self._task.cancel()

    def fail(self, error: Exception) -> None:
        """Something of ours is broken: end it, and let the error be seen."""
        self.error = self.error or error
        self.leave(1)


async def _quietly(work: Awaitable[object]) -> None:
    from quarterdeck.client.errors import QuarterdeckError

    with contextlib.suppress(QuarterdeckError):  # the session is ending by itself, which is what was wanted
        await work
