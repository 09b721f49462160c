"""One CLI and its conversation: joins the transport, the protocol, the inbox and the handlers of requests.

The two lanes part here. Content goes to the inbox and waits for the consumer; control traffic is served at once, in the
same call that read it.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

from quarterdeck.protocol import (
    AnswerReceived,
    Exited,
    HostSide,
    InputClosed,
    OutputEnded,
    ProtocolEvent,
    RequestCancelled,
    RequestFailed,
    RequestReceived,
)
from quarterdeck.protocol.side import END_WAIT_S, REQUEST_TIMEOUT_S
from quarterdeck.transport import ByteTransport, ExitStatus, Grace
from quarterdeck.wire import InitializeAnswer, InitializeRequest, Message, WireObject
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES, prepare

from .arrival import Arrival
from .errors import Aborted, ControlError, ControlTimeout, QuarterdeckError, TransportClosed, WriteOverflow
from .inbox import Inbox
from .observer import Observer
from .signal import CancelSignal

LATER: Any = object()
"""What a handler returns when the answer will be given later, by ``Connection.answer`` with the request's id."""

_Asked = tuple[RequestReceived, CancelSignal]


@functools.cache
def _together(noticed: frozenset[type[Message]], hidden: frozenset[type[Message]]) -> frozenset[type]:
    """One set for all sessions that hide the same."""
    return noticed | hidden


def _new_id() -> str:
    return str(uuid.uuid4())


class _Seat:
    """A task that has served a request and waits to be called for another."""

    __slots__ = ("asked", "called", "task")

    def __init__(self, task: asyncio.Task[None], called: Arrival) -> None:
        self.task = task
        self.called = called
        self.asked: _Asked | None = None


class Handler(Protocol):
    """Who serves the CLI's requests."""

    def __contains__(self, subtype: object) -> bool: ...

    def __call__(self, request_id: str, request: Any, signal: CancelSignal) -> Awaitable[Mapping[str, Any] | None]: ...


class Connection:
    """The conversation with one CLI process."""

    def __init__(
        self,
        transport: ByteTransport,
        handler: Handler,
        *,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        request_timeout_s: float | None = REQUEST_TIMEOUT_S,
        on_event: Callable[[ProtocolEvent], None] | None = None,
        hidden: frozenset[type[Message]] = frozenset(),
        on_hidden: Callable[[Message], None] | None = None,
        observer: Observer | None = None,
    ) -> None:
        """``hidden`` are kinds of messages that the CLI sends for us alone: ``on_hidden`` gets them, not the reader."""
        self._transport = transport
        self._handler = handler
        self._loop = asyncio.get_running_loop()
        self._request_timeout_s = request_timeout_s
        self._on_event = on_event
        self._hidden = hidden
        self._on_hidden = on_hidden
        self.side = HostSide(
            new_id=_new_id,
            clock=self._loop.time,
            serves=handler,
            limit_bytes=limit_bytes,
        )
        self._apart = _together(self.side.noticed, hidden)
        """What does not go the quick way."""
        self.inbox = Inbox(pause=transport.pause_reading, resume=transport.resume_reading, limit_bytes=limit_bytes)
        self._observer = observer
        self._deliver = self.inbox.put if observer is None else self._deliver_observed
        self.exit: ExitStatus | None = None
        self._calls: dict[str, asyncio.Future[Any]] = {}
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._seat: _Seat | None = None
        """Where a task waits for the next request."""
        self._signals: dict[str, CancelSignal] = {}
        """Of the requests that have no answer yet: being served, or to be answered later."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._end_timer: asyncio.TimerHandle | None = None
        self._close_input = False
        self._closing = False
        self._pump_scheduled = False
        self._several = False
        """More answers will be given in this turn of the loop."""

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
            # Nothing here raises on what the CLI says, so this is a fault of ours: nobody must wait for what is lost.
            self.inbox.end(error)
            self.abandon()
            raise

    def eof_received(self) -> None:
        self.side.receive_eof()
        self._pump()

    def exited(self, status: ExitStatus) -> None:
        self.exit = status
        self.side.exited(status.code, signal=status.signal, stderr=self._transport.stderr_tail)
        self._pump()

    # Moving things on

    def _pump(self, size: int = 0) -> None:
        """Deliver what the protocol has to tell, and send what it has to say."""
        while events := self.side.events():
            content: list[Message] = []
            asked: list[_Asked] = []
            for event in events:
                if type(event) is RequestReceived:
                    signal = self._signals[event.request_id] = CancelSignal()
                    asked.append((event, signal))
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
            if asked:
                self._serve(asked)
        self._write()
        self._set_timer()

    def _deliver_observed(self, messages: list[Message], size: int, *, at_once: bool = False) -> None:
        if self._observer is not None:
            self._observer.received(messages)
        self.inbox.put(messages, size, at_once=at_once)

    def _pump_soon(self) -> None:
        """Once for all answers of this turn of the loop: they leave in one write."""
        if not self._pump_scheduled:
            self._pump_scheduled = True
            self._loop.call_soon(self._pump_now)

    def _pump_now(self) -> None:
        self._pump_scheduled = False
        self._pump()

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
        """The CLI takes nothing more. Its exit, soon to come, tells why; until then what waits must not hang."""
        self.side.receive_eof()
        if isinstance(error, WriteOverflow):
            self.inbox.end(error)

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

    def _happened(self, event: ProtocolEvent) -> None:
        match event:
            case RequestCancelled():
                self._stop_serving(event.request_id, "Claude Code no longer wants the answer")
            case AnswerReceived():
                self._settle(event.request_id, event.answer)
            case RequestFailed():
                self._settle(event.request_id, self._failure(event))
            case InputClosed():
                self._close_input = True
            case OutputEnded():
                self._end_timer = self._loop.call_later(END_WAIT_S, self._ended_without_exit)
            case Exited():
                self._over(event)
        self._tell(event)

    def _tell(self, event: ProtocolEvent) -> None:
        if self._on_event is not None:
            self._on_event(event)

    def _ended_without_exit(self) -> None:
        """The CLI has closed its output and lives on: nothing will come, so nobody must wait for it."""
        self.inbox.end(TransportClosed("Claude Code has closed its output but has not ended. Close the session."))

    def _over(self, event: Exited) -> None:
        self._stop_timers()
        for request_id in list(self._signals):
            self._stop_serving(request_id, "Claude Code has ended")
        error = None
        if not event.expected and not self._closing and self.exit is not None:
            error = self.exit.error(event.stderr)
        self.inbox.end(error)

    def _refuse_when_over(self) -> None:
        """Say how it ended, rather than that it cannot be written to."""
        if self._closing:
            raise TransportClosed("the session was closed: open a new one, with resume to keep the conversation")
        if self.exit is not None:
            raise self.exit.error(self._transport.stderr_tail)

    # Our requests

    async def call(self, request: WireObject | str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        """Ask the CLI and wait for its typed answer, or a ``ControlError``. Cancelling the call cancels the request."""
        self._refuse_when_over()
        limit = self._request_timeout_s if timeout_s is None else timeout_s
        return await self._answer_to(self.side.request(request, timeout_s=limit, **fields))

    async def initialize(self, request: InitializeRequest, *, timeout_s: float) -> InitializeAnswer:
        self._loop.call_soon(prepare)
        answer = await self._answer_to(self.side.initialize(request, timeout_s=timeout_s))
        return answer if isinstance(answer, InitializeAnswer) else InitializeAnswer()

    def post(self, request: WireObject | str, /, **fields: Any) -> None:
        """Ask the CLI and do not wait; a failure shows as an event only."""
        self.side.request(request, **fields)
        self._pump()

    async def _answer_to(self, request_id: str) -> Any:
        future: asyncio.Future[Any] = self._loop.create_future()
        self._calls[request_id] = future
        self.inbox.urgent(1)
        self._pump()
        try:
            return await future
        except asyncio.CancelledError:
            if self._calls.pop(request_id, None) is not None:  # no answer has come
                self.side.cancel(request_id)
                self._pump()
            raise
        finally:
            self._calls.pop(request_id, None)
            self.inbox.urgent(-1)

    def _settle(self, request_id: str, outcome: Any) -> None:
        future = self._calls.pop(request_id, None)
        if future is None or future.done():
            return
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def _failure(self, event: RequestFailed) -> Exception:
        subtype = str(event.request.get("subtype"))
        session_id = self.side.session_id
        if event.kind == "error":
            return ControlError(subtype, event.error, event.error_code, session_id)
        if event.kind == "timeout":
            return ControlTimeout(subtype, event.error, None, session_id)
        if self._closing:
            return Aborted(f"the session was closed while {subtype} waited for its answer")
        if self.exit is not None:
            return self.exit.error(self._transport.stderr_tail)
        return TransportClosed(event.error)

    # Prompts

    async def send_user_line(self, line: Mapping[str, Any]) -> str:
        """Send a prompt; its uuid. Waits while the CLI takes no more input."""
        self._refuse_when_over()
        prompt_id = self.side.send_user_line(line)
        self._pump()
        await self._transport.drain()
        return prompt_id

    def finish_input(self) -> None:
        """No more prompts will come: the input is closed as soon as nothing needs it."""
        self.side.finish_input()
        self._pump()

    def close_input(self) -> None:
        self.side.close_input()
        self._pump()

    def update_environment(self, variables: Mapping[str, str]) -> None:
        self.side.update_environment(variables)
        self._pump()

    # Their requests

    def _serve(self, asked: list[_Asked]) -> None:
        """Most handlers answer without waiting for anything: what came together is then served by one task.

        The first one that waits has the task for itself, and those behind it get one each. What comes alone is served
        by a task that stays for the next: at once, in the call that read it.
        """
        if len(asked) == 1:
            self._serve_alone(*asked[0])
            return
        waiting = asked[::-1]
        self._loop.create_task(self._serve_together(waiting))
        self._loop.call_soon(self._serve_each, waiting)

    def _serve_alone(self, event: RequestReceived, signal: CancelSignal) -> None:
        if signal.is_set():  # taken back in the same breath
            return
        seat, self._seat = self._seat, None
        if seat is None or seat.called.done():  # done: somebody has just cancelled it
            self._serving[event.request_id] = self._loop.create_task(self._serve_one_by_one(event, signal))
        else:
            self._serving[event.request_id], seat.asked = seat.task, (event, signal)
            seat.called.wake(at_once=True)

    async def _serve_one_by_one(self, event: RequestReceived, signal: CancelSignal) -> None:
        task, context = cast("asyncio.Task[None]", asyncio.current_task()), contextvars.copy_context()
        while True:
            await self._serve_one(event.request_id, event.request, signal)
            taken = self._seat is not None or self._closing or self.exit is not None
            if taken or task.cancelling() or contextvars.copy_context() != context:
                return
            self._seat = seat = _Seat(task, Arrival(self._loop))
            try:
                await seat.called
            except asyncio.CancelledError:
                if self._seat is seat:
                    self._seat = None
                if seat.asked is not None:  # called and cancelled in the same turn of the loop
                    self._cancelled(seat.asked[0].request_id)
                raise
            event, signal = cast("_Asked", seat.asked)

    def _serve_each(self, waiting: list[_Asked]) -> None:
        """In a task for each of them. The next one is the last of the list."""
        self._several = False
        while waiting:
            event, signal = waiting.pop()
            if not signal.is_set():
                task = self._loop.create_task(self._serve_one(event.request_id, event.request, signal))
                self._serving[event.request_id] = task

    async def _serve_together(self, waiting: list[_Asked]) -> None:
        """What one handler leaves behind (a context variable, a cancellation) must not reach the next."""
        task, context = cast("asyncio.Task[None]", asyncio.current_task()), contextvars.copy_context()
        self._several = True
        try:
            while waiting:
                event, signal = waiting.pop()
                if not signal.is_set():
                    self._serving[event.request_id] = task
                    await self._serve_one(event.request_id, event.request, signal)
                if task.cancelling() or contextvars.copy_context() != context:
                    break
        finally:
            self._several = False
            if waiting:
                context.run(self._serve_each, waiting)

    async def _serve_one(self, request_id: str, request: Any, signal: CancelSignal) -> None:
        try:
            payload = await self._handler(request_id, request, signal)
            if payload is not LATER:
                self.answer(request_id, payload, late_is_error=False)
        except asyncio.CancelledError:
            self._cancelled(request_id)
            raise
        except Exception as error:  # noqa: BLE001  # what a callback raises, or returns that is no JSON, is an answer
            self._refuse(request_id, f"{type(error).__name__}: {error}")
            self._report(request, error)
        finally:
            self._serving.pop(request_id, None)

    def _cancelled(self, request_id: str) -> None:
        self._serving.pop(request_id, None)
        self._refuse(request_id, "the handler was cancelled")

    def _report(self, request: Any, error: Exception) -> None:
        """A callback failed: the CLI was told, and the loop's handler (a log line by default) is told too."""
        subtype = request.get("subtype")
        context = {"message": f"quarterdeck: the callback for {subtype} failed", "exception": error}
        self._loop.call_exception_handler(context)

    def _stop_serving(self, request_id: str, reason: str) -> None:
        signal, task = self._signals.pop(request_id, None), self._serving.pop(request_id, None)
        if signal is not None:
            signal.set(reason)
        if task is not None:
            task.cancel()

    def answer(self, request_id: str, payload: Mapping[str, Any] | None, *, late_is_error: bool = True) -> None:
        """Answer a request of the CLI. Raises ``LocalProtocolError`` when it is not open (any more)."""
        if late_is_error or self.side.can_answer(request_id):
            self.side.answer(request_id, payload)
            self._signals.pop(request_id, None)
            if self._observer is not None:
                self._observer.answered(request_id, payload, None)
            if self._several or len(self._serving) > 1:
                self._pump_soon()
            else:
                self._pump()

    def _refuse(self, request_id: str, error: str) -> None:
        if self.side.can_answer(request_id):
            self.side.refuse(request_id, error)
            self._signals.pop(request_id, None)
            if self._observer is not None:
                self._observer.answered(request_id, None, error)
            self._pump()

    # The end

    async def close(self, grace: Grace) -> ExitStatus:
        """End the CLI and everything it started, in bounded time; also when the caller is cancelled meanwhile."""
        self._closing = True
        if not self.side.input_closed:
            self.side.close_input()
            self._pump()
        try:
            return await self._transport.close(grace)
        finally:
            if self._finish():
                await asyncio.sleep(0)  # for the task that waited for requests to end

    def abandon(self) -> None:
        """End everything at once, without waiting."""
        self._closing = True
        self._transport.abandon()
        self._finish()

    def _finish(self) -> bool:
        """Whether there is a task that needs a turn of the loop to end."""
        for request_id in list(self._signals):
            self._stop_serving(request_id, "the session was closed")
        for future in self._calls.values():
            if not future.done():
                future.set_exception(Aborted("the session was closed while a control call waited for its answer"))
        self._stop_timers()
        self.inbox.end()
        self.inbox.close()
        seat, self._seat = self._seat, None
        if seat is None or self._loop.is_closed():
            return False
        return seat.task.cancel()

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._end_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._timer_at = self._end_timer = None
