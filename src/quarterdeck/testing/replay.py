"""Plays a recorded CLI: in this process (``ReplayTransport``) or as a process (``run``, ``quarterdeck replay``)."""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable

from quarterdeck.transport.base import DEFAULT_GRACE, READ_SIZE, ExitStatus, Grace, Receiver
from quarterdeck.transport.errors import TransportClosed

from .recording import Recording
from .replay_match import parse
from .replay_player import Ended, InputEndedEarly, Player, ReplayMismatch, ReplayOutput

MISMATCH, ENDED_EARLY = 3, 4
"""Exit codes of a strict replay when the host deviates from the recording."""
QUEUED_CHUNKS = 1024
"""How much input may wait while the host does not read our output: 64 MiB."""


class ReplayTransport:
    """A ``ByteTransport`` whose other end is a recording.

    ``speed`` 1 is as recorded, 10 ten times as fast, None without any waiting. When the host deviates from a strict
    replay, the "process" ends as ``quarterdeck replay`` does: the reason on stderr (and in ``mismatch``), exit code 3
    or 4.
    """

    pid = None

    def __init__(self, recording: Recording, *, strict: bool = True, speed: float | None = None) -> None:
        self._player = Player(recording, strict=strict)
        self._speed = speed
        self._receiver: Receiver | None = None
        self._timer: asyncio.Handle | None = None
        self._due: ReplayOutput | None = None
        self._paused = False
        self._input_closed = False
        self._stderr = ""
        self._status: ExitStatus | None = None
        self._done = asyncio.Event()
        self.mismatch: ReplayMismatch | None = None

    @property
    def stderr_tail(self) -> str:
        return self._stderr

    async def start(self, receiver: Receiver) -> None:
        if self._receiver is not None:
            raise TransportClosed("This transport was already started; create a new one.")
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._schedule()

    def write(self, data: bytes) -> None:
        if self._input_closed or self._status is not None:
            raise TransportClosed(f"The replay accepts no more input: it has ended. {self._stderr}".strip())
        self._tell(lambda: self._player.receive(data))

    async def drain(self) -> None:
        if self._status is not None and not self._input_closed:
            raise TransportClosed(f"The replay accepts no more input: it has ended. {self._stderr}".strip())

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._schedule()

    def close_input(self) -> None:
        if not self._input_closed:
            self._input_closed = True
            self._tell(self._player.receive_eof)

    async def wait(self) -> ExitStatus:
        await self._done.wait()
        return self._status or ExitStatus()

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        self.close_input()
        if self._receiver is None:
            self.abandon()
        self.resume_reading()
        try:
            async with asyncio.timeout(grace.eof_s):
                await self._done.wait()
        except TimeoutError:
            self._end(ExitStatus(signal=signal.SIGTERM))
        except BaseException:
            self.abandon()
            raise
        return self._status or ExitStatus()

    def abandon(self) -> None:
        self._end(ExitStatus(signal=signal.SIGKILL))

    def _tell(self, receive: Callable[[], None]) -> None:
        try:
            receive()
        except ReplayMismatch as error:
            self._fail(error)
        self._schedule()

    def _fail(self, error: ReplayMismatch) -> None:
        self.mismatch = error
        self._stderr += f"quarterdeck replay: {error}\n"
        self._end(ExitStatus(code=ENDED_EARLY if isinstance(error, InputEndedEarly) else MISMATCH))

    def _schedule(self) -> None:
        if self._timer is None and not self._paused and self._receiver is not None and not self._done.is_set():
            self._timer = self._loop.call_soon(self._step)

    def _step(self) -> None:
        self._timer = None
        if self._status is not None or self._paused:
            return
        due, self._due = self._due, None
        if due is None:
            try:
                step = self._player.next()
            except ReplayMismatch as error:
                self._fail(error)
                return
            if step is None:
                return
            if isinstance(step, Ended):
                self._end(_status(step))
                return
            due = step
            if self._speed and due.wait_s:
                self._due = due
                self._timer = self._loop.call_later(due.wait_s / self._speed, self._step)
                return
        self._deliver(due)
        self._schedule()

    def _deliver(self, output: ReplayOutput) -> None:
        assert self._receiver is not None  # noqa: S101  # only a started transport steps
        if output.direction == "err":
            self._stderr = (self._stderr + output.data.decode(errors="replace"))[-READ_SIZE:]
            return
        for start in range(0, len(output.data), READ_SIZE):
            self._receiver.bytes_received(output.data[start : start + READ_SIZE])

    def _end(self, status: ExitStatus) -> None:
        if self._status is not None:
            return
        self._status = status
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._receiver is None:
            self._done.set()
        else:
            self._loop.call_soon(self._tell_end)

    def _tell_end(self) -> None:
        assert self._receiver is not None  # noqa: S101  # scheduled for a started transport only
        assert self._status is not None  # noqa: S101
        self._receiver.eof_received()
        self._receiver.exited(self._status)
        self._done.set()


def run(recording: Recording, *, strict: bool = True, speed: float | None = None) -> int:
    """Play the recorded CLI on stdin and stdout; its exit code. If a signal killed it, this process dies by it too."""
    player = Player(recording, strict=strict)
    chunks: queue.Queue[bytes] = queue.Queue(QUEUED_CHUNKS)
    threading.Thread(target=_read_stdin, args=(chunks,), daemon=True).start()
    try:
        while not isinstance(step := player.next(), Ended):
            if step is None:
                _hear(player, chunks.get())
                continue
            if speed and step.wait_s:
                _listen(player, chunks, step.wait_s / speed)
            _write_all(2 if step.direction == "err" else 1, step.data)
    except ReplayMismatch as error:
        print(f"quarterdeck replay: {error}", file=sys.stderr)  # noqa: T201  # as the CLI would say it
        return ENDED_EARLY if isinstance(error, InputEndedEarly) else MISMATCH
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    status = _status(step) if isinstance(step, Ended) else ExitStatus(code=1)
    if status.signal is not None:
        signal.signal(status.signal, signal.SIG_DFL) if status.signal != signal.SIGKILL else None
        os.kill(os.getpid(), status.signal)
    return status.code or 0


def cli_version(recording: Recording) -> str | None:
    """The version of the recorded CLI, from the header or its own messages."""
    if recording.header.cli:
        return recording.header.cli
    for line in recording.lines("out"):
        if b'"claude_code_version"' in line and isinstance(
            version := (parse(line) or {}).get("claude_code_version"), str
        ):
            return version
    return None


def _status(ended: Ended) -> ExitStatus:
    number = signal.Signals[ended.signal] if ended.signal else None
    return ExitStatus(code=ended.exit_code, signal=number)


def _read_stdin(chunks: queue.Queue[bytes]) -> None:
    while data := os.read(0, READ_SIZE):
        chunks.put(data)
    chunks.put(b"")


def _hear(player: Player, data: bytes) -> None:
    if data:
        player.receive(data)
    else:
        player.receive_eof()


def _listen(player: Player, chunks: queue.Queue[bytes], seconds: float) -> None:
    """Take input for this long, so that a mismatch is reported when it happens, not when the recording gets there."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        try:
            data = chunks.get(timeout=left)
        except queue.Empty:
            return
        _hear(player, data)
        if not data:
            time.sleep(max(0.0, deadline - time.monotonic()))


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
