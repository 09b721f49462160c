"""A transcript line by line: streamed, however large it is, and safe while a CLI is writing to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import msgspec

CHUNK_BYTES = 1024 * 1024
LONGEST_LINE_BYTES = 256 * 1024 * 1024
"""Longer lines are skipped. Node cannot create a string of twice that length, so no CLI writes one."""

_decode = msgspec.json.Decoder().decode


def loads(line: bytes) -> Any:
    """The value of a line. Raises ``ValueError`` (bad UTF-8 too) or ``RecursionError``.

    As lenient as ``json``: programs in Python wrote lone surrogates and ``NaN`` into transcripts.
    """
    try:
        return _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return json.loads(line.decode("utf-8"))


def record_of(line: bytes) -> dict[str, Any] | None:
    """The line as a dict; None for a blank, torn or corrupt one."""
    if not line or line.isspace():
        return None
    try:
        record = loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


class TranscriptFile:
    """An open transcript. What is appended after opening is not seen: a growing file has an end, too."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises ``OSError``."""
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115, PTH123  # closed by close()
        self.size = os.fstat(self._file.fileno()).st_size

    def __enter__(self) -> TranscriptFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        parts: list[bytes] = []
        while length > 0 and (part := self._file.read(length)):
            parts.append(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def windows(self, length: int) -> tuple[bytes, bytes]:
        """The first and the last bytes."""
        return self.read(0, min(length, self.size)), self.read(max(0, self.size - length), min(length, self.size))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """(offset, line without its end) for every line except those that are too long."""
        begun: list[bytes] = []
        held = start = at = 0
        while at < self.size:
            chunk = self.read(at, min(CHUNK_BYTES, self.size - at))
            if not chunk:
                break  # cut short meanwhile
            at += len(chunk)
            first, *rest = chunk.split(b"\n")
            if held <= LONGEST_LINE_BYTES:
                begun.append(first)
            else:
                begun.clear()
            held += len(first)
            for after in rest:
                if held <= LONGEST_LINE_BYTES:
                    yield start, begun[0] if len(begun) == 1 else b"".join(begun)
                start += held + 1
                begun, held = [after], len(after)
        if 0 < held <= LONGEST_LINE_BYTES:
            yield start, b"".join(begun)

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, including unknown kinds. Corrupt lines are skipped."""
        for _, line in self.lines():
            record = record_of(line)
            if record is not None:
                yield record
