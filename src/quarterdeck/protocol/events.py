"""What a side reports: content messages as they are, and the events below.

No message is ever dropped: it comes out as itself, or as the ``message`` of exactly one of these events.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from quarterdeck.wire._base import Message, WireObject
from quarterdeck.wire.control import ControlCancelRequest, ControlRequest, ControlResponse
from quarterdeck.wire.result import ResultMessage
from quarterdeck.wire.system import InitMessage


class ProtocolEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Base of all events that are not content."""


class RequestReceived(ProtocolEvent, frozen=True, gc=False):
    """The peer sent a request: call ``answer`` or ``refuse``, once."""

    request_id: str
    request: Any
    message: ControlRequest | None = None
    """None if the request was listed in a handshake answer, or restored from a record."""


class RequestRefused(ProtocolEvent, frozen=True, kw_only=True):
    """The peer sent a request that this side doesn't serve; it got an error."""

    request_id: str
    request: Any
    reason: str
    message: ControlRequest | None


class CancelReceived(ProtocolEvent, frozen=True, kw_only=True):
    """The peer cancelled its request: stop working on it. It can no longer be answered."""

    request_id: str
    request: Any
    message: ControlCancelRequest


class AnswerReceived(ProtocolEvent, frozen=True, kw_only=True):
    """Our request succeeded."""

    request_id: str
    request: WireObject
    answer: Any
    """Typed if the subtype is known, otherwise the raw payload."""
    message: ControlResponse


class RequestFailed(ProtocolEvent, frozen=True, kw_only=True):
    """Our request failed: the peer answered with an error, or will never answer."""

    request_id: str
    request: WireObject
    kind: Literal["error", "timeout", "cancelled", "ended"]
    error: str
    error_code: str | None = None
    message: ControlResponse | None = None


class TurnOpened(ProtocolEvent, frozen=True, kw_only=True):
    """``system/init`` was seen; the message itself follows as content."""

    number: int
    autonomous: bool
    """True if no prompt of ours was waiting: the CLI starts turns on its own after background work."""
    init: InitMessage


class TurnClosed(ProtocolEvent, frozen=True, kw_only=True):
    """``result`` was seen; the message itself came just before as content."""

    number: int
    result: ResultMessage


class InputClosed(ProtocolEvent, frozen=True, kw_only=True):
    """Nothing more will be written: close the stream once ``outgoing`` is flushed."""


class OutputEnded(ProtocolEvent, frozen=True, kw_only=True):
    """The peer closed its stream. Open requests fail when the exit is known, or after ``END_WAIT_S``."""


class Exited(ProtocolEvent, frozen=True, kw_only=True):
    """The process has ended. Everything still open has failed before this event."""

    code: int | None
    signal: int | None
    stderr: str
    expected: bool
    """True for 0, and for 1 after an error result: the exit code reflects the last result (2.1.325). Never while a
    prompt has no result."""


class Fatal(ProtocolEvent, frozen=True, kw_only=True):
    """Only on the CLI's side: input that makes the real CLI exit."""

    exit_code: int
    stderr: str
    message: Message


class Unexpected(ProtocolEvent, frozen=True, kw_only=True):
    """The peer sent something unexpected. The conversation continues."""

    reason: str
    message: Message


Event = Message | ProtocolEvent
