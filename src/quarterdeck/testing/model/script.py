"""The script of a model: the turns it answers with.

A turn is a ``Reply`` or an ``Error``. A ``Reply`` has content blocks, an end (``stop_reason``, ``usage``), a pace
(``delta_size``, ``delay_s``), and ``Fault``s: points in the event stream where something goes wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

DEFAULT_DELTA_SIZE = 24
STALL_LIMIT_S = 60.0
"""A stalled stream continues after this long: a forgotten gate must not block a test forever."""

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    thinking: str
    signature: str = "EqQBCkYIBxgCKkDsignatureOfAScriptedThought=="


@dataclass(frozen=True, slots=True)
class RedactedThinking:
    data: str = "EmwKAhgBEgyredactedThoughtOfAScriptedModel=="


@dataclass(frozen=True, slots=True)
class ToolUse:
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    """``None``: the server makes one (``toolu_…``)."""


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A content block in the API's own format, for kinds without a class here; sent complete in its start event."""

    data: Mapping[str, Any]


Block: TypeAlias = Text | Thinking | RedactedThinking | ToolUse | RawBlock


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int = 100
    output_tokens: int = 20
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_creation_input_tokens,
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "output_tokens": self.output_tokens,
            "service_tier": "standard",
        }


class Gate:
    """A point where a stream waits, made by ``ModelServer.gate()``.

    Use it instead of sleeping: wait until a stream reaches the gate, act on the program under test, open it.
    """

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._open = threading.Event()

    def wait_reached(self, timeout_s: float) -> bool:
        """Wait until a stream has reached the gate; ``False`` after a timeout."""
        return self._reached.wait(timeout_s)

    def open(self) -> None:
        self._open.set()

    def hold(self, timeout_s: float) -> None:
        """For the server: mark the gate as reached and wait for ``open()``, at most ``timeout_s``."""
        self._reached.set()
        self._open.wait(timeout_s)


@dataclass(frozen=True, slots=True)
class Cut:
    """Breaks the connection after ``after`` events; 0: before the first byte of the response."""

    after: int


@dataclass(frozen=True, slots=True)
class Stall:
    """Stops after ``after`` events until the gate opens, ``seconds`` pass or the server closes.

    ``after=0`` stalls before the response's headers.
    """

    after: int
    seconds: float = STALL_LIMIT_S
    until: Gate | None = None


@dataclass(frozen=True, slots=True)
class StreamError:
    """An SSE ``error`` event after ``after`` events; it ends the stream."""

    after: int
    type: str = "overloaded_error"
    message: str = "Overloaded"


Fault: TypeAlias = Cut | Stall | StreamError
"""A request without ``stream`` has no events: of its faults only ``Cut(after=0)`` and ``Stall(after=0)`` count."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message. Made by ``reply()`` from strings, blocks and faults in one list."""

    blocks: tuple[Block, ...] = ()
    faults: tuple[Fault, ...] = ()
    stop_reason: str | None = None
    """``None``: ``tool_use`` if there is such a block, otherwise ``end_turn``."""
    stop_details: Mapping[str, Any] | None = None
    """What the API adds to a refusal, e.g. ``{"type": "refusal", "category": …, "explanation": …}``."""
    usage: Usage = Usage()
    model: str | None = None
    """``None``: the model that was asked for."""
    delta_size: int = DEFAULT_DELTA_SIZE
    delay_s: float = 0.0
    """Pause before each event: a slow stream."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delta_size < 1:
            raise ValueError(f"delta_size must be at least 1, got {self.delta_size}")

    @property
    def final_stop_reason(self) -> str:
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(isinstance(block, ToolUse) for block in self.blocks) else "end_turn"


@dataclass(frozen=True, slots=True)
class Error:
    """An error response: an HTTP status with the API's error body."""

    status: int
    message: str = ""
    type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_json(self, request_id: str) -> dict[str, Any]:
        kind = self.type or ERROR_TYPES.get(self.status, "api_error")
        message = self.message or kind.replace("_", " ").capitalize()
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


Part: TypeAlias = str | Block | Fault | Error


def turn(*parts: Part, **options: Any) -> Reply | Error:
    """The turn made of ``parts``: one ``Error`` alone, or strings, blocks and faults in any mix.

    ``options`` are the keyword fields of ``Reply``.
    """
    errors = [part for part in parts if isinstance(part, Error)]
    if errors:
        if len(parts) > 1 or options:
            raise ValueError("an Error is a whole turn: queue it alone")
        return errors[0]
    faults = tuple(part for part in parts if isinstance(part, Cut | Stall | StreamError))
    blocks = tuple(
        Text(part) if isinstance(part, str) else part
        for part in parts
        if not isinstance(part, Cut | Stall | StreamError | Error)
    )
    return Reply(blocks=blocks, faults=faults, **options)
