"""Our control requests that wait for the CLI's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from quarterdeck.protocol import AnswerReceived, HostSide, RequestFailed
from quarterdeck.wire import InitializeAnswer, InitializeRequest, WireObject
from quarterdeck.wire.codec import prepare

from .errors import Aborted, ControlError, ControlTimeout, QuarterdeckError, TransportClosed
from .inbox import Inbox

PREPARE_AFTER_S = 0.02
"""After which a CLI that has not answered is still starting: then there is time to prepare for what it will say."""
next_ids: ContextVar[list[str] | None] = ContextVar("next_ids", default=None)
"""Request IDs to use next, so that a restarted program can find its requests again."""


class ControlCalls:
    """The control calls of one connection."""

    __slots__ = ("_inbox", "_loop", "_send", "_side", "_timeout_s", "_waiting", "_why_over")

    def __init__(
        self,
        side: HostSide,
        inbox: Inbox,
        *,
        timeout_s: float | None,
        send: Callable[[], None],
        why_over: Callable[[QuarterdeckError], QuarterdeckError | None],
    ) -> None:
        """
        Args:
            side: Our end of the protocol.
            inbox: Keeps reading while a call waits.
            timeout_s: How long a call waits that names no time itself.
            send: Writes what ``side`` has to say.
            why_over: The error to raise when the conversation is over, given the one for a session that was closed.
        """
        self._side = side
        self._inbox = inbox
        self._timeout_s = timeout_s
        self._send = send
        self._why_over = why_over
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    async def call(self, request: WireObject | str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        """Ask the CLI and wait for its typed answer, or a ``ControlError``. Cancelling the call cancels the request."""
        self.refuse_when_over()
        limit = self._timeout_s if timeout_s is None else timeout_s
        if ids := next_ids.get():
            self._side.name_next(ids.pop(0))
        return await self._answer_to(self._side.request(request, timeout_s=limit, **fields))

    async def answer_to(self, request_id: str) -> Any:
        """The answer to a request sent before this connection took over the conversation."""
        self.refuse_when_over()
        return await self._answer_to(request_id)

    async def initialize(self, request: InitializeRequest, *, timeout_s: float) -> InitializeAnswer:
        self._loop.call_later(PREPARE_AFTER_S, prepare)
        answer = await self._answer_to(self._side.initialize(request, timeout_s=timeout_s))
        return answer if isinstance(answer, InitializeAnswer) else InitializeAnswer()

    def post(self, request: WireObject | str, /, **fields: Any) -> None:
        """Ask the CLI without waiting; a failure shows only as an event."""
        self._side.request(request, **fields)
        self._send()

    def refuse_when_over(self) -> None:
        """Report how the conversation ended rather than that nothing can be written."""
        closed = TransportClosed("the session was closed: open a new one, with resume to keep the conversation")
        if (error := self._why_over(closed)) is not None:
            raise error

    async def _answer_to(self, request_id: str) -> Any:
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[request_id] = future
        self._inbox.urgent(1)
        self._send()
        try:
            return await future
        except asyncio.CancelledError:
            if self._waiting.pop(request_id, None) is not None:  # no answer has come
                self._side.cancel(request_id)
                self._send()
            raise
        finally:
            self._waiting.pop(request_id, None)
            self._inbox.urgent(-1)

    def answered(self, event: AnswerReceived) -> None:
        future = self._waiting.pop(event.request_id, None)
        if future is not None and not future.done():
            future.set_result(event.answer)

    def failed(self, event: RequestFailed) -> None:
        future = self._waiting.pop(event.request_id, None)
        if future is not None and not future.done():
            future.set_exception(self._error(event))

    def abort(self) -> None:
        """Fail all pending calls: the session was closed."""
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Aborted("the session was closed while a control call was pending"))

    def _error(self, event: RequestFailed) -> Exception:
        subtype, session_id = str(event.request.get("subtype")), self._side.session_id
        if event.kind == "error":
            return ControlError(subtype, event.error, event.error_code, session_id)
        if event.kind == "timeout":
            return ControlTimeout(subtype, event.error, None, session_id)
        closed = Aborted(f"the session was closed while {subtype} was pending")
        return self._why_over(closed) or TransportClosed(event.error)
