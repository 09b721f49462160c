"""Base of both ends of the conversation: bytes in, events and bytes out, and the two request ledgers."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, ClassVar

from quarterdeck.wire._base import Message, WireObject
from quarterdeck.wire._json import dumps
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES, Decoder, encode
from quarterdeck.wire.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ControlSuccess,
    parse_request,
)
from quarterdeck.wire.inbound import UnknownRequest

from .events import (
    AnswerReceived,
    CancelReceived,
    Event,
    InputClosed,
    OutputEnded,
    ProtocolEvent,
    RequestFailed,
    RequestReceived,
    RequestRefused,
    Unexpected,
)
from .ledger import KINDS, Ledger, TrackedRequest, subtype_of
from .states import END_WAIT_S, FLOW, REQUEST_TIMEOUT_S, Flow, LocalProtocolError, RequestState, StateMachine

_SUCCESS = b'{"type":"control_response","response":{"subtype":"success","request_id":%b,"response":%b}}\n'
_FATE = {
    RequestState.ANSWERED: "was already answered",
    RequestState.REFUSED: "was already refused",
    RequestState.CANCELLED: "was withdrawn by the peer",
    RequestState.EXPIRED: "has expired",
    RequestState.LOST: "was lost when the stream ended",
}


def sooner(one: float | None, other: float | None) -> float | None:
    """The earlier of two deadlines; None means no deadline."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _response(response: dict[str, Any]) -> bytes:
    if not response["request_id"]:
        del response["request_id"]  # a request without an id gets an answer without one
    return dumps({"type": "control_response", "response": response}) + b"\n"


class Side:
    """One end.

    The caller must pass every received byte to ``receive``, send what ``outgoing`` returns in order, call ``tick`` when
    ``next_deadline`` has passed, and answer each ``RequestReceived`` once.
    """

    _peer = "the peer"

    def __init__(
        self,
        *,
        new_id: Callable[[], str],
        clock: Callable[[], float],
        serves: Container[str],
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
    ) -> None:
        self._new_id = new_id
        self._clock = clock
        self._serves = serves
        self._decoder = Decoder(limit_bytes=limit_bytes)
        self._events: list[Event] = []
        self._outgoing: list[bytes] = []
        self._ours = Ledger()
        self._theirs = Ledger()
        self._input = StateMachine(FLOW, Flow.OPEN)
        self._output = StateMachine(FLOW, Flow.OPEN)
        self._end_deadline: float | None = None
        self._next_id: str | None = None
        self._replayed_at: float | None = None
        """During replay: the time of the last entry, used as the current time."""

    # Bytes

    def receive(self, data: bytes) -> None:
        """Process bytes from the peer, split anywhere. Never raises because of their content."""
        self.take(self.decode(data))

    def decode(self, data: bytes) -> list[Message]:
        """Return the messages that these bytes complete. Pass them to ``take`` in order."""
        return self._decoder.feed(data)

    def decode_rest(self) -> list[Message]:
        """Return what was left without a newline when the stream ended."""
        return self._decoder.finish()

    def take(self, messages: list[Message]) -> None:
        """Process messages from the peer: each becomes an event, or part of one."""
        handlers = self._handlers
        if handlers.keys().isdisjoint(map(type, messages)):
            self._events += messages  # a chunk of deltas only: the fast path
            return
        for message in messages:
            handler = handlers.get(type(message))
            if handler is None:
                self._events.append(message)
            else:
                handler(self, message)

    def receive_eof(self) -> None:
        """Report that the peer's stream has ended."""
        if self._output.state is Flow.CLOSED:
            return
        self.take(self.decode_rest())
        self._output.fire("close")
        self._events.append(OutputEnded())
        self._end_deadline = self._now() + END_WAIT_S

    def events(self) -> list[Event]:
        """Return the events since the last call, in order."""
        events, self._events = self._events, []
        return events

    def outgoing(self) -> bytes:
        """Return the bytes to write now. Nothing follows an ``InputClosed`` event."""
        return b"".join(self.outgoing_lines())

    def outgoing_lines(self) -> list[bytes]:
        """Like ``outgoing``, as a list of lines."""
        lines, self._outgoing = self._outgoing, []
        return lines

    @property
    def has_news(self) -> bool:
        """Whether there are events to take or lines to write."""
        return bool(self._events or self._outgoing)

    def _emit(self, event: ProtocolEvent | Message) -> None:
        self._events.append(event)

    def _send(self, line: Message | WireObject | Mapping[str, Any] | bytes) -> None:
        if self._input.state is Flow.CLOSED:
            raise self._cannot_send()
        self._outgoing.append(line if type(line) is bytes else encode(line))  # type: ignore[arg-type]

    def _cannot_send(self) -> LocalProtocolError:
        return LocalProtocolError(f"the stream to {self._peer} is closed: nothing more can be sent")

    # Time

    def _now(self) -> float:
        return self._clock() if self._replayed_at is None else self._replayed_at

    def next_deadline(self) -> float | None:
        """When to call ``tick``; None when there is no deadline."""
        return sooner(self._ours.next_deadline(), self._end_deadline) if self._ours else self._end_deadline

    def tick(self, now: float | None = None) -> None:
        """Act on the deadlines that have passed."""
        now = self._now() if now is None else now
        for entry in self._ours.overdue(now):
            self._ours.close(entry.request_id, "expire")
            self._send_cancel(entry.request_id)
            self._fail(entry, "timeout", f"{self._peer} did not answer {entry.name} in time")
        if self._end_deadline is not None and self._end_deadline <= now:
            self._end_deadline = None
            self._lose_open_requests(f"{self._peer} closed its stream")

    # Our requests

    def name_next(self, request_id: str) -> None:
        """Set the ID of our next request, so the caller can find it in the log later. The ID must be new."""
        self._next_id = request_id

    def request(
        self, request: WireObject | str, /, *, timeout_s: float | None = REQUEST_TIMEOUT_S, **fields: Any
    ) -> str:
        """Send a request; returns the ID that ``AnswerReceived`` or ``RequestFailed`` will carry.

        ``timeout_s=None`` means no deadline, for requests that a person answers.
        """
        named, self._next_id = self._next_id, None
        body = {"subtype": request, **fields} if isinstance(request, str) else request.to_dict()
        typed = parse_request(body) if isinstance(request, str) else request
        if self._output.state is Flow.CLOSED:
            raise LocalProtocolError(
                f"{self._peer} has closed its stream, so {subtype_of(typed)} would never be answered"
            )
        request_id = named or self._new_id()
        self._send({"type": "control_request", "request_id": request_id, "request": body})
        deadline = None if timeout_s is None else self._now() + timeout_s
        self._ours.add(request_id, typed, deadline=deadline)
        return request_id

    def cancel(self, request_id: str) -> None:
        """Cancel our request. It fails at once with kind ``cancelled``; a late answer is reported as ``Unexpected``."""
        entry = self._ours.close(request_id, "cancel")
        if entry is None:
            raise LocalProtocolError(f"request {request_id} is not open: it cannot be cancelled")
        self._send_cancel(request_id)
        self._fail(entry, "cancelled", f"{entry.name} was cancelled")

    def _send_cancel(self, request_id: str) -> None:
        if self._input.state is not Flow.CLOSED and self._peer_takes_cancels():
            self._send({"type": "control_cancel_request", "request_id": request_id})

    def _peer_takes_cancels(self) -> bool:
        """Overridden by subclasses whose peer ignores cancellations."""
        return True

    def _response_received(self, message: ControlResponse) -> None:
        request_id = message.request_id
        entry = self._ours.close(request_id, "answer" if message.ok else "refuse")
        if entry is None:
            self._emit(Unexpected(reason=self._why_unmatched(request_id), message=message))
            return
        response = message.response
        if isinstance(response, ControlSuccess):
            answer = self._typed_answer(entry.request, response.response)
            self._emit(AnswerReceived(request_id=request_id, request=entry.request, answer=answer, message=message))
        else:
            answer = None
            self._fail(entry, "error", response.error, error_code=response.error_code, message=message)
        self._answered(entry, answer, message)

    def _typed_answer(self, request: WireObject, payload: Any) -> Any:
        """For subclasses that know the types of answers."""
        return payload

    def _answered(self, entry: TrackedRequest, answer: Any, message: ControlResponse) -> None:
        """For subclasses: one of our requests was answered."""

    def _why_unmatched(self, request_id: str) -> str:
        if (own := self._ours.closed(request_id)) is not None:
            return f"an answer to request {own.name}, which {_FATE[own.state]}"
        if self._theirs.closed(request_id) is not None or request_id in self._theirs:
            return f"an echo of our answer to request {request_id}"  # with --replay-user-messages (2.1.325)
        return f"an answer to request {request_id}, which was never sent"

    def _fail(self, entry: TrackedRequest, kind: Any, error: str, **more: Any) -> None:
        self._emit(RequestFailed(request_id=entry.request_id, request=entry.request, kind=kind, error=error, **more))

    def _lose_open_requests(self, why: str) -> None:
        """Close all requests at the end: the peer's need no answer, and ours won't get one."""
        for entry in self._theirs.open():
            self._theirs.close(entry.request_id, "end of stream")
        self._lose_our_requests(why)

    def _lose_our_requests(self, why: str) -> None:
        for entry in self._ours.open():
            self._ours.close(entry.request_id, "end of stream")
            self._fail(entry, "ended", f"{entry.name} was not answered: {why}")

    # Their requests

    def answer(self, request_id: str, payload: Mapping[str, Any] | None = None, **beside: Any) -> None:
        """Answer the peer's request with success; ``beside`` holds fields next to the payload (pending requests)."""
        if payload is not None and request_id and not beside:
            self._respond(request_id, "answer", _SUCCESS % (dumps(request_id), dumps(payload)))
            return
        response: dict[str, Any] = {"subtype": "success", "request_id": request_id}
        if payload is not None:
            response["response"] = payload
        self._respond(request_id, "answer", _response(response | beside))

    def refuse(self, request_id: str, error: str, *, error_code: str | None = None) -> None:
        """Answer the peer's request with an error."""
        response: dict[str, Any] = {"subtype": "error", "request_id": request_id, "error": error}
        if error_code is not None:
            response["error_code"] = error_code
        self._respond(request_id, "refuse", _response(response))

    def _respond(self, request_id: str, trigger: str, line: bytes) -> None:
        if request_id not in self._theirs:
            raise LocalProtocolError(self._why_not_open(request_id))
        flow = self._input.state
        if flow is Flow.CLOSED:
            raise self._cannot_send()
        self._outgoing.append(line)
        self._theirs.close(request_id, trigger)
        if flow is Flow.FINISHING:
            self._close_when_quiet()

    def _close_when_quiet(self) -> None:
        """For subclasses that close their input themselves."""

    def _why_not_open(self, request_id: str) -> str:
        entry = self._theirs.closed(request_id)
        if entry is None:
            return f"{self._peer} never asked a request {request_id}: nothing to answer"
        return f"request {entry.name} {_FATE[entry.state]}: it cannot be answered now"

    def can_answer(self, request_id: str) -> bool:
        """Whether the peer is waiting for our answer to this request, and we can still send it."""
        return request_id in self._theirs and self._input.state is not Flow.CLOSED

    def open_requests(self) -> dict[str, Any]:
        """The peer's requests that await our answer, by ID."""
        return {entry.request_id: entry.request for entry in self._theirs.open()}

    def _request_received(self, message: ControlRequest) -> None:
        request_id, request = message.request_id, message.request
        self._theirs.add(request_id, request)
        if self._replayed_at is not None:
            return  # the answer may follow in the record
        if KINDS[type(request)][0] in self._serves:
            self._events.append(RequestReceived(request_id, request, message))
        else:
            self._tell_request(request_id, request, message)

    def _tell_request(self, request_id: str, request: Any, message: ControlRequest | None) -> None:
        """Report a request, or refuse one that this side doesn't serve."""
        if (reason := self._why_not_served(request)) is None:
            self._events.append(RequestReceived(request_id, request, message))
            return
        if self._input.state is not Flow.CLOSED:
            self.refuse(request_id, reason, error_code="unsupported_request")
        self._emit(RequestRefused(request_id=request_id, request=request, reason=reason, message=message))

    def _why_not_served(self, request: WireObject) -> str | None:
        subtype = subtype_of(request)
        if subtype not in self._serves:
            return f"Unsupported control request subtype: {subtype}"
        if type(request) is UnknownRequest and request.misfit:
            return f"{subtype}: {request.reason}"
        return None

    def _cancel_received(self, message: ControlCancelRequest) -> None:
        entry = self._theirs.close(message.request_id, "cancel")
        if entry is None:
            self._emit(
                Unexpected(reason=f"a cancel of request {message.request_id}, which is not open", message=message)
            )
            return
        self._emit(CancelReceived(request_id=message.request_id, request=entry.request, message=message))

    # Ends

    def close_input(self) -> None:
        """Stop sending at once. The peer's open requests can no longer be answered."""
        if self._input.fire("close"):
            self._emit(InputClosed())

    @property
    def noticed(self) -> frozenset[type[Message]]:
        """The message types that change state here."""
        return frozenset(self._handlers)

    @property
    def input_closed(self) -> bool:
        return self._input.state is Flow.CLOSED

    @property
    def output_ended(self) -> bool:
        return self._output.state is Flow.CLOSED

    _handlers: ClassVar[dict[type[Message], Callable[[Any, Any], None]]] = {
        ControlRequest: _request_received,
        ControlResponse: _response_received,
        ControlCancelRequest: _cancel_received,
    }
    """Built once per class: a program may have a thousand idle sessions."""
