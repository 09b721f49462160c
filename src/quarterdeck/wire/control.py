"""The envelopes of control traffic: requests of both directions, responses, and cancellations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

from msgspec.structs import force_setattr

from ._base import Message, WireObject
from ._degrade import leaving_out
from .inbound import INCOMING_REQUESTS, IncomingRequest, McpMessageRequest, UnknownRequest

if TYPE_CHECKING:
    from .requests import OutgoingRequest

    Request: TypeAlias = OutgoingRequest | IncomingRequest | McpMessageRequest | UnknownRequest


def parse_request(payload: dict[str, Any]) -> Request:
    """The request in an envelope, typed; an ``UnknownRequest`` if it cannot be. Never raises.

    An optional field of an unexpected shape is left out: a permission request must not fail for an odd title.
    """
    subtype = payload.get("subtype")
    cls: Any = None
    if type(subtype) is str:
        cls = INCOMING_REQUESTS.get(subtype) or _outgoing_type(subtype)
    if cls is None:
        reason = f"unknown subtype {subtype!r}" if "subtype" in payload else "no subtype"
        return UnknownRequest(data=payload, reason=reason)
    typed = leaving_out(payload, cls)
    if isinstance(typed, str):
        return UnknownRequest(data=payload, reason=typed, misfit=True)
    return typed  # type: ignore[no-any-return]


def _outgoing_type(subtype: str) -> Any:
    from .requests.tables import OUTGOING_REQUESTS  # many classes, and only the CLI's side reads such lines

    return OUTGOING_REQUESTS.get(subtype)


class ControlRequest(Message, tag="control_request"):
    """A request, to the CLI or from it."""

    if TYPE_CHECKING:
        request: Request
    else:
        request: Union[tuple(INCOMING_REQUESTS.values())]  # noqa: UP007  # built at run time
    request_id: str = ""
    """The CLI serves a request without an id too, and answers without one (2.1.325)."""

    @property
    def subtype(self) -> str:
        subtype = self.request.get("subtype")
        return subtype if isinstance(subtype, str) else ""


def _typed_when_read(slot: Any) -> Any:
    """For the slot of ``request``: a dict there is typed on first access and kept typed."""
    stored, store = slot.__get__, slot.__set__

    def read(holder: ControlRequest) -> Request:
        request = stored(holder)
        if type(request) is dict:
            request = parse_request(request)
            store(holder, request)
        return request  # type: ignore[no-any-return]

    return property(read, store)


ControlRequest.request = _typed_when_read(ControlRequest.request)


class _AnyControlRequest(ControlRequest, tag="control_request"):
    """A request that is none of the CLI's own: one of ours, or one that this version cannot type.

    Those of the CLI are typed by the decoder of their line, as a dict in between costs twice as much. No message is
    left of this class: each turns into a ``ControlRequest`` as it is made.
    """

    if not TYPE_CHECKING:
        request: dict[str, Any]

    def __post_init__(self) -> None:
        force_setattr(self, "__class__", ControlRequest)


class _Response(WireObject, tag_field="subtype", kw_only=True):
    request_id: str = ""
    pending_permission_requests: list[Any] | None = None
    pending_user_dialog_requests: list[Any] | None = None
    pending_elicitation_requests: list[Any] | None = None

    def pending_requests(self) -> list[ControlRequest]:
        """The CLI's requests that are still unanswered, listed in the answer to a (repeated) ``initialize``."""
        listed = (
            self.pending_permission_requests,
            self.pending_user_dialog_requests,
            self.pending_elicitation_requests,
        )
        envelopes = [envelope for requests in listed for envelope in requests or ()]
        return [
            ControlRequest(request_id=str(envelope.get("request_id", "")), request=parse_request(envelope["request"]))
            for envelope in envelopes
            if isinstance(envelope, dict) and isinstance(envelope.get("request"), dict)
        ]


class ControlSuccess(_Response, tag="success"):
    """The request was served. ``response`` is its payload; many requests have none."""

    response: Any = None


class ControlFailure(_Response, tag="error"):
    """The request was refused or failed."""

    error: str = ""
    error_code: str | None = None
    """On 2.1.325: ``unsupported_request``, ``invalid_mode``, ``bypass_not_launched``, ``reload_plugins_busy`` …"""
    model: str | None = None


class ControlResponse(Message, tag="control_response"):
    """The answer to a request, from the CLI or to it."""

    response: ControlSuccess | ControlFailure

    @property
    def request_id(self) -> str:
        return self.response.request_id

    @property
    def ok(self) -> bool:
        return isinstance(self.response, ControlSuccess)


class ControlCancelRequest(Message, tag="control_cancel_request"):
    """Withdraws a request. Mostly from the CLI; a late answer is ignored."""

    request_id: str = ""
