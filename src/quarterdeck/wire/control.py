"""The envelopes of control traffic: requests of both directions, responses, and cancellations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

import msgspec

from ._base import Message, WireObject
from .inbound import IncomingRequest, McpMessageRequest, UnknownRequest
from .requests import INCOMING_REQUESTS, OUTGOING_REQUESTS, OutgoingRequest

if TYPE_CHECKING:
    Request: TypeAlias = OutgoingRequest | IncomingRequest | McpMessageRequest | UnknownRequest
else:
    Request = Union[(*{**OUTGOING_REQUESTS, **INCOMING_REQUESTS}.values(), UnknownRequest)]
"""Every request of either direction, told apart by ``subtype``."""


def parse_request(payload: dict[str, Any]) -> Request:
    """The request in an envelope, typed; an ``UnknownRequest`` if it cannot be. Never raises."""
    try:
        request: Request = msgspec.convert(payload, Request)
    except (msgspec.ValidationError, RecursionError) as error:
        return UnknownRequest(data=payload, reason=str(error))
    return request


class ControlRequest(Message, frozen=True, tag="control_request"):
    """A request, to the CLI or from it."""

    request: Request
    request_id: str = ""
    """The CLI serves a request without an id too, and answers without one (2.1.325)."""

    @property
    def subtype(self) -> str:
        subtype = self.request.get("subtype")
        return subtype if isinstance(subtype, str) else ""

    def to_dict(self) -> dict[str, Any]:
        if not isinstance(self.request, UnknownRequest):
            return super().to_dict()
        identity = {"request_id": self.request_id} if self.request_id else {}
        return {"type": "control_request", **identity, "request": self.request.to_dict()}


class _Response(WireObject, frozen=True, tag_field="subtype", kw_only=True):
    request_id: str = ""
    pending_permission_requests: list[Any] | None = None
    pending_user_dialog_requests: list[Any] | None = None
    pending_elicitation_requests: list[Any] | None = None

    def pending_requests(self) -> list[ControlRequest]:
        """What the CLI has asked and nobody has answered yet, listed in the answer to a (repeated) ``initialize``."""
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


class ControlSuccess(_Response, frozen=True, tag="success"):
    """The request was served. ``response`` is its payload; many requests have none."""

    response: Any = None


class ControlError(_Response, frozen=True, tag="error"):
    """The request was refused or failed."""

    error: str = ""
    error_code: str | None = None
    """On 2.1.325: ``unsupported_request``, ``invalid_mode``, ``bypass_not_launched``, ``reload_plugins_busy`` …"""
    model: str | None = None


class ControlResponse(Message, frozen=True, tag="control_response"):
    """The answer to a request, from the CLI or to it."""

    response: ControlSuccess | ControlError

    @property
    def request_id(self) -> str:
        return self.response.request_id

    @property
    def ok(self) -> bool:
        return isinstance(self.response, ControlSuccess)


class ControlCancelRequest(Message, frozen=True, tag="control_cancel_request"):
    """The asker no longer wants an answer. Mostly from the CLI; a late answer is ignored."""

    request_id: str = ""
