"""The transport interface: send and receive bytes, report the exit, end the process.

A transport *pushes* bytes to a receiver, one call per read, with no task switch, queue or stream object in between. The
receiver must not raise or block. When it has enough, it pauses the transport, which applies back-pressure.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from quarterdeck._defaults import CLOSE_GRACE_S

from .errors import ProcessExited, describe_exit

READ_SIZE = 64 * 1024
"""One read: what a Linux pipe holds."""
LOW_MARK = 64 * 1024
"""``drain()`` waits until no more than this is unsent: one pipe's worth, so the process always has input."""
WRITE_LIMIT = 256 * 1024 * 1024
"""``write()`` raises above this many unsent bytes: nobody drains, and the process isn't reading."""

FLOOD_BYTES = 1024 * 1024
"""Output to discard after the input was closed, before we assume that the process won't exit on its own."""


class ExitStatus(msgspec.Struct, frozen=True):
    """How a process ended: on its own with ``code``, or by ``signal``. Both ``None``: unknown."""

    code: int | None = None
    signal: int | None = None

    @classmethod
    def from_returncode(cls, returncode: int) -> ExitStatus:
        """Build from a :mod:`subprocess` return code, where a negative number is a signal."""
        return cls(signal=-returncode) if returncode < 0 else cls(code=returncode)

    @property
    def returncode(self) -> int | None:
        return self.code if self.signal is None else -self.signal

    def error(self, stderr: str = "") -> ProcessExited:
        """The error to raise if the process was still needed."""
        return ProcessExited(self.code, self.signal, stderr or None)

    def __str__(self) -> str:
        return describe_exit(self.code, self.signal)


class Grace(msgspec.Struct, frozen=True):
    """How long each step of ``close()`` may take before it escalates. Zero doesn't wait."""

    eof_s: float = CLOSE_GRACE_S
    """After stdin is closed."""
    term_s: float = 3.0
    """After SIGTERM. The CLI (2.1.325) needs 0.04 to 0.25 s; with a Bash tool call to end, up to 1.5 s."""
    group_s: float = 0.5
    """After SIGTERM, for processes in the group that outlived the CLI."""
    kill_s: float = 2.0
    """After SIGKILL. Only a process stuck inside the kernel takes any time."""
    output_s: float = 0.5
    """For the last output to arrive once everything is dead."""


DEFAULT_GRACE = Grace()


class Receiver(Protocol):
    """Receives the process's output. Called from the event loop, never from within a transport method."""

    def bytes_received(self, data: bytes) -> None:
        """The next bytes of stdout, split anywhere."""

    def eof_received(self) -> None:
        """No more bytes will come. Called once, before ``exited``."""

    def exited(self, status: ExitStatus) -> None:
        """The process has exited and all its output was delivered. Called once, last."""


class ByteTransport(Protocol):
    """Carries the bytes of one conversation."""

    @property
    def pid(self) -> int | None:
        """The process ID, or ``None`` if there is no process."""

    @property
    def stderr_tail(self) -> str:
        """The end of the process's stderr."""

    async def start(self, receiver: Receiver) -> None:
        """Start the process and begin delivery. Call this once."""

    def write(self, data: bytes) -> None:
        """Send without blocking; buffers what the process hasn't read yet. Follow with ``drain()``.

        Raises ``TransportClosed`` if the input is closed, ``WriteOverflow`` if too much is buffered.
        """

    async def drain(self) -> None:
        """Wait until the buffer is nearly empty: forever, if the process doesn't read. Raises ``TransportClosed``."""

    def pause_reading(self) -> None:
        """Stop delivery until ``resume_reading()``; the process blocks once the pipe is full."""

    def resume_reading(self) -> None:
        """Resume delivery."""

    def close_input(self) -> None:
        """Send what is buffered, then end-of-file."""

    async def wait(self) -> ExitStatus:
        """Wait until the process has exited and its output was delivered, as ``Receiver.exited`` reports."""

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        """End the process and all it started, escalating in bounded time. Repeatable. If cancelled, kills at once."""

    def abandon(self) -> None:
        """Kill everything immediately, without waiting for the event loop."""
