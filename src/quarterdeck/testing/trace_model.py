"""The rows and the summary of a recording: requests paired with answers, turns, tools, costs, and anomalies.

Lines are added one by one, so a growing recording can be followed; each gives the rows to show.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from quarterdeck.protocol.ledger import Ledger, detail_of, subtype_of
from quarterdeck.timeline import Timeline
from quarterdeck.wire import (
    AssistantMessage,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    Message,
    MessageStop,
    ResultMessage,
    StreamEvent,
    TextDelta,
    ToolResultBlock,
    ToolUseBlock,
    UnknownEvent,
    UserMessage,
    decode,
)

from .recording import Entry
from .trace_text import Sentence, describe, kind_of, turn_cost

SLOW_S = 5.0


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One line for a person."""

    t: float
    direction: str
    number: int
    """The line in the recording's file."""
    turn: int
    kind: str
    who: str
    text: str
    error: bool = False
    anomalies: tuple[str, ...] = ()
    latency_s: float | None = None
    """How long an answer took, a tool ran or a message was streamed."""
    request: str = ""
    """What an answer answers."""
    nested: bool = False
    """Sentence by or for a sub-agent."""
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class TracedTurn:
    """A turn as the recording times it."""

    number: int
    t: float
    duration_s: float
    cost_usd: float | None
    subtype: str
    error: bool


@dataclass(frozen=True, slots=True)
class Timing:
    """How often, and how long."""

    name: str
    count: int
    median_s: float
    longest_s: float


@dataclass(slots=True)
class Summary:
    duration_s: float = 0.0
    lines: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("in", "out", "err"), 0))
    bytes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("in", "out", "err"), 0))
    turns: list[TracedTurn] = field(default_factory=list)
    cost_usd: float = 0.0
    simulated: bool = False
    """The costs are made up."""
    requests: list[Timing] = field(default_factory=list)
    tools: list[Timing] = field(default_factory=list)
    anomalies: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class _TraceRequest:
    """A request in the ledger."""

    request: Any
    t: float
    number: int
    direction: str

    def get(self, key: str, default: Any = None) -> Any:
        """Delegates to the request: the ledger reads its subtype."""
        return self.request.get(key, default)

    @property
    def tool_name(self) -> str | None:
        """The tool or hook that the request is about; the ledger reads it too."""
        return detail_of(self.request)

    @property
    def name(self) -> str:
        detail = self.tool_name
        return f"{subtype_of(self.request)} {detail}" if detail else subtype_of(self.request)


class TraceModel:
    """One recording. ``add`` each whole line, then ``finish``; ``summary`` at any time."""

    def __init__(self, *, slow_s: float = SLOW_S) -> None:
        self._slow_s = slow_s
        self._ledgers = {"in": Ledger(), "out": Ledger()}
        self._tools: dict[str, tuple[str, float, int]] = {}
        self._request_times: dict[str, list[float]] = {}
        self._tool_times: dict[str, list[float]] = {}
        self._stream: list[Entry] = []
        self._stream_letters = 0
        self._turn_began: float | None = None
        self._timeline = Timeline()
        self.summary = Summary()

    def add(self, entry: Entry) -> list[TraceRow]:
        summary = self.summary
        summary.duration_s = max(summary.duration_s, entry.t)
        if entry.eof:
            return [self._row(entry, "eof", Sentence(_WHO[entry.direction], _EOF[entry.direction]))]
        summary.lines[entry.direction] += 1
        summary.bytes[entry.direction] += len(entry.data)
        if entry.direction == "err":
            return [self._row(entry, "stderr", Sentence("stderr", entry.line.decode(errors="replace"), True))]
        if not entry.line.strip():
            return [self._row(entry, "blank", Sentence(_WHO[entry.direction], "(a blank line)"))]
        return list(self._message(entry, decode(entry.line)))

    def finish(self) -> list[TraceRow]:
        """The recording has ended: report what is still open."""
        rows = list(self._flush_stream())
        for ledger in self._ledgers.values():
            for left in ledger.open():
                asked: _TraceRequest = left.request
                self._anomaly(asked.number, f"{asked.name} ({left.request_id}) was never answered")
        for name, _, number in self._tools.values():
            self._anomaly(number, f"the call of {name} has no result")
        self._tools.clear()
        self._sum_up()
        return rows

    def _sum_up(self) -> None:
        self.summary.requests = _timings(self._request_times)
        self.summary.tools = _timings(self._tool_times)

    def _message(self, entry: Entry, message: Message) -> Iterator[TraceRow]:
        if isinstance(message, StreamEvent):
            yield from self._stream_event(entry, message)
            return
        fold = self._timeline.sent if entry.direction == "in" else self._timeline.received
        events = fold(message, at=entry.t)
        if isinstance(message, ResultMessage):
            yield from self._flush_stream()
        sentence = describe(message, entry.direction, events, simulated=self.summary.simulated)
        said, latency, request = self._paired(entry, message, sentence)
        parent = getattr(message, "parent_tool_use_id", None)
        yield self._row(entry, kind_of(message), said, latency_s=latency, request=request, nested=parent is not None)
        if isinstance(message, ResultMessage):
            self._end_turn(entry, message, turn_cost(message, events))

    def _row(self, entry: Entry, kind: str, said: Sentence, **more: Any) -> TraceRow:
        for oddity in said.oddities:
            self._anomaly(entry.number, oddity)
        turn = len(self.summary.turns) + 1
        if self._turn_began is None:
            begins = (entry.direction == "in" and kind != "eof") or kind in ("system/init", "assistant") or turn == 1
            if begins:
                self._turn_began = entry.t
            else:  # what the CLI still has to say about the turn that has just ended
                turn -= 1
        return TraceRow(
            entry.t,
            entry.direction,
            entry.number,
            turn,
            kind,
            said.who,
            said.text,
            said.error,
            said.oddities,
            raw=entry.line,
            **more,
        )

    def _anomaly(self, number: int, text: str) -> None:
        self.summary.anomalies.append((number, text))

    # Pairing

    def _paired(self, entry: Entry, message: Message, said: Sentence) -> tuple[Sentence, float | None, str]:
        if isinstance(message, ControlRequest):
            asked = _TraceRequest(message.request, entry.t, entry.number, entry.direction)
            self._ledgers[entry.direction].add(message.request_id, asked)
        elif isinstance(message, ControlResponse):
            return self._answer(entry, message, said)
        elif isinstance(message, ControlCancelRequest):
            closed = self._ledgers[entry.direction].close(message.request_id, "cancel")
            name = f" {closed.request.name}" if closed is not None else ""
            return Sentence(said.who, said.text + name), None, ""
        elif isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, ToolUseBlock):
                    self._tools[block.id] = (block.name, entry.t, entry.number)
        elif isinstance(message, UserMessage) and entry.direction == "out":
            return self._tool_result(entry, message, said)
        return said, None, ""

    def _answer(self, entry: Entry, message: ControlResponse, said: Sentence) -> tuple[Sentence, float | None, str]:
        ledger = self._ledgers["out" if entry.direction == "in" else "in"]
        found = ledger.close(message.request_id, "answer")
        if found is None:
            repeated = self._ledgers[entry.direction].closed(message.request_id)
            if repeated is not None:  # --replay-user-messages repeats the host's answers, too (2.1.325)
                return Sentence(said.who, f"repeats the answer to {repeated.asks}"), None, ""
            before = ledger.closed(message.request_id)
            odd = (
                f"an answer to {message.request_id!r}, which was never sent"
                if before is None
                else f"another answer to {before.asks} (already {before.state.value})"
            )
            return Sentence(said.who, said.text, said.error, (*said.oddities, odd)), None, ""
        asked: _TraceRequest = found.request
        latency = entry.t - asked.t
        self._request_times.setdefault(f"{_WHO[asked.direction]} {subtype_of(asked.request)}", []).append(latency)
        if latency > self._slow_s:
            slow = f"{asked.name} was answered after {latency:.1f} s"
            said = Sentence(said.who, said.text, said.error, (*said.oddities, slow))
        return said, latency, asked.name

    def _tool_result(self, entry: Entry, message: UserMessage, said: Sentence) -> tuple[Sentence, float | None, str]:
        blocks = message.content if isinstance(message.content, list) else []
        for block in blocks:
            if isinstance(block, ToolResultBlock) and (call := self._tools.pop(block.tool_use_id, None)):
                name, began, _ = call
                self._tool_times.setdefault(name, []).append(entry.t - began)
                return Sentence(name, said.text, said.error, said.oddities), entry.t - began, ""
        return said, None, ""

    # Streams and turns

    def _stream_event(self, entry: Entry, message: StreamEvent) -> Iterator[TraceRow]:
        """All stream events of a message become one row when it stops."""
        event = message.typed_event
        if isinstance(event, UnknownEvent):
            self._anomaly(entry.number, f"unknown stream event: {event.reason}")
        delta = getattr(event, "delta", None)
        self._stream.append(entry)
        self._stream_letters += len(delta.text) if isinstance(delta, TextDelta) else 0
        if isinstance(event, MessageStop):
            yield from self._flush_stream()

    def _flush_stream(self) -> Iterator[TraceRow]:
        events, self._stream = self._stream, []
        letters, self._stream_letters = self._stream_letters, 0
        if events:
            text = f"(streamed: {len(events)} events, {letters} letters)"
            yield self._row(events[-1], "stream_event", Sentence("model", text), latency_s=events[-1].t - events[0].t)

    def _end_turn(self, entry: Entry, message: ResultMessage, cost: float | None) -> None:
        self.summary.cost_usd += cost or 0.0
        began = entry.t if self._turn_began is None else self._turn_began
        number = len(self.summary.turns) + 1
        self.summary.turns.append(TracedTurn(number, began, entry.t - began, cost, message.subtype, message.is_error))
        self._turn_began = None


_EOF = {"in": "closes the input", "out": "closes its output", "err": "closes stderr"}
_WHO = {"in": "host", "out": "cli", "err": "cli"}


def _timings(times: dict[str, list[float]]) -> list[Timing]:
    return [Timing(name, len(found), statistics.median(found), max(found)) for name, found in sorted(times.items())]
