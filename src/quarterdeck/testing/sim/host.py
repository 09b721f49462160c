"""The other end, as the rest of the simulator sees it: messages to send, questions to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from quarterdeck.protocol import AnswerReceived, CliSide, Event, RequestFailed
from quarterdeck.wire._base import WireObject
from quarterdeck.wire.codec import decode_only
from quarterdeck.wire.control import ControlRequest
from quarterdeck.wire.inbound import UnknownRequest

PERSONAL = frozenset({"can_use_tool", "hook_callback", "elicitation"})
"""Requests that belong to a turn: an interrupt takes them back."""


class SimSide(CliSide):
    """Requests come through as they are, because the CLI has its own words for each in a bad shape.

    Untyped they are also answered sooner: the classes of all requests are a large part of what there is to import.
    """

    _greeted = False

    def receive(self, data: bytes) -> None:
        """The first line is nearly always the handshake, alone: its answer need not wait for other classes."""
        first = None if self._greeted else decode_only(data, ControlRequest)
        self._greeted = True
        if first is None:
            super().receive(data)
        else:
            self.take([first])

    def _untyped_request(self, message: ControlRequest) -> None:
        request = UnknownRequest(data=message.data["request"], reason="read by its handler")
        self._theirs.add(message.request_id, request)
        self._tell_request(message.request_id, request, message)

    def _why_not_served(self, request: WireObject) -> str | None:
        return None  # ``Control`` refuses what it has no handler for, in its turn

    _handlers = CliSide._handlers | {ControlRequest: _untyped_request}


class HostAnswer(msgspec.Struct, frozen=True):
    """How a question to the host ended."""

    kind: str
    """``ok``, ``error``, ``timeout``, ``cancelled`` or ``ended``: the host is gone."""
    payload: Any = None
    error: str = ""

    @property
    def ok(self) -> bool:
        return self.kind == "ok"


class HostChannel:
    """Talks through a ``CliSide``; bytes leave by ``write``, in order and at once."""

    def __init__(
        self, write: Callable[[bytes], None], *, new_id: Callable[[], str], clock: Callable[[], float]
    ) -> None:
        self.side = SimSide(new_id=new_id, clock=clock, serves=())
        self._write = write
        self.muted = False
        """The process is practically dead: nothing more is sent."""
        self._waiting: dict[str, asyncio.Future[HostAnswer]] = {}
        self._asked: dict[str, dict[str, Any]] = {}

    def say(self, message: dict[str, Any]) -> None:
        self.side.say(message)
        self.flush()

    def answer(self, request_id: str, payload: dict[str, Any] | None = None, **beside: Any) -> None:
        """``beside``: what the answer contains besides its payload."""
        self.side.answer(request_id, payload, **beside)
        self.flush()

    def refuse(self, request_id: str, error: str, error_code: str | None = None) -> None:
        self.side.refuse(request_id, error, error_code=error_code)
        self.flush()

    def flush(self) -> None:
        if (data := self.side.outgoing()) and not self.muted:
            self._write(data)

    async def ask(self, subtype: str, *, timeout_s: float | None = None, **fields: Any) -> HostAnswer:
        """Ask, and wait. Cancelling the waiting task withdraws the question."""
        if self.side.output_ended:
            return HostAnswer("ended")
        request_id = self.side.request(subtype, timeout_s=None, **fields)
        self._asked[request_id] = {"subtype": subtype, **fields}
        future: asyncio.Future[HostAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        self.flush()
        try:
            async with asyncio.timeout(timeout_s):
                return await future
        except TimeoutError:
            self._withdraw(request_id)
            return HostAnswer("timeout")
        except asyncio.CancelledError:
            self._withdraw(request_id)
            raise
        finally:
            self._waiting.pop(request_id, None)
            self._asked.pop(request_id, None)

    def withdraw_personal(self) -> None:
        """Withdraw every question of the running turn, now."""
        for request_id in [key for key, body in self._asked.items() if body["subtype"] in PERSONAL]:
            self._withdraw(request_id)

    def _withdraw(self, request_id: str) -> None:
        future = self._waiting.pop(request_id, None)
        self._asked.pop(request_id, None)
        if future is None:
            return
        if future.done() and not future.cancelled():  # it was answered, or lost with the host, a moment ago
            return
        self.side.cancel(request_id)
        self.flush()
        if not future.done():
            future.set_result(HostAnswer("cancelled"))

    def pending(self, subtype: str) -> list[dict[str, Any]]:
        """The questions of that kind that wait, as they were sent."""
        return [
            {"type": "control_request", "request_id": request_id, "request": body}
            for request_id, body in self._asked.items()
            if body["subtype"] == subtype
        ]

    def settle(self, event: Event) -> None:
        """An answer came, or none will."""
        if isinstance(event, AnswerReceived):
            payload = event.message.data["response"].get("response")
            self._resolve(event.request_id, HostAnswer("ok", payload))
        elif isinstance(event, RequestFailed):
            self._resolve(event.request_id, HostAnswer(event.kind, error=event.error))

    def _resolve(self, request_id: str, answer: HostAnswer) -> None:
        future = self._waiting.get(request_id)
        if future is not None and not future.done():
            future.set_result(answer)
