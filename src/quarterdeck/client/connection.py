"""One CLI and its conversation: connects the transport, the protocol, the inbox and the requests of both directions.

Content and control traffic part here. Content goes to the inbox and waits for its reader; control traffic is handled at
once, in the call that read it.
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
from quarterdeck.protocol.states import END_WAIT_S, REQUEST_TIMEOUT_S
from quarterdeck.transport import ByteTransport, ExitStatus, Grace
from quarterdeck.wire import Message
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES

from .calls import ControlCalls
from .errors import QuarterdeckError, TransportClosed, WriteOverflow
from .inbox import Inbox
from .observer import Observer
from .serving import AdmittedRequest, RequestHandlers, RequestServer


@functools.cache
def _together(noticed: frozenset[type[Message]], hidden: frozenset[type[Message]]) -> frozenset[type]:
    """One set for all sessions that hide the same messages."""
    return noticed | hidden


def _new_id() -> str:
    return str(uuid.uuid4())


class Connection:
    """The conversation with one CLI process."""

    def __init__(
        self,
        transport: ByteTransport,
        handlers: RequestHandlers,
        *,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        request_timeout_s: float | None = REQUEST_TIMEOUT_S,
        on_event: Callable[[ProtocolEvent], None] | None = None,
        hidden: frozenset[type[Message]] = frozenset(),
        on_hidden: Callable[[Message], None] | None = None,
        observer: Observer | None = None,
    ) -> None:
        """``hidden`` are the types of messages that go to ``on_hidden`` instead of the reader."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._hidden = hidden
        self._on_hidden = on_hidden
        self._observer = observer
        self.side = HostSide(new_id=_new_id, clock=self._loop.time, serves=handlers, limit_bytes=limit_bytes)
        self._apart = _together(self.side.noticed, hidden)
        """Messages of these types need handling; chunks without any go straight to the inbox."""
        self.inbox = Inbox(pause=transport.pause_reading, resume=transport.resume_reading, limit_bytes=limit_bytes)
        self._deliver = self.inbox.put if observer is None else self._deliver_observed
        send = self._pump
        self.calls = ControlCalls(
            self.side, self.inbox, timeout_s=request_timeout_s, send=send, why_over=self._why_over
        )
        """Our requests."""
        self.requests = RequestServer(self.side, handlers, send=send, observer=observer)
        """The CLI's requests."""
        self.exit: ExitStatus | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._end_timer: asyncio.TimerHandle | None = None
        self._close_input = False
        self._closing = False

    async def start(self) -> None:
        await self._transport.start(self)

    @property
    def pid(self) -> int | None:
        return self._transport.pid

    @property
    def stderr_tail(self) -> str:
        """The last of what the CLI wrote to stderr."""
        return self._transport.stderr_tail

    # The transport's receiver

    def bytes_received(self, data: bytes) -> None:
        try:
            if self._observer is not None:
                self._observer.read(data)
            content = self.side.receive_content(data, self._apart)
            if content is None:
                self._pump(len(data))
            elif content:  # a chunk of deltas: nothing to say, no deadline changed
                self._deliver(content, len(data), at_once=True)
        except Exception as error:
            # Nothing the CLI says raises here, so this is our own bug. Nobody must wait for what is lost.
            self.inbox.end(error)
            self.abandon()
            raise

    def eof_received(self) -> None:
        self.side.receive_eof()
        self._pump()

    def exited(self, status: ExitStatus) -> None:
        self.exit = status
        self.requests.retire()
        self.side.exited(status.code, signal=status.signal, stderr=self._transport.stderr_tail)
        self._pump()

    # Moving things on

    def _pump(self, size: int = 0) -> None:
        """Deliver what the protocol has to tell, and send what it has to say."""
        while events := self.side.events():
            content: list[Message] = []
            requests: list[AdmittedRequest] = []
            for event in events:
                if type(event) is RequestReceived:
                    requests.append(self.requests.admit(event))
                    if self._on_event is not None:
                        self._on_event(event)
                elif isinstance(event, ProtocolEvent):
                    self._happened(event)
                elif type(event) not in self._hidden:
                    content.append(event)
                elif self._on_hidden is not None:
                    self._on_hidden(event)
            if content:
                self._deliver(content, size)
            if requests:
                self.requests.serve(requests)
        self._write()
        self._set_timer()

    def _deliver_observed(self, messages: list[Message], size: int, *, at_once: bool = False) -> None:
        if self._observer is not None:
            self._observer.received(messages)
        self.inbox.put(messages, size, at_once=at_once)

    def _happened(self, event: ProtocolEvent) -> None:
        match event:
            case CancelReceived():
                self.requests.stop(event.request_id, "Claude Code no longer wants the answer")
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
        data = self.side.outgoing()
        try:
            if data:
                if self._observer is not None:
                    self._observer.wrote(data)
                self._transport.write(data)
            if self._close_input:
                self._close_input = False
                self._transport.close_input()
        except (TransportClosed, WriteOverflow) as error:
            self._broken(error)

    def _broken(self, error: QuarterdeckError) -> None:
        """The CLI takes no more input. Its exit will tell why; until then nothing that waits may hang."""
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
        """The error for what comes too late: ``closed`` after ``close``, else how the process ended, if it has."""
        if self._closing:
            return closed
        return None if self.exit is None else self.exit.error(self._transport.stderr_tail)

    def _ended_without_exit(self) -> None:
        """The CLI has closed its output and lives on: nothing will come, so nobody must wait for it."""
        self.inbox.end(TransportClosed("Claude Code has closed its output but has not ended. Close the session."))

    def _over(self, event: Exited) -> None:
        self._stop_timers()
        self.requests.stop_all("Claude Code has ended")
        error = None
        if not event.expected and not self._closing and self.exit is not None:
            error = self.exit.error(event.stderr)
        self.inbox.end(error)

    async def close(self, grace: Grace) -> ExitStatus:
        """End the CLI and everything it started, in bounded time; also when the caller is cancelled meanwhile."""
        self._close_soon()
        if not self.side.input_closed:
            self.requests.refuse_unanswered()
            self.side.close_input()
            self._pump()
        try:
            return await self._transport.close(grace)
        finally:
            if self._finish():
                await asyncio.sleep(0)  # for the task that waited for requests to end

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
        self.calls.abort()
        self._stop_timers()
        self.inbox.end()
        self.inbox.close()
        return needs_turn
