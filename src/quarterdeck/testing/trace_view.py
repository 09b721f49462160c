"""Rows and summary of a trace on a terminal, or as JSON. Message text cannot control the terminal."""

from __future__ import annotations

import json
import textwrap
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict

from .recording import Header, Recording
from .simulated import dollars
from .trace_model import Summary, Timing, TraceRow

NARROWEST = 40
_COLOURS = {"host": "36", "cli": "34", "model": "32", "stderr": "33", "error": "31", "quiet": "2", "strong": "1"}
_ARROWS = {"in": "→", "out": "←", "err": "!"}
_WHO_WIDTH = 6
_TEXT_AT = 19
"""Where the text begins: time, arrow, who."""


class TraceView:
    """Lines of text for a terminal of that many columns; ``width`` None: as long as they are."""

    def __init__(self, *, width: int | None, colour: bool, full: bool = False) -> None:
        self._width = None if width is None else max(NARROWEST, width)
        self._colour = colour
        self._full = full
        self._turn = 0

    def header(self, header: Header) -> Iterator[str]:
        name = " ".join(filter(None, ["Claude Code", header.cli, f"({header.scenario})" if header.scenario else ""]))
        about = " · ".join(filter(None, [name, header.started, header.recorder]))
        yield self._paint("strong", self._fit(plain(about)))
        if header.argv:
            yield self._paint("quiet", self._fit(plain(" ".join(header.argv))))
        if header.redacted:
            yield self._paint("quiet", "secrets were replaced by [redacted]")

    def row(self, row: TraceRow) -> Iterator[str]:
        if row.turn != self._turn:
            self._turn = row.turn
            yield ""
            yield self._paint("strong", f"turn {row.turn}")
        name = self._paint("error" if row.error else row.who, _clipped(plain(row.who), _WHO_WIDTH))
        start = f"{row.t:9.3f} {_ARROWS[row.direction]} {name} "
        detail = (
            ""
            if row.latency_s is None
            else f" ({plain(row.request)}{', ' if row.request else ''}{duration(row.latency_s)})"
        )
        indent = "  " if row.nested else ""
        first, *more = self._laid_out(indent + plain(row.text), detail)
        yield start + first
        for line in more:
            yield " " * _TEXT_AT + line
        for anomaly in row.anomalies:
            yield " " * _TEXT_AT + self._paint("error", self._fit(f"⚠ {plain(anomaly)}", _TEXT_AT))

    def summary(self, summary: Summary, recording: Recording) -> Iterator[str]:
        yield ""
        yield self._paint("strong", "summary")
        parts = [
            f"{summary.lines[d]} lines {d} ({size(summary.bytes[d])})" for d in ("in", "out", "err") if summary.lines[d]
        ]
        yield self._fit(f"  {duration(summary.duration_s)}, " + ", ".join(parts))
        for turn in summary.turns:
            cost = "" if turn.cost_usd is None else f", {dollars(turn.cost_usd, simulated=summary.simulated)}"
            text = f"  turn {turn.number}: {plain(turn.subtype)}, {duration(turn.duration_s)}{cost}"
            yield self._paint("error", self._fit(text)) if turn.error else self._fit(text)
        if len(summary.turns) > 1:
            yield f"  all turns: {dollars(summary.cost_usd, simulated=summary.simulated)}"
        yield from self._timings("requests", summary.requests)
        yield from self._timings("tools", summary.tools)
        yield self._fit(f"  end: {plain(ending(recording))}")
        count = len(summary.anomalies)
        yield self._paint("error" if count else "quiet", f"  anomalies: {count or 'none'}")
        for number, text in sorted(summary.anomalies):
            yield self._paint("error", self._fit(f"    line {number}: {plain(text)}"))

    def _timings(self, title: str, timings: list[Timing]) -> Iterator[str]:
        for index, timing in enumerate(timings):
            times = f"{timing.count} × {duration(timing.median_s)}" + (
                f", at most {duration(timing.longest_s)}" if timing.count > 1 else ""
            )
            yield self._fit(f"  {title + ':' if index == 0 else '':10}{plain(timing.name)}: {times}")

    def _laid_out(self, text: str, detail: str) -> list[str]:
        """The text with its detail in the room that there is: cut, or with ``full`` wrapped."""
        if self._width is None:
            return [text + self._paint("quiet", detail)]
        room = self._width - _TEXT_AT
        if self._full:
            return textwrap.wrap(text + detail, room) or [""]
        return [self._fit(text, _TEXT_AT + _columns(detail)) + self._paint("quiet", detail)]

    def _fit(self, text: str, used: int = 0) -> str:
        return text if self._width is None else cut(text, max(8, self._width - used))

    def _paint(self, name: str, text: str) -> str:
        code = _COLOURS.get(name)
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and code and text else text


def plain(text: str) -> str:
    """One line without control sequences: controls, escapes, changes of direction."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _SHOWN.get(c) or f"\\u{{{ord(c):x}}}" for c in text)


def cut(text: str, width: int) -> str:
    """As much as fits in this many columns."""
    if len(text) * 2 <= width or _columns(text) <= width:
        return text
    used, kept = 1, []
    for character in text:
        used += _columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + "…"


def duration(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def ending(recording: Recording) -> str:
    """How the process ended, and what the recorder says of itself."""
    if recording.signal:
        how = f"killed by {recording.signal}"
    elif recording.exit_code is not None:
        how = f"exit code {recording.exit_code}"
    else:
        how = "not recorded"
    notes = [
        *(recording.end.trouble if recording.end else []),
        *(["the file is cut off"] if recording.truncated else []),
    ]
    return "; ".join([how, *notes])


def row_as_json(row: TraceRow) -> str:
    plain_row = {key: value for key, value in asdict(row).items() if key != "raw"}
    return json.dumps({"row": plain_row | {"line": row.raw.decode(errors="replace")}})


def summary_as_json(summary: Summary, recording: Recording) -> str:
    end = {"exit_code": recording.exit_code, "signal": recording.signal, "note": ending(recording)}
    return json.dumps({"summary": asdict(summary) | {"end": end}})


_SHOWN = {"\n": "⏎", "\r": "", "\t": " ", "\x1b": "␛"}


def _clipped(text: str, width: int) -> str:
    text = cut(text, width)
    return text + " " * (width - _columns(text))


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in text
    )
