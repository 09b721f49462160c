"""Messages on their way to the consumer, bounded in memory.

Past the high mark the transport is paused, which slows the CLI down. But unread content may hide a control message that
someone waits for: the answer to the consumer's own control call, or a permission request. So a pause ends after
``patience_s``, or immediately while a control call is open, and further messages go to disk (``Spill``) until the
consumer has caught up. Nothing is dropped, and nothing waits forever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quarterdeck.wire import Message

from .arrival import Arrival
from .spill import Spill

HIGH_BYTES = 8 * 1024 * 1024
LOW_BYTES = 2 * 1024 * 1024
PATIENCE_S = 0.25


class Inbox:
    """Batches of messages, one consumer at a time."""

    __slots__ = (
        *("_batches", "_ended", "_error", "_high", "_low", "_may_spill", "_patience", "_pause", "_paused"),
        *("_resume", "_size", "_spill", "_timer", "_urgent", "_waiter"),
    )

    def __init__(
        self,
        *,
        pause: Callable[[], None],
        resume: Callable[[], None],
        limit_bytes: int,
        high_bytes: int = HIGH_BYTES,
        low_bytes: int = LOW_BYTES,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._pause = pause
        self._resume = resume
        self._high = high_bytes
        self._low = min(low_bytes, high_bytes)
        self._patience = patience_s
        self._batches: list[tuple[list[Message], int]] = []
        """At most about a hundred, because of the high mark. A ``deque`` takes 0.7 KB even when it is empty."""
        self._size = 0
        self._spill = Spill(limit_bytes=limit_bytes)
        self._paused = False
        self._may_spill = False
        """Stays true as long as anything is spilled."""
        self._urgent = 0
        self._timer: asyncio.TimerHandle | None = None
        self._waiter: Arrival | None = None
        self._ended = False
        self._error: Exception | None = None

    @property
    def is_full(self) -> bool:
        """The high mark was reached: reading is paused, or what is read goes to disk."""
        return self._paused or self._may_spill

    @property
    def unread_bytes(self) -> int:
        """Approximate size of what is held in memory."""
        return self._size

    @property
    def spilled_bytes(self) -> int:
        return self._spill.size_bytes

    # The reader's side

    def put(self, messages: list[Message], size: int, *, at_once: bool = False) -> None:
        """Take a batch of about ``size`` bytes. Ignored after ``end``."""
        if self._ended:
            return
        if self._may_spill and (self._spill or self._size >= self._high):
            try:
                self._spill.put(messages)
            except OSError as error:
                self._fail(error)
                return
        else:
            self._batches.append((messages, size))
            self._size += size
            if self._size >= self._high and not self._may_spill:
                self._hold()
        if self._waiter is not None:
            self._waiter.wake(at_once=at_once)

    def end(self, error: Exception | None = None) -> None:
        """Nothing more will come. ``error`` is raised once everything before it has been read."""
        if not self._ended:
            self._ended = True
            self._error = error
            self._stop_timer()
            if self._waiter is not None:
                self._waiter.wake()

    def _fail(self, error: OSError) -> None:
        """From here on content is lost, and the consumer gets the error. Control messages are still served."""
        self._spill.close()
        self.end(OSError(error.errno, f"unread messages could not be written to disk: {error.strerror or error}"))

    def _hold(self) -> None:
        """Stop reading for a limited time."""
        if self._urgent:
            self._may_spill = True
            return
        if not self._paused:
            self._paused = True
            self._pause()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._go_on)

    def _go_on(self) -> None:
        self._stop_timer()
        if self._paused and not self._ended:
            self._may_spill = True
            self._paused = False
            self._resume()

    def stop_reading(self) -> None:
        """The session is closing. With an unread backlog, stop reading: the transport then ends a flood early."""
        self._stop_timer()
        if self._spill and not self._paused:
            self._paused = True
            self._pause()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Control calls

    def urgent(self, change: int) -> None:
        """One more (1) or one fewer (-1) control call is open; reading must not pause while any is."""
        self._urgent += change
        if self._urgent:
            self._go_on()

    # The consumer's side

    def take(self) -> list[Message] | None:
        """The next messages; [] at the end, None if none are available yet (``await arrival()`` then).

        Raises the error it ended with, once.
        """
        if self._batches:
            messages, size = self._batches.pop(0)
            self._size -= size
            if self._paused or self._may_spill:
                self._relax()
            return messages
        if self._may_spill and self._spill:
            messages = self._spill.take()
            self._relax()
            return messages
        if not self._ended:
            return None
        error, self._error = self._error, None
        if error is not None:
            raise error
        return []

    def arrival(self) -> Arrival:
        """Done as soon as there is something to take."""
        if self._waiter is not None and not self._waiter.done():
            raise RuntimeError(
                "two consumers are reading this session at the same time; use only one, and share its messages yourself"
            )
        self._waiter = Arrival(asyncio.get_running_loop())
        return self._waiter

    def ignore(self) -> None:
        """Discard all messages from now on."""
        self._batches.clear()
        self._size = 0
        self._spill.close()
        self._relax()
        self.end()

    def _relax(self) -> None:
        """The consumer has read something: read on if it caught up enough."""
        if self._size <= self._low and not self._spill:
            self._may_spill = False
            if self._paused:
                self._stop_timer()
                self._paused = False
                self._resume()

    def close(self) -> None:
        self._stop_timer()
        self._spill.close()
