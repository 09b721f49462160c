"""Adapts transports written for the official SDK to ours.

The official ``Transport`` delivers parsed messages and takes text; ours moves bytes. Programs that bring one (for a
remote CLI, or as a test double) keep working.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any

from quarterdeck.transport import ByteTransport, ExitStatus, Grace, Receiver
from quarterdeck.transport.base import DEFAULT_GRACE, WRITE_LIMIT
from quarterdeck.transport.errors import ProcessError, TransportClosed, WriteOverflow
from quarterdeck.wire import encode


class Transport(ABC):
    """The official SDK's interface for a custom connection to the CLI."""

    @abstractmethod
    async def connect(self) -> None:
        """Get ready to send and receive."""

    @abstractmethod
    async def write(self, data: str) -> None:
        """Send a line, with its newline."""

    @abstractmethod
    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """The messages of the CLI, parsed."""

    @abstractmethod
    async def close(self) -> None:
        """End the connection, in bounded time."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether something can be sent."""

    @abstractmethod
    async def end_input(self) -> None:
        """Say that nothing more will be sent."""


def as_byte_transport(transport: Transport | ByteTransport | None) -> ByteTransport | None:
    """Ours as it is; anything else is taken for an official one, also a class or mock with its methods alone."""
    if transport is None or hasattr(type(transport), "start"):
        return transport  # type: ignore[return-value]  # a mock has every attribute, its class has not
    return OfficialTransport(transport)  # type: ignore[arg-type]


class OfficialTransport:
    """A ``ByteTransport`` around an official-style one."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._outbox: asyncio.Queue[str | None] = asyncio.Queue()
        """Bounded by ``WRITE_LIMIT``, in characters."""
        self._unsent = 0
        self._drained = asyncio.Event()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._done = asyncio.Event()
        self._status = ExitStatus(code=0)
        self._jobs: list[asyncio.Task[None]] = []
        self._receiver: Receiver | None = None
        self._input_closed = False
        self.error: Exception | None = None

    pid = None

    @property
    def stderr_tail(self) -> str:
        return "" if self.error is None else str(self.error)

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        await self._inner.connect()
        loop = asyncio.get_running_loop()
        self._jobs = [loop.create_task(self._read(receiver)), loop.create_task(self._send())]

    async def _read(self, receiver: Receiver) -> None:
        try:
            async for message in self._inner.read_messages():
                await self._may_read.wait()
                receiver.bytes_received(encode(message))
        except ProcessError as error:
            self.error, self._status = error, ExitStatus(code=error.exit_code)
        except Exception as error:  # noqa: BLE001  # told as the end of the stream, with its words as the last stderr
            self.error, self._status = error, ExitStatus(code=1)
        finally:
            self._over()

    async def _send(self) -> None:
        try:
            while (data := await self._outbox.get()) is not None:
                await self._inner.write(data)
                self._unsent -= len(data)
                if self._unsent <= 0:
                    self._drained.set()
            await self._inner.end_input()
        except Exception as error:  # noqa: BLE001  # what cannot be written to is over; the end tells why
            self.error, self._status = self.error or error, ExitStatus(code=1)
            self._over()

    def _over(self) -> None:
        if not self._done.is_set() and self._receiver is not None:
            self._done.set()
            self._drained.set()
            self._receiver.eof_received()
            self._receiver.exited(self._status)

    def write(self, data: bytes) -> None:
        if self._input_closed or self._done.is_set():
            raise TransportClosed("the transport is closed")
        if self._unsent > WRITE_LIMIT:
            raise WriteOverflow(f"{self._unsent} characters are waiting for the transport's write() to return")
        for line in data.removesuffix(b"\n").split(b"\n"):
            text = line.decode() + "\n"
            self._unsent += len(text)
            self._outbox.put_nowait(text)
        self._drained.clear()

    async def drain(self) -> None:
        if self._unsent > 0:
            await self._drained.wait()
        if self._done.is_set() and self._unsent > 0:
            raise TransportClosed(f"the transport has ended: {self.error or 'nothing more can be sent'}")

    def pause_reading(self) -> None:
        self._may_read.clear()

    def resume_reading(self) -> None:
        self._may_read.set()

    def close_input(self) -> None:
        if not self._input_closed:
            self._input_closed = True
            self._outbox.put_nowait(None)

    async def wait(self) -> ExitStatus:
        await self._done.wait()
        return self._status

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        try:
            async with asyncio.timeout(grace.eof_s + grace.term_s + grace.kill_s):
                await self._inner.close()
        except TimeoutError:
            self.error = self.error or TimeoutError("the transport's close() did not return in time")
        finally:
            self.abandon()
        return self._status

    def abandon(self) -> None:
        for job in self._jobs:
            job.cancel()
        self._over()
