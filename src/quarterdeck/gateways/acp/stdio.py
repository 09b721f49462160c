"""The pipes of the agent: bytes from stdin to the peer, lines from the peer to stdout.

Standard output carries the protocol alone: whatever else this process prints goes to stderr.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

READ_BYTES = 256 * 1024
HIGH_BYTES = 4 * 1024 * 1024
"""What waits to be written before those who produce are made to wait."""


class StdoutWriter:
    """Lines to stdout. Never blocks: what the reader does not take is kept, and ``drained`` waits for it."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._watching = False
        self._going_out = False
        """What waits will be written without being asked again."""
        self._gone = False
        self._below: asyncio.Future[None] | None = None
        self.broken = asyncio.Event()
        """Nobody reads any more."""

    def write(self, line: bytes) -> None:
        if self._gone:
            return
        self._waiting += line
        if not self._going_out:  # what is written in one turn of the loop goes out at once
            self._going_out = True
            self._loop.call_soon(self.write_now)

    def write_now(self) -> None:
        """Write what is queued, as much as the pipe accepts."""
        if self._waiting and not self._watching and not self._gone:
            self._writable()
            if self._waiting:
                self._watch()
        self._going_out = self._watching

    def drained(self) -> asyncio.Future[None] | None:
        """None while there is room; else what to wait for."""
        if len(self._waiting) < HIGH_BYTES:
            return None
        if self._below is None:
            self._below = self._loop.create_future()
        return self._below

    async def flush(self) -> None:
        """Wait until everything is written, or nobody reads."""
        while self._waiting and not self._gone:
            self._below = self._below or self._loop.create_future()
            await self._below

    def _try(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except OSError:  # the editor is gone
            self._break()
            return len(data)

    def _watch(self) -> None:
        if not self._watching and not self._gone:
            self._watching = True
            self._loop.add_writer(self._descriptor, self._writable)

    def _writable(self) -> None:
        written = self._try(self._waiting)
        del self._waiting[:written]
        if not self._waiting:
            self._unwatch()
        if len(self._waiting) < HIGH_BYTES // 2 or not self._waiting:
            self._release()

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = self._going_out = False
            self._loop.remove_writer(self._descriptor)

    def _break(self) -> None:
        self._gone = True
        self.broken.set()
        self._waiting.clear()
        self._unwatch()
        self._release()

    def _release(self) -> None:
        below, self._below = self._below, None
        if below is not None and not below.done():
            below.set_result(None)


def take_stdout() -> int:
    """Keep stdout for the protocol: returns its descriptor; what is printed from here on goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


async def read_stdin(receive: Callable[[bytes], None]) -> None:
    """Hand over what arrives until stdin ends. A file, which no loop can watch, is read in a thread."""
    loop = asyncio.get_running_loop()
    try:
        os.set_blocking(0, False)
        loop.add_reader(0, lambda: None)
    except (OSError, PermissionError):
        while data := await loop.run_in_executor(None, os.read, 0, READ_BYTES):
            receive(data)
        return
    ended: asyncio.Future[None] = loop.create_future()

    def readable() -> None:
        try:
            data = os.read(0, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            receive(data)
        elif not ended.done():
            ended.set_result(None)

    loop.add_reader(0, readable)
    try:
        await ended
    finally:
        loop.remove_reader(0)
        os.set_blocking(0, True)
