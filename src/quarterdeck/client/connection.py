"""One CLI and its conversation: connects the transport, the protocol, the journal, the inbox and the requests.

Every line goes into the journal first, whichever way it goes. After that content and control traffic part: content goes
to the inbox and waits for its reader; control traffic is handled at once, in the call that read it.
"""

from __future__ import annotations

import asyncio
import functools
import uuid
from collections.abc import Callable, Mapping

from quarterdeck.protocol import (
    AnswerReceived,
    CancelReceived,
    Exited,
    HostSide,
    InputClosed,
    OutputEnded,
    ProtocolEvent,
    RequestFailed,
    RequestReceived,
)
from quarterdeck.protocol.states import END_WAIT_S, IDLE_WAIT_S, REQUEST_TIMEOUT_S
from quarterdeck.transport import ByteTransport, ExitStatus, Grace
from quarterdeck.wire import Message
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES

from .calls import ControlCalls
from .errors import JournalError, QuarterdeckError, TransportClosed, WriteOverflow
from .inbox import Inbox
from .journal import CommitQueue, Commits, Journal
from .serving import AdmittedRequest, RequestHandlers, RequestServer


@functools.cache
def _together(noticed: frozenset[type[Message]], hidden: frozenset[type[Message]]) -> frozenset[type]:
    """One set for all sessions that hide the same messages."""
    return noticed | hidden


def new_id() -> str:
    return str(uuid.uuid4())


class _ReadingGate:
    """Pauses the transport while anyone wants it paused."""

    __slots__ = ("_closed_by", "_transport")

    def __init__(self, transport: ByteTransport) -> None:
        self._transport = transport
        self._closed_by = 0

    def pause(self) -> None:
        self._closed_by += 1
        if self._closed_by == 1:
            self._transport.pause_reading()

    def resume(self) -> None:
        self._closed_by -= 1
        if not self._closed_by:
            self._transport.resume_reading()


class Connection:
    """The conversation with one CLI process."""

    def __init__(
        self,
        transport: ByteTransport,
        handlers: RequestHandlers,
        *,
        journal: Journal,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        request_timeout_s: float | None = REQUEST_TIMEOUT_S,
        on_event: Callable[[ProtocolEvent], None] | None = None,
        hidden: frozenset[type[Message]] = frozenset(),
        side: HostSide | None = None,
        idle_wait_s: float | None = IDLE_WAIT_S,
    ) -> None:
        """
        Args:
            transport: Carries the bytes.
            handlers: Serve the CLI's requests.
            journal: Gets every line first.
            limit_bytes: The longest line.
            request_timeout_s: How long a request of ours waits that names no time itself.
            on_event: Told what happens in the protocol.
            hidden: The types of messages that do not go to the inbox.
            side: A conversation that was begun before, rebuilt from its record.
            idle_wait_s: How long the input stays open for a CLI that never calls itself idle; None: for ever.
        """
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._hidden = hidden
        self._journal = journal
        self.side = side or HostSide(
            new_id=new_id,
            clock=self._loop.time,
            serves=handlers.served,
            limit_bytes=limit_bytes,
            idle_wait_s=idle_wait_s,
        )
        self._handled = _together(self.side.noticed, hidden)
        """Chunks without a message of these types go straight to the inbox."""
        self._gate = gate = _ReadingGate(transport)
        self.inbox = Inbox(pause=gate.pause, resume=gate.resume, limit_bytes=limit_bytes)
        self._commits: CommitQueue | None = None
        """Made when a reader of the journal first asks to wait for it."""
        self.calls = ControlCalls(
            self.side, self.inbox, timeout_s=request_timeout_s, send=self._pump, why_over=self._why_over
        )
        """Our requests."""
        self.requests = RequestServer(self.side, handlers, send=self._write_answers)
        """The CLI's requests."""
        self.exit: ExitStatus | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._end_timer: asyncio.TimerHandle | None = None
        self._close_input = False
        self._closing = False

    async def start(self) -> None:
        await self._transport.start(self)

    def serve_what_is_open(self) -> None:
        """Continue an earlier conversation: serve the requests its CLI still waits for."""
        self.side.rebase()
        self._pump()

    @property
    def pid(self) -> int | None:
        return self._transport.pid

    @property
    def stderr_tail(self) -> str:
        """The end of the CLI's stderr output."""
        return self._transport.stderr_tail

    # The transport's receiver

    def bytes_received(self, data: bytes) -> None:
        try:
            messages = self.side.decode(data)
            if messages:
                self._received(messages, len(data))
        except JournalError as error:
            self._fail(error)
        except Exception as error:
            # Nothing the CLI sends raises here, so this is our own bug. Nobody may wait for what is lost.
            self._fail(error)
            raise

    def _received(self, messages: list[Message], size: int) -> None:
        commits = self._journal.received(messages)
        if commits is None and not self._commits:
            self._dispatch(messages, size)
        else:
            self._after(commits, functools.partial(self._dispatch, messages, size), size)

    def eof_received(self) -> None:
        rest = self.side.decode_rest()
        if rest:
            self._received(rest, 0)
        self._in_turn(self._end_output)

    def _end_output(self) -> None:
        self.side.receive_eof()
        self._pump()

    def exited(self, status: ExitStatus) -> None:
        self.exit = status
        self.requests.retire()
        self._in_turn(self._end_process)

    def _end_process(self) -> None:
        status = self.exit or ExitStatus()
        self.side.exited(status.code, signal=status.signal, stderr=self._transport.stderr_tail)
        self._pump()

    def _in_turn(self, step: Callable[[], None]) -> None:
        """Run the step after those that wait for the journal."""
        if self._commits:
            self._after(None, step)
        else:
            step()

    def _after(self, commits: Commits | None, step: Callable[[], None], size: int = 0) -> None:
        if self._commits is None:
            self._commits = CommitQueue(pause=self._gate.pause, resume=self._gate.resume, failed=self._fail)
        self._commits.add(commits, step, size)

    def _fail(self, error: Exception) -> None:
        """Nothing can continue: everyone who waits gets the error, and the CLI is ended."""
        self.inbox.end(error)
        self.abandon()

    # Moving things on

    def _dispatch(self, messages: list[Message], size: int) -> None:
        if self._handled.isdisjoint(map(type, messages)) and not self.side.has_news:
            self.inbox.put(messages, size, at_once=True)  # a chunk of deltas: nothing to say, no deadline changed
        else:
            self.side.take(messages)
            self._pump(size)

    def _pump(self, size: int = 0) -> None:
        """Deliver the protocol's events and send its output."""
        while events := self.side.events():
            content: list[Message] = []
            requests: list[AdmittedRequest] = []
            for event in events:
                if type(event) is RequestReceived:
                    requests.append(self.requests.admit(event))
                elif isinstance(event, ProtocolEvent):
                    self._happened(event)
                elif type(event) not in self._hidden:
                    content.append(event)
            if content:
                self.inbox.put(content, size)
            if requests:
                self.requests.serve(requests)
        self._write()
        self._set_timer()

    def _write_answers(self) -> None:
        """Answers change no deadline, and seldom anything else."""
        self._write()
        if self.side.has_news:
            self._pump()

    def _happened(self, event: ProtocolEvent) -> None:
        match event:
            case CancelReceived():
                self.requests.stop(event.request_id, "Claude Code no longer needs the answer")
            case AnswerReceived():
                self.calls.answered(event)
            case RequestFailed():
                self.calls.failed(event)
            case InputClosed():
                self._close_input = True
            case OutputEnded():
                self._end_timer = self._loop.call_later(END_WAIT_S, self._ended_without_exit)
            case Exited():
                self._over(event)
        if self._on_event is not None:
            self._on_event(event)

    def _write(self) -> None:
        lines = self.side.outgoing_lines()
        if lines:
            try:
                commits = self._journal.sent(lines)
            except JournalError as error:
                self._fail(error)
                return
            data = b"".join(lines)
            if commits is None and not self._commits:
                self._write_bytes(data)
            else:
                self._after(commits, functools.partial(self._write_bytes, data))
        if self._close_input:
            self._close_input = False
            self._in_turn(self._end_input)

    def _write_bytes(self, data: bytes) -> None:
        try:
            self._transport.write(data)
        except (TransportClosed, WriteOverflow) as error:
            self._broken(error)

    def _end_input(self) -> None:
        try:
            self._transport.close_input()
        except TransportClosed as error:
            self._broken(error)

    def _broken(self, error: QuarterdeckError) -> None:
        """The CLI accepts no more input. Its exit will say why; until then nothing may hang."""
        self.side.receive_eof()
        if isinstance(error, WriteOverflow):
            self.inbox.end(error)

    # Time

    def _set_timer(self) -> None:
        deadline = self.side.next_deadline()
        if deadline == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = None if deadline is None else self._loop.call_at(deadline, self._tick)

    def _tick(self) -> None:
        self._timer = self._timer_at = None
        self.side.tick()
        self._pump()

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._end_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._timer_at = self._end_timer = None

    # Input

    async def send_user_line(self, line: Mapping[str, object]) -> str:
        """Send a prompt and return its uuid. Waits while the CLI takes no more input."""
        self.calls.refuse_when_over()
        prompt_id = self.side.send_user_line(line)
        self._pump()
        if self._commits:
            await self._commits.drained()
        await self._transport.drain()
        return prompt_id

    def finish_input(self) -> None:
        """No more prompts will come: close the input as soon as nothing needs it."""
        self.side.finish_input()
        self._pump()

    def close_input(self) -> None:
        self.side.close_input()
        self._pump()

    def update_environment(self, variables: Mapping[str, str]) -> None:
        self.side.update_environment(variables)
        self._pump()

    # The end

    def _why_over(self, closed: QuarterdeckError) -> QuarterdeckError | None:
        """The error for late calls: ``closed`` after ``close``, otherwise how the process ended, if it has."""
        if self._closing:
            return closed
        return None if self.exit is None else self._why_ended(self.exit, self._transport.stderr_tail)

    def _why_ended(self, status: ExitStatus, stderr: str) -> QuarterdeckError:
        """How the process ended, unless the transport knows better: a remote host has its own errors."""
        failure: QuarterdeckError | None = getattr(self._transport, "failure", None)
        return status.error(stderr) if failure is None else failure

    def _ended_without_exit(self) -> None:
        """The CLI closed its output but is still running: nothing more will come, so nobody may wait for it."""
        self.inbox.end(TransportClosed("Claude Code closed its output but is still running. Close the session."))

    def _over(self, event: Exited) -> None:
        self._stop_timers()
        self.requests.stop_all("Claude Code has ended")
        error = None
        if not event.expected and not self._closing and self.exit is not None:
            error = self._why_ended(self.exit, event.stderr)
        self.inbox.end(error)

    async def close(self, grace: Grace) -> ExitStatus:
        """End the CLI and everything it started, in bounded time; also when the caller is cancelled meanwhile."""
        self._close_soon()
        if not self.side.input_closed:
            self.requests.refuse_unanswered()
            self.side.close_input()
            self._pump()
        self.inbox.stop_reading()
        try:
            return await self._transport.close(grace)
        finally:
            if self._finish():
                await asyncio.sleep(0)  # for the task that waited for requests to end

    def detach(self) -> None:
        """Leave, and hand the CLI to others."""
        self.requests.leave()
        self._close_soon()
        self._finish()

    def abandon(self) -> None:
        """End everything at once, without waiting."""
        self._close_soon()
        self._transport.abandon()
        self._finish()

    def _close_soon(self) -> None:
        self._closing = True
        self.requests.retire()

    def _finish(self) -> bool:
        """Whether there is a task that needs a turn of the loop to end."""
        needs_turn = self.requests.close("the session was closed")
        if self._commits is not None:
            self._commits.close()
        self.calls.abort()
        self._stop_timers()
        self.inbox.end()
        self.inbox.close()
        return needs_turn
