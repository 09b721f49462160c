"""Where we draw: finished lines that go to the scrollback once, and a live part below them that is redrawn.

A frame is one write, so no one sees half of it, and unchanged live lines are not written again. No line is as wide as
the terminal, so nothing wraps; in case a terminal disagrees about the width of a character, wrapping is off while the
live part is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from .text import painted_cut

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronised output: terminals that support it show the whole frame at once; others ignore it."""
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"
RESTORE = f"\x1b[0m{WRAP}{SHOW}\x1b[?2004l{END_FRAME}"
"""Undoes every mode we ever set."""


class Surface(Protocol):
    """What a painter draws on."""

    @property
    def width(self) -> int:
        """The widest line, in cells."""

    @property
    def height(self) -> int:
        """The most rows of the live part; 0 if there is none."""

    def commit(self, lines: Sequence[str]) -> None:
        """Add finished lines."""

    def live(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        """Set the live part; ``cursor`` is the row and column of the text cursor in it."""

    def flush(self) -> None:
        """Show it."""


class PlainSurface:
    """Without a terminal: only finished lines, no live part."""

    height = 0

    def __init__(self, write: Callable[[str], object], *, width: int) -> None:
        self._write = write
        self._pending: list[str] = []
        self.width = width

    def commit(self, lines: Sequence[str]) -> None:
        self._pending += lines

    def live(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        """Discarded."""

    def flush(self) -> None:
        """Raises ``BrokenPipeError`` if the reader is gone."""
        if self._pending:
            lines, self._pending = self._pending, []
            self._write("".join(f"{line.rstrip()}\n" for line in lines))


class TerminalSurface:
    """A terminal that only we write to.

    Between frames the cursor waits, hidden, at the start of the first live line. When the size changes, terminals
    rearrange lines in different ways: some rewrap them, some cut them, some push lines into the scrollback or drop
    them. All keep the cursor at the start of its line, so everything below can be redrawn from there without touching a
    finished line.
    """

    def __init__(self, descriptor: int, *, size: Callable[[], os.terminal_size] | None = None) -> None:
        self._descriptor = descriptor
        self._size = size or (lambda: os.get_terminal_size(descriptor))
        self._columns, self._rows = self._measured()
        self._pending: list[str] = []
        self._wanted: list[str] = []
        self._wanted_cursor: tuple[int, int] | None = None
        self._shown: list[str] = []
        self._cursor: tuple[int, int] | None = None
        """Where we left the text cursor; None for the start of the first live line."""
        self._resized = False
        self.frames = 0
        self.bytes_written = 0

    def _measured(self) -> tuple[int, int]:
        found = self._size()
        return max(found.columns, 20), max(found.lines, 4)

    @property
    def width(self) -> int:
        return self._columns - 1

    @property
    def height(self) -> int:
        return self._rows - 1

    def commit(self, lines: Sequence[str]) -> None:
        self._pending += lines

    def live(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        """If there are more lines than rows, the last ones are shown."""
        hidden = max(0, len(lines) - self.height)
        self._wanted = [painted_cut(line, self.width) for line in lines[hidden:]]
        self._wanted_cursor = (cursor[0] - hidden, cursor[1]) if cursor and cursor[0] >= hidden else None

    def resized(self) -> None:
        """The size has changed: the next frame draws everything."""
        self._columns, self._rows = self._measured()
        self._resized = True

    def flush(self) -> None:
        body = self._frame()
        if not body:
            return
        self.frames += 1
        self._write(f"{BEGIN_FRAME}{body}{END_FRAME}")
        self._shown, self._cursor = self._wanted, self._wanted_cursor

    def _frame(self) -> str:
        if self._pending or self._resized or len(self._wanted) != len(self._shown):
            body = self._all()
        else:
            body = self._changed()
            if not body and self._wanted_cursor == self._cursor:
                return ""
            body = self._to_top() + body
        return f"{HIDE}{body}{self._to_cursor()}"

    def _to_top(self) -> str:
        """From the cursor to the start of the first live line."""
        return f"\r{_move(-self._cursor[0])}" if self._cursor is not None else "\r"

    def _all(self) -> str:
        start = self._to_top()
        if self._resized and self._cursor is not None:
            # The lines above a text cursor may take more rows now, or fewer: leave them in the scrollback.
            start = _move(self._rows) + "\r\n" * self._rows + "\x1b[H"
        finished = "".join(f"{line}\x1b[0m\x1b[K\r\n" for line in self._pending)
        self._pending, self._resized = [], False
        below = "\x1b[K\r\n".join(self._wanted)
        back = _move(min(1 - len(self._wanted), 0))
        return f"{start}{finished}{NO_WRAP}{below}{WRAP}\x1b[J\r{back}"

    def _changed(self) -> str:
        """The lines that differ, from the first live line and back to it."""
        parts: list[str] = []
        row = 0
        for index, (old, new) in enumerate(zip(self._shown, self._wanted, strict=True)):
            if old != new:
                parts.append(f"{_move(index - row)}\r{new}\x1b[K")
                row = index
        if not parts:
            return ""
        return f"{NO_WRAP}{''.join(parts)}{WRAP}\r{_move(-row)}"

    def _to_cursor(self) -> str:
        if self._wanted_cursor is None:
            return ""
        row, column = self._wanted_cursor
        return f"{_move(row)}{f'{chr(27)}[{column}C' if column else ''}{SHOW}"

    def close(self) -> None:
        """Restore the terminal, with the cursor below the finished lines."""
        self._wanted, self._wanted_cursor = [], None
        self.flush()
        self._write(RESTORE)

    def _write(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "replace"))
        self.bytes_written += len(data)
        while data:
            data = data[os.write(self._descriptor, data) :]


def _move(rows: int) -> str:
    return "" if rows == 0 else f"\x1b[{rows}B" if rows > 0 else f"\x1b[{-rows}A"
