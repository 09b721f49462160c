"""The conversation as two objects without I/O: ``HostSide`` drives the CLI, ``CliSide`` is the CLI.

Pass received bytes to ``receive``; take events from ``events`` and bytes to send from ``outgoing``. Each intent is a
method (``send_user``, ``request``, ``answer`` …). The caller supplies IDs and the clock, and calls ``tick`` at
``next_deadline``.

Names are imported on first use, so a program loads only the side it needs.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

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

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".cli_side")
__all__ += ["CliSide"]
_names.of(".events")
__all__ += ["AnswerReceived", "CancelReceived", "Event", "Exited", "Fatal", "InputClosed", "OutputEnded"]
__all__ += ["ProtocolEvent", "RequestFailed", "RequestReceived", "RequestRefused", "TurnClosed", "TurnOpened"]
__all__ += ["Unexpected"]
_names.of(".host_side")
__all__ += ["HostSide"]
_names.of(".states")
__all__ += ["Flow", "Handshake", "LocalProtocolError", "RequestState", "TurnState"]
