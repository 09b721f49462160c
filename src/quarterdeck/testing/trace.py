"""Shows a recording, whole or as it grows, with filters. ``quarterdeck trace`` is this."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from .recording import Entry, Header, RecordingError, Trailer, load, parse_line, whole_lines
from .trace_model import SLOW_S, TraceModel, TraceRow
from .trace_view import TraceView, row_as_json, summary_as_json

FOLLOW_POLL_S = 0.2
"""How often to check a growing recording."""
TYPED_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Filter:
    """Shows the rows that meet every given condition."""

    types: tuple[str, ...] = ()
    """``assistant``, or with its subtype: ``system/init``."""
    turn: int | None = None
    only: str | None = None
    grep: str | None = None
    """A regular expression, looked for in what is shown and in the line itself."""
    errors: bool = False

    def __call__(self, row: TraceRow) -> bool:
        if self.types and not {row.kind, row.kind.partition("/")[0]}.intersection(self.types):
            return False
        if self.turn is not None and row.turn != self.turn:
            return False
        if self.only is not None and row.direction != self.only:
            return False
        if self.errors and not row.error and not row.anomalies:
            return False
        return self.grep is None or bool(re.search(self.grep, f"{row.text}\n{row.raw.decode(errors='replace')}"))


def show(
    path: Path,
    wanted: Filter,
    *,
    follow: bool = False,
    as_json: bool = False,
    full: bool = False,
    slow_s: float = SLOW_S,
    to: TextIO | None = None,
) -> None:
    """Write the rows and the summary. Raises ``RecordingError`` and ``OSError``."""
    to = to or sys.stdout
    view = TraceView(width=_width(to), colour=to.isatty() and "NO_COLOR" not in os.environ, full=full)
    model = TraceModel(slow_s=slow_s)

    def say(lines: Iterable[str]) -> None:
        for line in lines:
            to.write(line + "\n")
        if follow:
            to.flush()

    def say_rows(rows: list[TraceRow]) -> None:
        for row in filter(wanted, rows):
            say([row_as_json(row)] if as_json else view.row(row))

    for thing in _things(path, follow=follow):
        if isinstance(thing, Entry):
            say_rows(model.add(thing))
            continue
        model.summary.simulated = thing.simulated
        if not as_json:
            say(view.header(thing))
    say_rows(model.finish())
    recording = load(path)
    say([summary_as_json(model.summary, recording)] if as_json else view.summary(model.summary, recording))
    to.flush()


def _things(path: Path, *, follow: bool) -> Iterator[Header | Entry]:
    if not follow:
        recording = load(path)
        yield recording.header
        yield from whole_lines(recording.entries)
        return
    things = _growing(path)
    header = next(things, None)
    if not isinstance(header, Header):
        raise RecordingError(path, 1, "expected the header of a recording")
    yield header
    yield from whole_lines(thing for thing in things if isinstance(thing, Entry))


def _growing(path: Path) -> Iterator[Header | Entry]:
    """The file's content and what is added to it, until the trailer; without one, until KeyboardInterrupt."""
    number, torn = 0, b""
    with path.open("rb") as file:
        while True:
            line = file.readline()
            if not line.endswith(b"\n"):
                torn += line
                time.sleep(FOLLOW_POLL_S)
                continue
            number += 1
            thing = parse_line((torn + line).rstrip(b"\n"), number, path)
            torn = b""
            if isinstance(thing, Trailer):
                return
            yield thing


def _width(to: TextIO) -> int | None:
    """The columns of the terminal. Elsewhere COLUMNS, or None: lines are not cut."""
    if to.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size((TYPED_WIDTH, 24)).columns
    return None
