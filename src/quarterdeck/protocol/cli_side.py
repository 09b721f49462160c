"""``CliSide``: the CLI's end of the conversation, for the simulator, the replayer and tests.

Handles input like CLI 2.1.325: exits on a line that isn't JSON, ignores unknown types, refuses unknown requests, and
serves a repeated ID every time.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from quarterdeck.wire._base import Message, WireObject
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES, NOT_UTF8, BadLine, UnknownMessage, decode, encode
from quarterdeck.wire.messages import UserMessage
from quarterdeck.wire.result import ResultMessage

from .events import Fatal, TurnClosed
from .side import Side
from .states import TURN, StateMachine, TurnState

IGNORED_KINDS = ("a JSON array", "a JSON string", "a JSON number", "a JSON boolean")


class CliSide(Side):
    """The conversation as the CLI sees it. ``say`` sends content to the host."""

    _peer = "the host"

    def __init__(
        self,
        *,
        new_id: Callable[[], str],
        clock: Callable[[], float],
        serves: Container[str] | None = None,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
    ) -> None:
        """``serves``: the request subtypes to accept; None accepts everything a host can send."""
        if serves is None:
            # Deferred: it loads many classes.
            from quarterdeck.wire.requests.tables import OUTGOING_REQUESTS

            serves = OUTGOING_REQUESTS

        super().__init__(new_id=new_id, clock=clock, serves=serves, limit_bytes=limit_bytes)
        self._turn = StateMachine(TURN, TurnState.IDLE)
        self._turns = 0
        self.exit_code = 0
        """The exit code of the process: 1 when the last result was an error, else 0."""

    @property
    def turn(self) -> TurnState:
        return self._turn.state

    def say(self, message: Message | WireObject | Mapping[str, Any]) -> None:
        """Write a message to the host. ``system/init`` starts a turn, ``result`` ends it."""
        line = encode(message)
        typed = decode(line)
        self._send(typed)
        if isinstance(typed, ResultMessage):
            self.exit_code = int(typed.is_error)
            if self._turn.state is not TurnState.RUNNING:
                self._turns += 1
            self._turn.fire("result")
            self._emit(TurnClosed(number=self._turns, result=typed))
        elif typed.data.get("subtype") == "init" and self._turn.state is not TurnState.RUNNING:
            self._turns += 1
            self._turn.fire("init")

    def receive_eof(self) -> None:
        """The host closed our input but still reads: our requests fail, and we can still answer its requests."""
        super().receive_eof()
        self._end_deadline = None
        self._lose_our_requests("Tool permission stream closed before response received")

    def _prompt(self, message: UserMessage) -> None:
        if (role := message.message.role) != "user":
            self._die(f"Error: Expected message role 'user', got '{role}'", message)
            return
        self._turn.fire("prompt")
        self._emit(message)

    def _unknown(self, message: UnknownMessage) -> None:
        """Exit on a malformed message of a known type; ignore anything else."""
        data = message.data
        if message.type == "user":
            inner = data.get("message")
            role = inner.get("role", "undefined") if isinstance(inner, dict) else "undefined"
            self._die(f"Error: Expected message role 'user', got '{role}'", message)
        elif message.type == "control_request" and not isinstance(data.get("request"), dict):
            self._die("Error: Missing request on control_request", message)
        else:
            self._emit(message)

    def _bad_line(self, message: BadLine) -> None:
        if message.reason == NOT_UTF8:  # the real CLI replaces the bad bytes with U+FFFD and continues
            self.take([decode(message.raw.decode("utf-8", "replace").encode())])
            return
        if message.reason.startswith(IGNORED_KINDS):
            self._emit(message)
            return
        kind = "TypeError" if message.reason.startswith("a JSON null") else "SyntaxError"
        self._die(f"Error parsing streaming input line (type=unknown, {message.size} chars): {kind}", message)

    def _die(self, stderr: str, message: Message) -> None:
        self.exit_code = 1
        self._emit(Fatal(exit_code=1, stderr=stderr, message=message))

    _handlers = Side._handlers | {BadLine: _bad_line, UnknownMessage: _unknown, UserMessage: _prompt}
