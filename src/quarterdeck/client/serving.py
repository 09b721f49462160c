"""Serves the CLI's requests: runs the handler of each one and sends exactly one answer.

Most handlers finish without waiting for anything, so starting a task for each request would cost more than serving it:

* Requests that arrive together are served by one task. The first handler that waits keeps that task, and each of the
  remaining requests gets its own.
* A request that arrives alone is served by a task that stays for the next one (``_Seat``) and is woken inside the call
  that read the request.

Neither is visible to a handler: a task that a handler has cancelled, or whose context variables it has changed, is not
used again.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Container, Mapping
from typing import Any, Protocol, cast

import msgspec

from quarterdeck.protocol import HostSide, RequestReceived

from .arrival import Arrival

logger = logging.getLogger(__name__)

WRITTEN_TOGETHER = 32
"""Answers per loop turn that justify a separate write: the CLI continues while we serve the rest."""

LATER: Any = object()
"""Returned by a handler that answers later, through ``Session.answer`` with the request's id."""


class CancelSignal(msgspec.Struct, eq=False, repr_omit_defaults=True):
    """Tells a callback that its answer is no longer wanted.

    Set once, when the CLI withdraws its request or the session ends. The callback's task is cancelled as well.
    """

    request_id: str = ""
    """Of the CLI's request that the callback serves."""
    reason: str | None = None
    _callbacks: tuple[Callable[[], None], ...] = ()
    _waiter: asyncio.Future[None] | None = None

    @property
    def aborted(self) -> bool:
        return self.reason is not None

    def is_set(self) -> bool:
        return self.reason is not None

    def add_callback(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the signal is set; immediately if it already is."""
        if self.reason is not None:
            callback()
        else:
            self._callbacks += (callback,)

    async def wait(self) -> str:
        """Wait for the signal and return the reason. It may never be set, so wait for something else as well."""
        if self.reason is None:
            if self._waiter is None:
                self._waiter = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._waiter)
        return str(self.reason)

    def set(self, reason: str) -> None:
        if self.reason is not None:
            return
        self.reason = reason
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        callbacks, self._callbacks = self._callbacks, ()
        for callback in callbacks:
            callback()


AdmittedRequest = tuple[RequestReceived, CancelSignal]


class RequestHandlers(Protocol):
    """Has a handler for each subtype that is served."""

    @property
    def served(self) -> Container[str]: ...

    def __call__(self, request_id: str, request: Any, signal: CancelSignal) -> Awaitable[Mapping[str, Any] | None]: ...

    def refusals(self) -> Mapping[str, Mapping[str, Any]]:
        """Request id → what to answer if its handler cannot any more."""


class _Seat(Arrival):
    """A task that has served a request and waits for another."""

    __slots__ = ("request", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
        super().__init__(loop)
        self.task = task
        self.request: AdmittedRequest | None = None


class RequestServer:
    """The CLI's requests of one connection that are being served, or wait for a later answer."""

    __slots__ = (
        *("_answers_follow", "_handlers", "_left", "_loop", "_retired", "_seat", "_send", "_send_scheduled"),
        *("_side", "_signals", "_tasks", "_unsent"),
    )

    def __init__(self, side: HostSide, handlers: RequestHandlers, *, send: Callable[[], None]) -> None:
        """``send`` writes what ``side`` has to say."""
        self._side = side
        self._handlers = handlers
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._signals: dict[str, CancelSignal] = {}
        """For every request without an answer: being served, or to be answered later."""
        self._seat: _Seat | None = None
        self._retired = False
        self._left = False
        self._answers_follow = False
        """More answers will be given in this turn of the loop."""
        self._send_scheduled = False
        self._unsent = 0

    @property
    def being_served(self) -> frozenset[str]:
        """The ids of the requests whose handlers are running."""
        return frozenset(self._tasks)

    # Starting and stopping

    def admit(self, event: RequestReceived) -> AdmittedRequest:
        """Register a request so that it can be stopped; ``serve`` follows."""
        signal = self._signals[event.request_id] = CancelSignal(event.request_id)
        return event, signal

    def serve(self, requests: list[AdmittedRequest]) -> None:
        """Run the handlers of requests that arrived together."""
        if len(requests) == 1:
            self._serve_alone(*requests[0])
            return
        waiting = requests[::-1]
        self._loop.create_task(self._serve(waiting))
        self._loop.call_soon(self._serve_each, waiting)

    def stop(self, request_id: str, reason: str) -> None:
        """The answer is no longer wanted: set the signal and cancel the handler."""
        signal, task = self._signals.pop(request_id, None), self._tasks.pop(request_id, None)
        if signal is not None:
            signal.set(reason)
        if task is not None:
            task.cancel()

    def stop_all(self, reason: str) -> None:
        for request_id in list(self._signals):
            self.stop(request_id, reason)

    def refuse_unanswered(self) -> None:
        """The input is about to be closed, and CLIs before 2.1.325 take the silence of a guard for a yes."""
        for request_id, payload in self._handlers.refusals().items():
            if self._side.can_answer(request_id):
                self.answer(request_id, payload)

    def retire(self) -> None:
        """Release idle tasks; no more requests are expected."""
        self._retired = True

    def leave(self) -> None:
        """Another program takes over the conversation and serves what is open: nothing more is answered here."""
        self._left = True

    def close(self, reason: str) -> bool:
        """Stop everything. Returns whether a task needs one more turn of the loop to end."""
        self.stop_all(reason)
        seat, self._seat = self._seat, None
        if seat is None or self._loop.is_closed():
            return False
        return seat.task.cancel()

    # Serving

    def _serve_alone(self, event: RequestReceived, signal: CancelSignal) -> None:
        if signal.is_set():  # withdrawn in the same chunk
            return
        seat, self._seat = self._seat, None
        if seat is None or seat.done():  # done: someone has just cancelled it
            self._tasks[event.request_id] = self._loop.create_task(self._serve([(event, signal)]))
        else:
            self._tasks[event.request_id], seat.request = seat.task, (event, signal)
            seat.wake(at_once=True)

    async def _serve(self, waiting: list[AdmittedRequest]) -> None:
        """Serve the last of the list first, then whoever comes alone. Nothing that a handler leaves behind in the task
        may reach the next one."""
        task, context = cast("asyncio.Task[None]", asyncio.current_task()), contextvars.copy_context()
        handlers, side, tasks = self._handlers, self._side, self._tasks
        self._answers_follow = len(waiting) > 1
        try:
            while waiting:
                event, signal = waiting.pop()
                request_id = event.request_id
                if signal.reason is not None:
                    continue
                tasks[request_id] = task
                try:
                    payload = await handlers(request_id, event.request, signal)
                    if payload is not LATER and not self._left and side.can_answer(request_id):
                        self.answer(request_id, payload)
                except asyncio.CancelledError:
                    self._handler_cancelled(request_id)
                    raise
                except Exception as error:  # noqa: BLE001  # a callback's error, or a result that is not JSON
                    self._refuse(request_id, str(error) or type(error).__name__)
                    self._report(event.request, error)
                finally:
                    tasks.pop(request_id, None)
                if task.cancelling() or contextvars.copy_context() != context:
                    return
                if not waiting and self._seat is None and not self._retired:
                    waiting.append(await self._next_alone(task))
        finally:
            self._answers_follow = False
            if waiting:
                context.run(self._serve_each, waiting)

    async def _next_alone(self, task: asyncio.Task[None]) -> AdmittedRequest:
        self._answers_follow = False
        self._seat = seat = _Seat(self._loop, task)
        try:
            await seat
        except asyncio.CancelledError:
            if self._seat is seat:
                self._seat = None
            if seat.request is not None:  # called and cancelled in the same turn of the loop
                self._handler_cancelled(seat.request[0].request_id)
            raise
        return cast("AdmittedRequest", seat.request)

    def _serve_each(self, waiting: list[AdmittedRequest]) -> None:
        """Start a task for each request that ``_serve`` has left, the last of the list first."""
        self._answers_follow = False
        while waiting:
            event, signal = waiting.pop()
            if not signal.is_set():
                self._tasks[event.request_id] = self._loop.create_task(self._serve([(event, signal)]))

    def _handler_cancelled(self, request_id: str) -> None:
        self._tasks.pop(request_id, None)
        if self._left:
            return
        refusal = self._handlers.refusals().get(request_id)
        if refusal is None:
            self._refuse(request_id, "the handler was cancelled")
        elif self._side.can_answer(request_id):
            self.answer(request_id, refusal)

    def _report(self, request: Any, error: Exception) -> None:
        """The CLI knows that a callback failed; report it to the program too."""
        logger.error("The callback for %s failed: %s", request.get("subtype"), error, exc_info=error)

    # Answering

    def answer(self, request_id: str, payload: Mapping[str, Any] | None) -> None:
        """Answer a request of the CLI. Raises ``LocalProtocolError`` when it is not open (any more)."""
        self._side.answer(request_id, payload)
        self._signals.pop(request_id, None)
        self._unsent += 1
        if (not self._answers_follow and len(self._tasks) <= 1) or self._unsent == WRITTEN_TOGETHER:
            self._unsent = 0
            self._send()
        elif not self._send_scheduled:
            self._send_scheduled = True
            self._loop.call_soon(self._send_scheduled_answers)

    def _send_scheduled_answers(self) -> None:
        self._send_scheduled = False
        self._unsent = 0
        self._send()

    def _refuse(self, request_id: str, error: str) -> None:
        if not self._left and self._side.can_answer(request_id):
            self._side.refuse(request_id, error)
            self._signals.pop(request_id, None)
            self._send()
