"""Output that the host hasn't committed yet: files of consecutive bytes, named by their first offset.

Offsets count bytes from the start of the process. Bytes are appended at the end and trimmed at the start, one segment
at a time. Written bytes are in the kernel's page cache, so they survive the keeper.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

SEGMENT_BYTES = 16 * 1024 * 1024
RENEW_BYTES = 1024 * 1024
"""A last segment of this size is replaced once it is fully acknowledged, so a host that keeps up needs only one."""
SUFFIX = ".spool"


class _Segment:
    """One file, kept open so that it can be read even after it was removed."""

    __slots__ = ("descriptor", "end", "path", "start")

    def __init__(self, path: Path, start: int) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        self.descriptor = os.open(path, flags, 0o600)
        self.path = path
        self.start = self.end = start

    def close(self) -> None:
        os.close(self.descriptor)

    def remove(self) -> None:
        self.close()
        with contextlib.suppress(OSError):  # already removed
            self.path.unlink()


class Spool:
    """Append at the end, read anywhere, trim at the start."""

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        """``folder`` must exist and contain no segments. Raises ``OSError``."""
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._segments = [self._new_segment(0)]
        self.acknowledged = 0
        """The host has committed everything before this offset."""

    @property
    def first(self) -> int:
        """The first offset that can still be read."""
        return self._segments[0].start

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self._segments[-1].end

    def append(self, data: bytes | memoryview) -> int:
        """Append bytes; returns how many fitted on the disk. Raises ``OSError`` if none did."""
        last = self._segments[-1]
        if last.end - last.start >= self._segment_bytes:
            last = self._new_segment(last.end)
            self._segments.append(last)
            self._trim()
        count = os.write(last.descriptor, data)
        last.end += count
        return count

    def read(self, offset: int, size: int) -> bytes:
        """Read up to ``size`` bytes at this offset, within one segment. Empty only at the end, or if trimmed."""
        for segment in self._segments:
            if segment.start <= offset < segment.end:
                return os.pread(segment.descriptor, min(size, segment.end - offset), offset - segment.start)
        return b""

    def acknowledge(self, offset: int) -> None:
        """Trim: the host needs nothing before this offset. Ignores offsets that were already acknowledged."""
        self.acknowledged = max(self.acknowledged, min(offset, self.end))
        self._trim()

    def _trim(self) -> None:
        last = self._segments[-1]
        if self.acknowledged == last.end and last.end - last.start >= RENEW_BYTES:
            with contextlib.suppress(OSError):  # the disk is full: keep the segment
                self._segments.append(self._new_segment(last.end))
        while len(self._segments) > 1 and self._segments[0].end <= self.acknowledged:
            self._segments.pop(0).remove()

    def _new_segment(self, start: int) -> _Segment:
        path = segment_path(self._folder, start)
        try:
            return _Segment(path, start)
        except FileNotFoundError:  # the folder was removed; what is written from now on can be read again
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            return _Segment(path, start)

    def close(self) -> None:
        """Close the files; they stay on disk."""
        for segment in self._segments:
            segment.close()

    def remove(self) -> None:
        for segment in self._segments:
            segment.remove()


def segment_path(folder: Path, start: int) -> Path:
    return folder / f"{start:020d}{SUFFIX}"
