"""Logs what a process sends and receives before anything acts on it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec

from quarterdeck.client.journal import JournalEntry, JournalReader
from quarterdeck.protocol import Exited
from quarterdeck.store import Committed
from quarterdeck.store.errors import StoreClosed
from quarterdeck.store.records import NewRow
from quarterdeck.timeline.events import BadLineSeen
from quarterdeck.wire import (
    BadLine,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    Decoder,
    InitMessage,
    Message,
    UserMessage,
    decode,
)

from .drift import Drift
from .errors import HostError
from .events import DriftNoticed
from .folding import PREVIEWS, encode_event, is_preview
from .launching import CommittedOffset, LineEnds, Wire
from .redacting import row_body
from .session_log import Receipts, SessionLog
from .whole_text import whole_message


class Expected(msgspec.Struct, eq=False):
    """The sender of one of our lines, and what to write with it."""

    sender: str
    receipt: Receipts
    written: asyncio.Future[Committed]


class Recorder(JournalReader):
    """A required reader of the journal: dispatching and sending wait for its commit."""

    required = True

    def __init__(self, log: SessionLog, *, ended: Callable[[Exited], None]) -> None:
        """``ended`` is called when the process has exited and all its output is in the log."""
        self._log = log
        self._ended = ended
        self.drift = Drift()
        """The host's drift detector."""
        self.wire: Wire | None = None
        """The transport to the process."""
        self._expected: dict[str, Expected] = {}
        """Our lines about to be sent, by prompt or request ID."""
        self.heard_at = log.now()
        """When the process last sent or received something."""
        self._input_number = 0
        """The number of the last line sent to the process."""
        self._answers: dict[str, int] = {}
        """Request → the number of our line that answers it."""
        self._stream_from: int | None = None
        """Where the message being streamed starts in the spool."""
        self._caught_up = 0

    @property
    def offset(self) -> int:
        """How far the process's spool was read, in whole lines."""
        return self._caught_up if self.wire is None else max(self._caught_up, self.wire.lines.complete)

    def _notice(self, found: list[DriftNoticed], message: Message, at: float) -> None:
        """Report messages unknown to this version, once per kind."""
        if type(message) is InitMessage and message.claude_code_version:
            found = [*found, *self.drift.version(message.claude_code_version, at)]
        if found:
            rows = [self._log.event_row(event) for event in found]
            asyncio.get_running_loop().call_soon(self._log.append, rows, [self.drift.setting()])

    def begin(self, wire: Wire, input_number: int) -> None:
        """Start with a process; ``input_number`` is the number of the last line it was sent."""
        self.wire, self._input_number = wire, input_number
        self.heard_at = self._log.now()
        self._stream_from = None

    def forget(self) -> None:
        """The process is gone."""
        self.wire = None
        self._answers.clear()
        for line_id in list(self._expected):
            self.give_up(line_id, HostError("not_running", "The process ended before the answer was delivered."))

    def exited(self, exited: Exited, at: float) -> None:
        self._stop_telling()
        self._ended(exited)

    def leave(self) -> None:
        """Leave the process to another host."""
        for line_id in list(self._expected):
            self.give_up(line_id, HostError("shutting_down", "The host ended before this was written."))
        self._stop_telling()

    def _stop_telling(self) -> None:
        if self.wire is not None and self.wire.committed is not None:
            self.wire.committed.stop()

    def read(self, entries: Sequence[JournalEntry]) -> Awaitable[Any] | None:
        """Log lines as rows, with previews in between; returns what to wait for before acting on them."""
        log, wire = self._log, self.wire
        previews = log.previews
        self.heard_at = log.now()
        wait: asyncio.Future[Any] | None = None
        lines: list[tuple[NewRow, Message | None]] = []
        end = 0
        if wire is not None:
            log.standing.pid = wire.pid
        for entry in entries:
            if entry.direction == "in":
                expected = self._expected.pop(_id_of(entry.message), None) if self._expected else None
                if expected is None:
                    lines.append(self._sent_line(entry))
                    continue
                if lines:
                    log.append_lines(lines)
                wait, lines = log.append_lines([self._sent_line(entry, expected.sender)], receipt=expected.receipt), []
                wait.add_done_callback(functools.partial(_pass_on, expected.written))
                continue
            end = wire.lines.next() if wire is not None else 0
            if type(entry.message) not in PREVIEWS:
                lines.append(self._received_line(entry.message, entry.at, end))
                continue
            if lines:
                wait, lines = log.append_lines(lines), []
            wait = log.preview(whole_message(entry.message), entry.at) or wait
            if self._stream_from is None and previews.streaming:
                self._stream_from = end - len(entry.message.raw) - 1
        if not previews.streaming:
            self._stream_from = None
        committed = wire.committed if wire is not None and end else None
        offset = end if self._stream_from is None else self._stream_from
        if lines:
            wait = log.append_lines(
                lines, written=None if committed is None else functools.partial(committed.reached, offset)
            )
        elif committed is not None and wait is not None:
            _acknowledge(committed, wait, offset)
        return wait

    def _received_line(self, message: Message, at: float, spool_end: int) -> tuple[NewRow, Message | None]:
        log, kind, whole = self._log, type(message), whole_message(message)
        if log.previews.following:
            log.previews.passed("out", whole, at)
        session = log.body
        noticed = self.drift.look(whole, at, session.cli_version)
        if noticed or kind is InitMessage:
            self._notice(noticed, whole, at)
        if self._expected and isinstance(message, ControlCancelRequest):
            self.give_up(message.request_id, HostError("withdrawn", "Claude Code has withdrawn this request."))
        if isinstance(message, BadLine) and message.line is None:
            return self._overlong_line(message, at, spool_end), None
        raw = message.raw
        body = row_body(message, "out", raw) if kind is ControlResponse else raw
        row = NewRow(
            at=at, kind="received", origin="agent", body=body, generation=session.generation, spool_end=spool_end
        )
        return row, whole if body is raw else None  # part of it is redacted

    def _overlong_line(self, line: BadLine, at: float, spool_end: int) -> NewRow:
        """Log what is known about a line that is too long: its beginning alone would be misread later."""
        seen = BadLineSeen(at, line.reason, line.head.decode(errors="replace"), line.size)
        generation, body = self._log.body.generation, encode_event(seen)
        return NewRow(at=at, kind="event", origin="agent", body=body, generation=generation, spool_end=spool_end)

    def expect(self, line_id: str, *, sender: str = "", receipt: Receipts = None) -> asyncio.Future[Committed]:
        """Announce a line of ours by prompt or request ID; the future completes when it is a row.

        ``sender``: who sends it; empty for the host. ``receipt`` is written in the same transaction.
        """
        written: asyncio.Future[Committed] = asyncio.get_running_loop().create_future()
        self._expected[line_id] = Expected(sender, receipt, written)
        return written

    def give_up(self, line_id: str, error: HostError) -> bool:
        """Stop expecting a line. Returns False if it is already being logged."""
        expected = self._expected.pop(line_id, None)
        if expected is not None and not expected.written.done():
            expected.written.set_exception(error)
            expected.written.exception()  # there may be no waiter
        return expected is not None

    def _sent_line(self, entry: JournalEntry, sender: str = "") -> tuple[NewRow, Message | None]:
        self._input_number += 1
        whole = whole_message(entry.message)
        self._log.previews.passed("in", whole, entry.at)
        raw = entry.message.raw
        body = row_body(entry.message, "in", raw)
        if isinstance(entry.message, ControlResponse):
            self._answers[entry.message.request_id] = self._input_number
        row = NewRow(
            at=entry.at,
            kind="sent",
            origin="user" if sender else "host",
            body=body,
            generation=self._log.body.generation,
            input_number=self._input_number,
            sender=sender,
        )
        return row, whole if body is raw else None

    def resume(self, unsent: Iterable[tuple[int, bytes]], *, accepted: int, written: int) -> None:
        """Resume with a process that has our lines up to ``written``, and its keeper up to ``accepted``."""
        open_requests = self._log.fold.side.open_requests()
        for request_id, record in self._log.approvals.items():
            if record.state == "decided" and request_id not in open_requests:
                self._answers[request_id] = accepted  # at the latest
        for number, line in unsent:
            if b"control_response" in line and isinstance(message := decode(line), ControlResponse):
                self._answers[message.request_id] = number
        self.written(written)

    def written(self, number: int) -> None:
        """Called by the keeper when our lines up to this number are in the process's pipe."""
        for request_id in [one for one, known in self._answers.items() if known <= number]:
            del self._answers[request_id]
            self.delivered(request_id)

    def delivered(self, request_id: str) -> None:
        """Report that the answer to this request reached the process."""
        record = self._log.approvals.get(request_id)
        if record is not None and record.state == "decided":
            self._log.move(record, "delivered")

    async def catch_up(self, first: int, end: int, read: Callable[[int], Awaitable[bytes]]) -> int:
        """Log what the process wrote while no host was connected; returns where the next line starts."""
        decoder, lines = Decoder(), LineEnds(first)
        at = self._log.now()
        self._caught_up = first
        while lines.offset < end and (data := await read(lines.offset)):
            lines.take(data)
            for message in decoder.feed(data):
                line_end = lines.next()
                known = line_end <= self._log.spool_end
                if known and is_preview(message):
                    self._log.previews.received(whole_message(message), at)  # the rest of its message follows
                elif known:
                    self._log.previews.passed("out", whole_message(message), at)
                elif is_preview(message):
                    if (wait := self._log.preview(whole_message(message), at)) is not None:
                        await wait
                else:
                    await self._log.append_lines([self._received_line(message, at, line_end)])
                self._caught_up = line_end
        return lines.complete


def _id_of(message: Message) -> str:
    """The ID by which one of our lines is expected."""
    if isinstance(message, UserMessage):
        return message.uuid or ""
    return message.request_id if isinstance(message, ControlRequest | ControlResponse) else ""


def _pass_on(written: asyncio.Future[Committed], done: asyncio.Future[Committed]) -> None:
    """Pass the outcome of a line's row to its waiters."""
    if written.done():
        return
    if _went_well(done):
        written.set_result(done.result())
    else:
        error = StoreClosed() if done.cancelled() else done.exception()
        written.set_exception(error or StoreClosed())
        written.exception()


def _acknowledge(committed: CommittedOffset, wait: asyncio.Future[Any], offset: int) -> None:
    """Acknowledge once it is written."""
    wait.add_done_callback(lambda done: committed.reached(offset) if _went_well(done) else None)


def _went_well(done: asyncio.Future[Any]) -> bool:
    return not done.cancelled() and done.exception() is None
