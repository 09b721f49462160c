"""How recorded bytes leave the tap: memory → an unlinked file → the recorder's process.

The threads that pump a conversation only put a reference into a queue. One thread writes the queue to the spool, a
file without a name that the recorder (forked, so it shares the file) reads at its own speed: what it has not read yet
lies in the page cache or on the disk, not in our memory. When even the spool cannot be written, the queue is bounded
in bytes: past that the *recording* loses bytes and says so; the conversation never waits.

The two processes tell each other how far they are by counters in shared memory. The writer empties the file when the
reader has read everything, so it stays small.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue

FRAME = struct.Struct("<dcI")
"""Before each chunk: when, which (``KINDS``), how long; an end-of-file has no bytes."""
KINDS = {b"i": "in", b"o": "out", b"e": "err"}
QUEUE_LIMIT_BYTES = 64 * 1024 * 1024
SETTLE_S = 0.02
"""The writer collects for so long: else it competes for the interpreter with each message (p99 tripled at 2 ms)."""
EMPTY_FROM_BYTES = 8 * 1024 * 1024
BATCH_CHUNKS = 256
CLOSE_LIMIT_S = 2.0
"""How long the end of the tap may wait for its recording; then the recorder continues alone."""
_COUNTERS = ("written", "base", "consumed", "child", "ended", "code", "signal", "lost", "errno")


class Counters:
    """A few whole numbers in memory shared by two processes; each is written by one of them only."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)

    def __getitem__(self, name: str) -> int:
        value: int = struct.unpack_from("<q", self._memory, 8 * _COUNTERS.index(name))[0]
        return value

    def __setitem__(self, name: str, value: int) -> None:
        struct.pack_into("<q", self._memory, 8 * _COUNTERS.index(name), value)


class TapSpool:
    """Created before the fork; then one process calls ``start_writing``, the other ``chunks``."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.counters = Counters()
        self._file = _nameless_file()
        self._awake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    # The tap

    def start_writing(self) -> None:
        os.close(self._awake)
        self._queue: SimpleQueue[tuple[float, bytes, bytes] | None] = SimpleQueue()
        self._put = dict.fromkeys(KINDS, 0)
        self._lost = dict.fromkeys((*KINDS, b""), 0)  # by thread: each adds to its own number
        self._taken = 0
        self._failed = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write_queue, daemon=True)
        self._thread.start()

    def put(self, kind: bytes, data: bytes) -> None:
        """Record a chunk (or, empty, the end) of a direction. Called by one thread for each kind; never waits."""
        if self._failed or sum(self._put.values()) - self._taken > QUEUE_LIMIT_BYTES:
            self._lose(kind, len(data))
            return
        self._put[kind] += len(data)
        self._queue.put((time.monotonic(), kind, data))

    def close(self) -> None:
        """Write what is queued, for a bounded time, and let the recorder finish."""
        self._queue.put(None)
        self._closing.set()
        self._thread.join(CLOSE_LIMIT_S)
        self.counters["ended"] = 1
        os.close(self._waker)

    def _write_queue(self) -> None:
        while (first := self._queue.get()) is not None:
            self._closing.wait(SETTLE_S)
            batch = [first]
            last = False
            while len(batch) < BATCH_CHUNKS and not last:
                try:
                    item = self._queue.get_nowait()
                except Empty:
                    break
                last = item is None
                if item is not None:
                    batch.append(item)
            self._write(batch)
            if last:
                return

    def _write(self, batch: list[tuple[float, bytes, bytes]]) -> None:
        size = sum(len(data) for _, _, data in batch)
        self._taken += size
        if self._failed:
            self._lose(b"", size)
            return
        counters = self.counters
        written, base = counters["written"], counters["base"]
        if written - base > EMPTY_FROM_BYTES and counters["consumed"] == written:
            os.ftruncate(self._file, 0)
            counters["base"] = base = written
        parts = [part for t, kind, data in batch for part in (FRAME.pack(t, kind, len(data)), data)]
        try:
            counters["written"] = written + _write_all(self._file, parts, written - base)
        except OSError as error:
            self._failed = True
            counters["errno"] = error.errno or 0
            self._lose(b"", size)
        self._wake()

    def _lose(self, thread: bytes, size: int) -> None:
        self._lost[thread] += size
        self.counters["lost"] = sum(self._lost.values())

    def _wake(self) -> None:
        try:
            os.write(self._waker, b".")
        except BlockingIOError:
            return  # it has been woken often enough
        except OSError:
            self._failed = True  # the recorder is gone; whoever waits for it reports that

    # The recorder

    def chunks(self, idle_s: float, *, orphaned: Callable[[int], None]) -> Iterator[tuple[float, bytes, bytes] | None]:
        """What was put, in order, until the tap is gone; ``None`` when nothing has come for ``idle_s``.

        ``orphaned`` is called with the child's pid when the tap has died without an end.
        """
        import select

        os.close(self._waker)
        poller = select.poll()
        poller.register(self._awake, select.POLLIN)
        position, open_ = 0, True
        while open_:
            if not poller.poll(idle_s * 1000):
                yield None
                continue
            open_ = bool(os.read(self._awake, 65536))
            if not open_ and not self.counters["ended"]:
                orphaned(self.counters["child"])
            while (written := self.counters["written"]) > position:  # read before ``base``, which changes first
                yield from self._read_frames(position - self.counters["base"], written - position)
                self.counters["consumed"] = position = written

    def _read_frames(self, offset: int, length: int) -> Iterator[tuple[float, bytes, bytes]]:
        end = offset + length
        while offset < end:
            t, kind, size = FRAME.unpack(os.pread(self._file, FRAME.size, offset))
            offset += FRAME.size
            yield t, kind, os.pread(self._file, size, offset) if size else b""
            offset += size


def _nameless_file() -> int:
    """A file known only by its descriptors: its content disappears with the processes, however they end."""
    folder = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # created exclusively, private, and without a name at once
    path = f"{folder}/.quarterdeck-tap-{os.getpid()}-{time.monotonic_ns()}"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)  # noqa: PTH108  # pathlib is half of the start-up time
    return file


def _write_all(file: int, parts: list[bytes], offset: int) -> int:
    """Write the parts at the offset; returns how much that was."""
    total = sum(map(len, parts))
    written = os.pwritev(file, parts, offset)
    if written < total:  # as when the disk has become full: the rest says why
        rest = memoryview(b"".join(parts))[written:]
        while rest:
            count = os.pwrite(file, rest, offset + written)
            written, rest = written + count, rest[count:]
    return total
