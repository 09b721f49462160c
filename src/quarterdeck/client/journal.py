"""The journal of a session: every line in both directions, in wire order, recorded before it is processed.

The timeline, tracing, the warm pool, the transcript mirror and raw output read it, and so does a durable log. Readers
are called when a line has been read or is about to be written, whether or not the program reads its messages. The
journal stores nothing: a reader that needs earlier lines keeps them itself.

>>> entries: list[JournalEntry] = []
>>> class Keep(JournalReader):
...     def read(self, entries_: Sequence[JournalEntry]) -> None:
...         entries.extend(entries_)
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from quarterdeck.protocol import Exited
from quarterdeck.wire import ControlRequest, Direction, Message, decode

from .errors import CLIConnectionError, JournalError, QuarterdeckError

logger = logging.getLogger("quarterdeck")

Commits = list[asyncio.Future[None]]


class JournalEntry(msgspec.Struct, frozen=True, gc=False):
    """One line."""

    index: int
    """Counts every line of the session from 0, even across processes."""
    at: float
    """Seconds since the epoch; never less than in the entry before."""
    direction: Direction
    """``in``: to the CLI; ``out``: from the CLI, as in recordings."""
    message: Message


class RequestEntry(JournalEntry, frozen=True, gc=False):
    """A request of the CLI. Whoever reads it may answer it, if its callback leaves that to others (``LATER``)."""

    message: ControlRequest
    session: weakref.ref[Any]

    def answer(self, answer: Any, /) -> None:
        """As ``Session.answer``: raises ``LocalProtocolError`` when it has been answered or taken back."""
        session = self.session()
        if session is None:
            raise CLIConnectionError("the session that sent this request is closed")
        session.answer(self.message.request_id, answer)


class JournalReader:
    """Override the methods you need. They run in the event loop, so they must be fast.

    A reader that fails is logged and removed, and the session continues; if it is ``required``, the session ends.
    """

    required = False

    def read(self, entries: Sequence[JournalEntry]) -> Awaitable[None] | None:
        """The next lines. No line from the CLI is dispatched and none of ours is written until the returned awaitable
        completes."""

    def exited(self, exited: Exited, at: float) -> None:
        """The process has ended. Another one may continue the session."""

    def closed(self) -> None:
        """The session is over."""


class Journal:
    """Numbers the lines of a session and passes them to its readers."""

    __slots__ = ("_at", "_clock", "length", "readers", "session")

    def __init__(self, session: Any, *, clock: Callable[[], float] = time.time) -> None:
        self.session = weakref.ref(session)
        """Whose ``answer`` answers requests; weak, so that a session that is dropped is noticed at once."""
        self._clock = clock
        self.readers: tuple[JournalReader, ...] = ()
        self._at = 0.0
        self.length = 0
        """The number of lines so far, and the index of the next one."""

    def add(self, reader: JournalReader) -> None:
        """Report every line to ``reader`` from here on. Add it before opening the session to miss none."""
        self.readers += (reader,)

    def remove(self, reader: JournalReader) -> None:
        """Does nothing if the reader was not added."""
        self.readers = tuple(one for one in self.readers if one is not reader)

    def continue_after(self, last: JournalEntry) -> None:
        """Continue with the numbers and times of a record."""
        self.length, self._at = last.index + 1, last.at

    # From the connection

    def received(self, messages: list[Message]) -> Commits | None:
        """Lines of the CLI. Returns what to wait for before they are dispatched."""
        first = self.length
        self.length = first + len(messages)
        if not self.readers:
            return None
        at = self._now()
        return self._tell(
            [
                JournalEntry(index, at, "out", message)
                if type(message) is not ControlRequest
                else RequestEntry(index, at, "out", message, self.session)
                for index, message in enumerate(messages, first)
            ]
        )

    def sent(self, lines: list[bytes]) -> Commits | None:
        """Lines of ours. Returns what to wait for before they are written."""
        first = self.length
        self.length = first + len(lines)
        if not self.readers:
            return None
        at = self._now()
        return self._tell([JournalEntry(index, at, "in", decode(line[:-1])) for index, line in enumerate(lines, first)])

    def exited(self, exited: Exited) -> None:
        at = self._now()
        self._each(lambda reader: reader.exited(exited, at))

    def closed(self) -> None:
        self._each(lambda reader: reader.closed())

    def _now(self) -> float:
        """A clock that is set back must not turn the order around."""
        self._at = max(self._at, self._clock())
        return self._at

    def _tell(self, entries: Sequence[JournalEntry]) -> Commits | None:
        commits: Commits = []
        for reader in self.readers:
            try:
                if (commit := reader.read(entries)) is not None:
                    commits.append(asyncio.ensure_future(commit))
            except Exception as error:  # noqa: BLE001  # a reader's
                self._failed(reader, error)
        return commits or None

    def _each(self, tell: Callable[[JournalReader], None]) -> None:
        for reader in self.readers:
            try:
                tell(reader)
            except Exception as error:
                # The session has ended anyway, and everyone who waits for that must be told.
                logger.exception("A reader of the session's journal failed at its end: %r", reader, exc_info=error)

    def _failed(self, reader: JournalReader, error: Exception) -> None:
        if reader.required:
            raise JournalError(f"the session ended because its journal could not be written: {error}") from error
        logger.error("A reader of the session's journal failed and was removed: %r", reader, exc_info=error)
        self.remove(reader)


class CommitQueue:
    """Steps that wait until readers of the journal are done with what came before; most sessions have no such reader.

    Too much that waits pauses reading.
    """

    __slots__ = ("_failed", "_pause", "_paused", "_resume", "_size", "_stepping", "_steps", "_waiters")

    HIGH_BYTES = 8 * 1024 * 1024

    def __init__(
        self, *, pause: Callable[[], None], resume: Callable[[], None], failed: Callable[[Exception], None]
    ) -> None:
        self._pause, self._resume = pause, resume
        self._failed = failed
        self._steps: list[tuple[Commits, Callable[[], None], int]] = []
        self._size = 0
        self._paused = False
        self._stepping = False
        self._waiters: list[asyncio.Future[None]] = []

    def __bool__(self) -> bool:
        return self._stepping or bool(self._steps)

    def add(self, commits: Commits | None, step: Callable[[], None], size: int = 0) -> None:
        """Take the step when ``commits`` are done and all steps before it are taken."""
        self._steps.append((commits or [], step, size))
        self._size += size
        if self._size >= self.HIGH_BYTES and not self._paused:
            self._paused = True
            self._pause()
        if len(self._steps) == 1:
            self._go_on()

    async def drained(self) -> None:
        """Wait until all steps are taken."""
        while self:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _go_on(self, _: object = None) -> None:
        """Take the steps whose commits are done. No task: there is a commit for each chunk that was read."""
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._steps:
                commits, step, size = self._steps[0]
                for commit in commits:
                    if not commit.done():
                        commit.add_done_callback(self._go_on)
                        return
                    commit.result()
                del self._steps[0]
                self._size -= size
                step()
                if self._paused and self._size < self.HIGH_BYTES:
                    self._paused = False
                    self._resume()
        except QuarterdeckError as error:
            self._fail(error)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # a reader could not keep the lines
            self._fail(JournalError(f"the session ended because its journal could not be written: {error}"))
        finally:
            self._stepping = False
        self._tell_drained()

    def _fail(self, error: Exception) -> None:
        """The session must not continue."""
        self._steps.clear()
        self._failed(error)

    def _tell_drained(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def close(self) -> None:
        self._steps.clear()
        self._tell_drained()
