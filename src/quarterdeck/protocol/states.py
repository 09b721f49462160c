"""The states of a conversation, as tables. The diagrams in ``docs/protocol.md`` are drawn from them.

Two rules. First, if a table doesn't list a trigger for a state, our own intent raises a local error, while a message
from the peer changes nothing: the peer may send anything at any time. Second, time alone never changes a state: a
deadline fires a trigger like everything else.

One conversation has several state machines side by side:

* each direction of bytes is a ``Flow``: open, then finishing (nothing more will be sent, but it isn't closed yet), then
  closed;
* the ``Handshake``: ``initialize`` is optional, may come before, with or after the first prompt, and may be repeated;
* the ``TurnState``. A turn runs from ``system/init`` to ``result``. Prompts may be sent at any time: while a turn runs
  they queue, and the CLI either folds them into that turn or gives them one of their own. The CLI also starts turns by
  itself, after background work;
* each request, in either direction, is a ``RequestState``. All states but ``OPEN`` are final: every request ends
  exactly once.
"""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

from quarterdeck._defaults import INITIALIZE_TIMEOUT_S as INITIALIZE_TIMEOUT_S
from quarterdeck._defaults import REQUEST_TIMEOUT_S as REQUEST_TIMEOUT_S
from quarterdeck._errors import QuarterdeckError

END_WAIT_S = 5.0
"""How long to wait for the peer's exit after its stream ended, before open requests fail."""

IDLE_WAIT_S = 600.0
"""How long the input stays open for a CLI that reports running, between turns and without a known task."""

SETTLE_S = 1.0
"""How long a CLI that doesn't report its state must be silent to count as idle."""


class LocalProtocolError(QuarterdeckError):
    """The caller asked for something the conversation doesn't allow in its current state. Nothing was sent.

    The peer's mistakes are never raised; they are reported as ``Unexpected`` events.
    """


class Flow(Enum):
    OPEN = "open"
    FINISHING = "finishing"
    CLOSED = "closed"


class Handshake(Enum):
    NOT_ASKED = "not asked"
    ASKED = "asked"
    DONE = "done"
    FAILED = "failed"


class TurnState(Enum):
    IDLE = "idle"
    AWAITED = "awaited"
    RUNNING = "running"


class RequestState(Enum):
    OPEN = "open"
    ANSWERED = "answered"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    LOST = "lost"


State = TypeVar("State", bound=Enum)
Table = dict[State, dict[str, State]]

FLOW: Table[Flow] = {
    Flow.OPEN: {"finish": Flow.FINISHING, "close": Flow.CLOSED},
    Flow.FINISHING: {"finish": Flow.FINISHING, "close": Flow.CLOSED},
    Flow.CLOSED: {},
}

HANDSHAKE: Table[Handshake] = {
    Handshake.NOT_ASKED: {"ask": Handshake.ASKED},
    Handshake.ASKED: {"ask": Handshake.ASKED, "answer": Handshake.DONE, "fail": Handshake.FAILED},
    Handshake.DONE: {"ask": Handshake.ASKED},
    Handshake.FAILED: {"ask": Handshake.ASKED},
}

TURN: Table[TurnState] = {
    TurnState.IDLE: {"prompt": TurnState.AWAITED, "init": TurnState.RUNNING},
    TurnState.AWAITED: {"init": TurnState.RUNNING, "result": TurnState.IDLE, "nothing queued": TurnState.IDLE},
    TurnState.RUNNING: {"result": TurnState.IDLE},
}

REQUEST: Table[RequestState] = {
    RequestState.OPEN: {
        "answer": RequestState.ANSWERED,
        "refuse": RequestState.REFUSED,
        "cancel": RequestState.CANCELLED,
        "expire": RequestState.EXPIRED,
        "end of stream": RequestState.LOST,
    },
    RequestState.ANSWERED: {},
    RequestState.REFUSED: {},
    RequestState.CANCELLED: {},
    RequestState.EXPIRED: {},
    RequestState.LOST: {},
}


class StateMachine(Generic[State]):
    """A state and its table."""

    __slots__ = ("_table", "state")

    def __init__(self, table: Table[State], state: State) -> None:
        self._table = table
        self.state = state

    def fire(self, trigger: str) -> bool:
        """Change the state. Returns False, and changes nothing, if the table doesn't list the trigger."""
        following = self._table[self.state].get(trigger)
        if following is None:
            return False
        self.state = following
        return True


def mermaid(table: Table[State]) -> str:
    """The table as a Mermaid state diagram."""
    first = next(iter(table))
    lines = ["stateDiagram-v2", f"    [*] --> {_node(first)}"]
    for state, triggers in table.items():
        lines += [f"    {_node(state)} --> {_node(following)}: {name}" for name, following in triggers.items()]
        if not triggers:
            lines.append(f"    {_node(state)} --> [*]")
    return "\n".join(lines)


def _node(state: Enum) -> str:
    return str(state.value).replace(" ", "_")
