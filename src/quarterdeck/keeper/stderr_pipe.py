"""Reads a kept process's stderr without pause, and keeps its end in memory and in a file that outlives the keeper."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

from quarterdeck.transport.stderr import TAIL_BYTES, StderrTail

from .loop import READ, Loop, OnFault

logger = logging.getLogger(__name__)

FILE = "stderr"
LAST_READS = 16
"""Reads to empty a pipe that another process keeps open: 1 MiB, the most an unprivileged Linux pipe holds."""


class StderrPipe:
    """Reads stderr until it ends."""

    def __init__(
        self,
        loop: Loop,
        descriptor: int,
        folder: Path,
        *,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
        on_fault: OnFault,
    ) -> None:
        os.set_blocking(descriptor, False)
        self._file = folder / FILE
        self._file_bytes = 0
        self._tail = StderrTail(None, logger.error)
        self._on_data = on_data
        self._on_end = on_end
        self._watch = loop.watch(descriptor, lambda _: self._read(), on_fault)
        self._watch.want(READ)

    @property
    def text(self) -> str:
        return self._tail.text

    @property
    def ended(self) -> bool:
        return self._watch.closed

    def _read(self) -> bool:
        """Read once; returns whether there was anything."""
        try:
            data = os.read(self._watch.descriptor, TAIL_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            self._on_end()
            return False
        self._tail.feed(data)
        self._save(data)
        self._on_data(data)
        return True

    def _save(self, data: bytes) -> None:
        """Save what fits on the disk: nothing depends on it."""
        self._file_bytes += len(data)
        anew = self._file_bytes > 2 * TAIL_BYTES
        if anew:
            data = self.text.encode()
            self._file_bytes = len(data)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if anew else os.O_APPEND)
        with contextlib.suppress(OSError):
            descriptor = os.open(self._file, flags, 0o600)
            try:
                os.write(descriptor, data)
            finally:
                os.close(descriptor)

    def cut(self) -> None:
        """Another process keeps the pipe open: read what is there and treat it as the end."""
        for _ in range(LAST_READS):
            if self.ended or not self._read():
                break
        self.close()

    def close(self) -> None:
        self._watch.close()
