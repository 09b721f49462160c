"""Events as text that a person can review: one line each, without what differs from run to run.

``PYTHONPATH=tests python -m timeline.rendering`` writes ``snapshots/`` anew from all recordings; read the difference
before you commit it. With names (``… timeline.rendering 2.1.325/perm_allow``) it prints the timelines of those.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from conversations import Recording, all_recordings
from quarterdeck.timeline import Event, fold
from quarterdeck.timeline.events import TaskStarted, TextAdded, ThinkingAdded, ToolInputAdded

SNAPSHOTS = Path(__file__).parent / "snapshots"

_LEFT_OUT = frozenset(
    {"at", "started_at", "called_at", "ended_at", "closed_at", "elapsed_s", "duration_s", "api_s", "resets_at"}
)
_VALUE_CHARS = 110
_IDS = (
    ("tool", re.compile(r"\btoolu_\w{10,}")),
    ("message", re.compile(r"\bmsg_\w{10,}")),
    ("id", re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")),
    ("request", re.compile(r"\breq_[0-9a-zA-Z]{12,}")),
)


def render(events: list[Event]) -> str:
    """All events, one line each; pieces of the same block together."""
    names = _Names({event.id: "task" for event in events if isinstance(event, TaskStarted)})
    return "".join(f"{names.line(kind, fields)}\n" for kind, fields in _told(events))


def timeline_of(recording: Recording) -> list[Event]:
    """With the end of the process, which is when its stdout is closed."""
    timeline, events = fold((entry.t, entry.direction, entry.line) for entry in recording.entries if not entry.eof)
    return events + timeline.process_ended(at=recording.entries[-1].t if recording.entries else 0.0)


def _told(events: list[Event]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The type and the fields of each event."""
    for _, group in groupby(events, key=_together):
        same = list(group)
        first = same[0]
        if isinstance(first, TextAdded | ThinkingAdded):
            yield _tag(first), {"id": first.id, "text": "|".join(event.text for event in same)}  # type: ignore[union-attr]
        elif isinstance(first, ToolInputAdded):
            yield _tag(first), {"id": first.id, "json": "|".join(event.json for event in same)}  # type: ignore[union-attr]
        else:
            for event in same:
                fields = msgspec.to_builtins(event)
                inner = {**fields.pop("turn", {}), **fields.pop("request", {})}
                yield _tag(event), {key: value for key, value in (inner | fields).items() if key != "type"}


def _together(event: Event) -> Any:
    pieces = isinstance(event, TextAdded | ThinkingAdded | ToolInputAdded)
    return (type(event), event.id) if pieces else id(event)  # type: ignore[union-attr]


def _tag(event: Event) -> str:
    return str(type(event).__struct_config__.tag)


class _Names:
    """Writes lines with random ids replaced by a word and a number, in the order in which they appear."""

    def __init__(self, others: dict[str, str]) -> None:
        self._known: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._others = others

    def line(self, kind: str, fields: dict[str, Any]) -> str:
        shown = [f"{key}={self._value(value)}" for key, value in fields.items() if key not in _LEFT_OUT]
        return " ".join([kind, *shown])

    def _value(self, value: Any) -> str:
        if isinstance(value, str) and re.fullmatch(r"[\w.:/@-]+", value):
            text = value
        else:
            text = json.dumps(_steady(value), ensure_ascii=False).encode("utf-8", "replace").decode()
        text = self._named(text[: 20 * _VALUE_CHARS])
        return text if len(text) <= _VALUE_CHARS else f"{text[: _VALUE_CHARS - 1]}…"

    def _named(self, text: str) -> str:
        for found, word in self._others.items():
            if found in text:
                text = text.replace(found, self._name(word, found))
        for word, pattern in _IDS:
            text = pattern.sub(partial(self._found, word), text)
        return text

    def _found(self, word: str, found: re.Match[str]) -> str:
        return self._name(word, found[0])

    def _name(self, word: str, found: str) -> str:
        if found not in self._known:
            self._counts[word] = self._counts.get(word, 0) + 1
            self._known[found] = f"<{word} {self._counts[word]}>"
        return self._known[found]


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in _LEFT_OUT}
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def snapshots() -> dict[str, str]:
    """File name → text: one file for each version of the CLI."""
    made: dict[str, list[str]] = {}
    for recording in all_recordings():
        text = render(timeline_of(recording))
        made.setdefault(f"{recording.header.cli}.txt", []).append(f"## {recording.header.scenario}\n{text}")
    return {name: "\n".join(parts) for name, parts in made.items()}


def main(names: list[str]) -> None:
    if names:
        for recording in all_recordings():
            if any(name in recording.id for name in names):
                print(f"## {recording.id}\n{render(timeline_of(recording))}")
        return
    SNAPSHOTS.mkdir(exist_ok=True)
    for name, text in snapshots().items():
        (SNAPSHOTS / name).write_text(text)
        print(f"{name}: {len(text):,} characters")


if __name__ == "__main__":
    main(sys.argv[1:])
