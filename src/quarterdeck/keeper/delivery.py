"""Delivers output to the receiver: nothing while it is paused, then one chunk per loop iteration."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from quarterdeck.transport.base import FLOOD_BYTES

from .output import WINDOW_BYTES

REPORT_BYTES = WINDOW_BYTES // 4
"""How many delivered bytes to report at once to the keeper, so that it can send more."""


class Rest(Protocol):
    """Output left by a dead keeper."""

    def read(self, offset: int) -> bytes:
        """The next bytes; nothing at the end."""


class Delivery:
    """Tracks how far the receiver has read."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        offset: int,
        *,
        paused: bool,
        deliver: Callable[[int, bytes], None],
        on_report: Callable[[int], None],
        on_flood: Callable[[], None],
        on_over: Callable[[], None],
    ) -> None:
        """``on_flood``: too much was discarded. ``on_over``: everything was delivered, and nothing more will come."""
        self._loop = loop
        self._deliver_to = deliver
        self._on_report = on_report
        self._on_flood = on_flood
        self._on_over = on_over
        self._arrived: deque[tuple[int, bytes]] = deque()
        self._rest: Rest | None = None
        self._paused = paused
        self._scheduled = self._discarding = self._ended = self._over = False
        self._discarded_bytes = 0
        self._reported = offset
        self.offset = offset
        """One past the last byte delivered."""

    @property
    def waiting_bytes(self) -> int:
        """Bytes received but not yet delivered."""
        return sum(len(data) for _, data in self._arrived)

    def came(self, offset: int, data: bytes) -> None:
        if self._paused or self._arrived:
            self._arrived.append((offset, data))
        else:
            self._deliver(offset, data)

    def pause(self) -> None:
        self._paused = not self._discarding

    def resume(self) -> None:
        self._paused = False
        self._schedule()

    def discard(self) -> None:
        """Discard all output from now on."""
        self._discarding = True
        self.resume()

    def end(self, rest: Rest | None = None) -> None:
        """No more output will come, except what a dead keeper left."""
        self._rest = rest
        self._ended = True
        self._schedule()

    def stop(self) -> None:
        """Stop delivering, even the end."""
        self._arrived.clear()
        self._rest = None
        self._over = True

    def _deliver(self, offset: int, data: bytes) -> None:
        self.offset = offset + len(data)
        if self._discarding:
            self._discard(len(data))
        else:
            self._deliver_to(offset, data)
        if self.offset - self._reported >= REPORT_BYTES:
            self._reported = self.offset
            self._on_report(self.offset)

    def _discard(self, size: int) -> None:
        before, self._discarded_bytes = self._discarded_bytes, self._discarded_bytes + size
        if before <= FLOOD_BYTES < self._discarded_bytes:
            self._on_flood()

    def _read_rest(self) -> bytes:
        try:
            return b"" if self._rest is None else self._rest.read(self.offset)
        except OSError:  # the file was removed: treat it as the end
            return b""

    def _schedule(self) -> None:
        if not self._scheduled and not self._over and (self._arrived or self._ended):
            self._scheduled = True
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._scheduled = False
        if self._paused or self._over:
            return
        try:
            if self._arrived:
                self._deliver(*self._arrived.popleft())
            elif data := self._read_rest():
                self._deliver(self.offset, data)
            elif self._ended:
                self._over = True
                self._on_over()
        finally:  # an exception is a bug in the receiver, which still gets the rest
            self._schedule()
