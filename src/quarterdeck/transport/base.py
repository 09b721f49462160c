"""The interface of a transport: bytes, an end, and a way to end it.

Bytes are *pushed* into a receiver, one call per chunk read: there is no task switch, queue or stream object between the
operating system and the decoder. The receiver must not raise or block; when it has enough it pauses the transport,
which slows the other end down.
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
"""Unsent bytes past which ``write()`` refuses more: nobody drains, and the process does not read."""

FLOOD_BYTES = 1024 * 1024
"""Discarded after the end of input: a process that still writes this much, with nobody reading, is not about to end."""


class ExitStatus(msgspec.Struct, frozen=True):
    """How a process ended: on its own with ``code``, or by ``signal``. Both ``None``: unknown."""

    code: int | None = None
    signal: int | None = None

    @classmethod
    def from_returncode(cls, returncode: int) -> ExitStatus:
        """From the convention of :mod:`subprocess`, where a signal is a negative number."""
        return cls(signal=-returncode) if returncode < 0 else cls(code=returncode)

    @property
    def returncode(self) -> int | None:
        return self.code if self.signal is None else -self.signal

    def error(self, stderr: str = "") -> ProcessExited:
        """The error to raise where the process was still needed."""
        return ProcessExited(self.code, self.signal, stderr or None)

    def __str__(self) -> str:
        return describe_exit(self.code, self.signal)


class Grace(msgspec.Struct, frozen=True):
    """How long each step of ``close()`` may take before the next, harder one. Zero skips the waiting."""

    eof_s: float = CLOSE_GRACE_S
    """After stdin is closed."""
    term_s: float = 3.0
    """After SIGTERM. The CLI (2.1.325) needs 0.04 to 0.25 s; with a Bash tool call to end, up to 1.5 s."""
    group_s: float = 0.5
    """After SIGTERM, for processes of the group that outlived the CLI."""
    kill_s: float = 2.0
    """After SIGKILL. Only a process stuck inside the kernel takes any time."""
    output_s: float = 0.5
    """For the last output to arrive once everything is dead."""


DEFAULT_GRACE = Grace()


class Receiver(Protocol):
    """Takes what the process writes. Called by the event loop, never from inside a plain method."""

    def bytes_received(self, data: bytes) -> None:
        """The next bytes of stdout, cut anywhere."""

    def eof_received(self) -> None:
        """No more bytes will come. Called once, before ``exited``."""

    def exited(self, status: ExitStatus) -> None:
        """The process is gone and all its output was delivered. Called once, last."""


class ByteTransport(Protocol):
    """One conversation's bytes, whatever carries them."""

    @property
    def pid(self) -> int | None:
        """The process, or ``None`` where there is none."""

    @property
    def stderr_tail(self) -> str:
        """The last of what the process wrote to stderr."""

    async def start(self, receiver: Receiver) -> None:
        """Start the other end and begin to deliver. Once only."""

    def write(self, data: bytes) -> None:
        """Send, without ever blocking; what the process does not take yet is kept. Follow with ``drain()``.

        Raises ``TransportClosed`` when the input is closed, ``WriteOverflow`` when far too much is unsent already.
        """

    async def drain(self) -> None:
        """Wait until little is unsent. As long as the process does not read: bound it. Raises ``TransportClosed``."""

    def pause_reading(self) -> None:
        """Deliver nothing until ``resume_reading()``; the process blocks once the pipe is full."""

    def resume_reading(self) -> None:
        """Deliver again."""

    def close_input(self) -> None:
        """Send what is unsent, then end-of-file."""

    async def wait(self) -> ExitStatus:
        """Until the process is gone and its output delivered: the moment of ``Receiver.exited``."""

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        """End the process and all it started, ever harder, in bounded time. Repeatable. If cancelled: kills at once."""

    def abandon(self) -> None:
        """Kill everything, now, without waiting for the event loop."""
