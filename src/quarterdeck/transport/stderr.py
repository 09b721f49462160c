"""Reads the process's stderr: keeps the end for error messages, and passes each line to a callback.

Never paused: a process that blocks on a full stderr pipe stops answering.
"""

from __future__ import annotations

from collections.abc import Callable

TAIL_BYTES = 64 * 1024
LINE_LIMIT_BYTES = 64 * 1024
"""Longer lines are passed on in pieces."""


class StderrTail:
    """Keeps the last ``TAIL_BYTES``, in memory bounded by twice that."""

    __slots__ = ("_kept", "_line", "_on_error", "_on_line")

    def __init__(self, on_line: Callable[[str], None] | None, on_error: Callable[[Exception], None]) -> None:
        """``on_error`` gets exceptions from ``on_line``, which is still called for the next line."""
        self._kept = bytearray()
        self._line = bytearray()
        self._on_line = on_line
        self._on_error = on_error

    @property
    def text(self) -> str:
        return bytes(self._kept[-TAIL_BYTES:]).decode(errors="replace")

    def feed(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * TAIL_BYTES:
            del self._kept[:-TAIL_BYTES]
        if self._on_line is not None:
            self._split(data, self._on_line)

    def end(self) -> None:
        """Pass on a last line without a line ending."""
        if self._line and self._on_line is not None:
            self._show(bytes(self._line), self._on_line)
        self._line.clear()

    def _split(self, data: bytes, on_line: Callable[[str], None]) -> None:
        *complete, rest = data.split(b"\n")
        for part in complete:
            line = bytes(self._line) + part if self._line else part
            self._line.clear()
            self._show(line, on_line)
        self._line += rest
        if len(self._line) >= LINE_LIMIT_BYTES:
            self.end()

    def _show(self, line: bytes, on_line: Callable[[str], None]) -> None:
        text = line.decode(errors="replace").rstrip("\r")
        if not text:
            return
        try:
            on_line(text)
        except Exception as error:  # noqa: BLE001  # the caller's code: its fault must not stop the reading
            self._on_error(error)
