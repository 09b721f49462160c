"""Ctrl-C, Esc and termination signals: Esc or the first Ctrl-C interrupts the turn, a second Ctrl-C exits."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from types import TracebackType

from quarterdeck.cli.common import INTERRUPTED

_ENDING = {signal.SIGTERM: 143, signal.SIGHUP: 129} if hasattr(signal, "SIGHUP") else {signal.SIGTERM: 143}


class Interrupts:
    """A context manager around the current task, which it cancels to exit."""

    def __init__(self) -> None:
        self.interrupt: Callable[[], Awaitable[object] | None] = lambda: None
        """Interrupts the turn; returns None if there is none, and then we exit at once."""
        self._task = asyncio.current_task()
        self._asked: asyncio.Task[None] | None = None
        self.code = 0
        """The exit code after a signal."""
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
        if not self.escaped():
            self.leave(INTERRUPTED)

    def escaped(self) -> bool:
        """Esc interrupts the turn and never exits. False if there is no turn, or it was interrupted before."""
        work = None if self.interrupted else self.interrupt()
        if work is None:
            return False
        self.interrupted = True
        self._asked = asyncio.ensure_future(_ignore_errors(work))
        return True

    def leave(self, code: int) -> None:
        self.code = code
        if self._task is not None:
            self._task.cancel()

    def fail(self, error: Exception) -> None:
        """Exit because of an internal error, which the caller raises."""
        self.error = self.error or error
        self.leave(1)


async def _ignore_errors(work: Awaitable[object]) -> None:
    from quarterdeck.client.errors import QuarterdeckError

    with contextlib.suppress(QuarterdeckError):  # the session is already ending
        await work
