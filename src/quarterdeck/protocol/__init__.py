"""The conversation as two objects without I/O: ``HostSide`` drives the CLI, ``CliSide`` is the CLI.

Bytes go in with ``receive``, events and bytes come out of ``events`` and ``outgoing``; what this side wants is a method
call (``send_user``, ``request``, ``answer`` …). Ids and the clock are handed in; deadlines are data (``next_deadline``,
``tick``).

A name is imported when it is first asked for: who is one side need not load what only the other one needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cli_side import CliSide
    from .events import (
        AnswerReceived,
        CancelReceived,
        Event,
        Exited,
        Fatal,
        InputClosed,
        OutputEnded,
        ProtocolEvent,
        RequestFailed,
        RequestReceived,
        RequestRefused,
        TurnClosed,
        TurnOpened,
        Unexpected,
    )
    from .host_side import HostSide
    from .states import Flow, Handshake, LocalProtocolError, RequestState, TurnState

__all__ = [
    "AnswerReceived",
    "CancelReceived",
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
    "RequestFailed",
    "RequestReceived",
    "RequestRefused",
    "RequestState",
    "TurnClosed",
    "TurnOpened",
    "TurnState",
    "Unexpected",
]

_HOMES = {
    "CliSide": "cli_side",
    "Flow": "states",
    "Handshake": "states",
    "HostSide": "host_side",
    "LocalProtocolError": "states",
    "RequestState": "states",
    "TurnState": "states",
}
"""Where a name is; all others are events."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'events')}"), name)
    return value
