"""The keeper's event loop: descriptors, timers, child exits, and work in threads.

Each callback has an owner that is notified if it raises, so a fault in one session ends only that session.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import selectors
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from types import FrameType

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE

OnFault = Callable[[Exception], None]


class Watch:
    """A descriptor and the callback for when it is ready."""

    __slots__ = ("_selector", "callback", "closed", "descriptor", "events", "on_fault")

    def __init__(
        self, selector: selectors.BaseSelector, descriptor: int, callback: Callable[[int], object], on_fault: OnFault
    ) -> None:
        self._selector = selector
        self.descriptor = descriptor
        self.callback = callback
        self.on_fault = on_fault
        self.events = 0
        self.closed = False

    def want(self, events: int) -> None:
        """Wait only for these events; with none, the descriptor isn't watched."""
        if events == self.events or self.closed:
            return
        if not events:
            self._selector.unregister(self.descriptor)
        elif self.events:
            self._selector.modify(self.descriptor, events, self)
        else:
            self._selector.register(self.descriptor, events, self)
        self.events = events

    def close(self) -> None:
        """Stop, and close the descriptor."""
        if not self.closed:
            self.want(0)
            self.closed = True
            os.close(self.descriptor)


class Timer:
    """A callback at a given time. ``cancel()`` is too late only within the same loop round."""

    __slots__ = ("callback", "on_fault")

    def __init__(self, callback: Callable[[], None], on_fault: OnFault) -> None:
        self.callback: Callable[[], None] | None = callback
        self.on_fault = on_fault

    def cancel(self) -> None:
        self.callback = None


class Loop:
    """Runs until ``stop()``. The clock is monotonic, so changes to the system time have no effect."""

    def __init__(self, on_fault: OnFault) -> None:
        self._selector = selectors.DefaultSelector()
        self._on_fault = on_fault
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._posted: deque[tuple[Callable[[], None], OnFault]] = deque()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self.watch(self._wake_read, self._woken, on_fault).want(READ)
        self._running = True
        self.after_round: Callable[[], None] = lambda: None
        """Called once after the callbacks of each round, to send what they collected."""

    def watch(self, descriptor: int, callback: Callable[[int], object], on_fault: OnFault) -> Watch:
        return Watch(self._selector, descriptor, callback, on_fault)

    def call_later(self, seconds: float, callback: Callable[[], None], on_fault: OnFault) -> Timer:
        timer = Timer(callback, on_fault)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def post(self, callback: Callable[[], None], on_fault: OnFault) -> None:
        """Call ``callback`` in the loop. Thread-safe."""
        self._posted.append((callback, on_fault))
        self._wake()

    def beside(self, work: Callable[[], None], then: Callable[[], None], on_fault: OnFault) -> None:
        """Do the work in a thread, then call back in the loop, even if the work raises."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001  # told to its owner
                fault = error
                self.post(lambda: on_fault(fault), self._on_fault)
            finally:
                self.post(then, on_fault)

        try:
            threading.Thread(target=run, daemon=True).start()
        except RuntimeError:  # no more threads
            run()

    def on_signal(self, number: int, callback: Callable[[], None]) -> None:
        """Call ``callback`` in the loop when the signal arrives."""

        def handle(_: int, __: FrameType | None) -> None:
            self._posted.append((callback, self._on_fault))

        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(number, handle)

    def run(self) -> None:
        while self._running:
            for key, events in self._selector.select(self._timeout_s()):
                watch: Watch = key.data
                if events & watch.events:  # unless an earlier callback of this round closed or paused it
                    self._call(watch.callback, watch.on_fault, events)
            self._run_due()
            while self._posted:
                callback, on_fault = self._posted.popleft()
                self._call(callback, on_fault)
            self._call(self.after_round, self._on_fault)

    def stop(self) -> None:
        self._running = False

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        self._selector.close()
        for descriptor in (self._wake_read, self._wake_write):
            os.close(descriptor)

    def _timeout_s(self) -> float | None:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _run_due(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.callback is not None:
                self._call(timer.callback, timer.on_fault)

    def _call(self, callback: Callable[..., object], on_fault: OnFault, *arguments: int) -> None:
        try:
            callback(*arguments)
        except Exception as error:  # noqa: BLE001  # the owner decides; the others go on
            try:
                on_fault(error)
            except Exception as worse:  # noqa: BLE001
                self._on_fault(worse)

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # the loop is awake already
            os.write(self._wake_write, b"\0")

    def _woken(self, _: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)
