"""The conversation as two objects without I/O: ``HostSide`` drives the CLI, ``CliSide`` is the CLI.

Bytes go in with ``receive``, events and bytes come out of ``events`` and ``outgoing``; what this side wants is a method
call (``send_user``, ``request``, ``answer`` …). Ids and the clock are handed in; deadlines are data (``next_deadline``,
``tick``).
"""

from .cli_side import CliSide
from .errors import LocalProtocolError
from .events import (
    AnswerReceived,
    Event,
    Exited,
    Fatal,
    InputClosed,
    OutputEnded,
    ProtocolEvent,
    RequestCancelled,
    RequestFailed,
    RequestReceived,
    RequestRefused,
    TurnEnded,
    TurnStarted,
    Unexpected,
)
from .host_side import HostSide
from .states import Flow, Handshake, RequestState, TurnState

__all__ = [
    "AnswerReceived",
    "CliSide",
    "Event",
    "Exited",
    "Fatal",
    "Flow",
    "Handshake",
    "HostSide",
    "InputClosed",
    "LocalProtocolError",
    "OutputEnded",
    "ProtocolEvent",
    "RequestCancelled",
    "RequestFailed",
    "RequestReceived",
    "RequestRefused",
    "RequestState",
    "TurnEnded",
    "TurnStarted",
    "TurnState",
    "Unexpected",
]
