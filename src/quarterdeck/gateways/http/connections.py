"""Connections: how many, how slow, how long their headers, whether an agent opened them, and who takes nothing.

uvicorn parses; this only watches the clock and the counters around it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

from quarterdeck.host.errors import Code, HostError
from quarterdeck.transport import marks

from .problems import MEDIA_TYPE, problem_of
from .responses import ONE_WRITE

if TYPE_CHECKING:
    from .app import Gateway

FRAMES = "quarterdeck.frames"
"""An extension of ASGI: a message of a WebSocket may have, in the place of ``text``, what ``text_frame`` made of it.
Then what goes to many clients is encoded once."""

JOINED_BYTES = 64 * 1024
NO_REPLY = "TCP_USER_TIMEOUT"
"""Only Linux has it; elsewhere it takes a quarter of an hour."""


class _GivesUp:
    """Ends a connection whose other end reads nothing: a normal close would wait forever."""

    gateway: Gateway
    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _stuck: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self._look_later()

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        self._take_your_time()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)  # type: ignore[misc]
        self._take_your_time()
        self.gateway.meter.connections = len(self.connections)  # type: ignore[attr-defined]

    def _look_later(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._stuck = self.loop.call_later(self.gateway.settings.stalled_s, self._look, waiting)

    def _look(self, before: int) -> None:
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._look_later()

    def _take_your_time(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


class WebSocket(_GivesUp, WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.gateway = self.config.app  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():  # it came whole, and was not understood
            self.transport.write(refusal(400, "invalid", "The request for a WebSocket is invalid."))
            self.transport.close()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.handshake_complete and not self.conn.extensions:
            self.scope["extensions"][FRAMES] = {}

    async def send(self, message: Any) -> None:
        if (frames := message.get(FRAMES)) is not None:
            await self._send_frames(frames)
            return
        await super().send(message)
        if message["type"] == "websocket.accept":  # what it began with is not needed again
            self.request = self.response = None  # type: ignore[assignment]
            self.scope["headers"] = []

    async def _send_frames(self, frames: Sequence[bytes]) -> None:
        await self.writable.wait()
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(frames[0] if len(frames) == 1 else b"".join(frames))

    def handle_ping(self) -> None:
        """Who sends pings and takes no pongs gets none: they would pile up here."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()


def text_frame(text: bytes) -> bytes:
    """A whole message as a server sends it, where messages are not compressed."""
    return Frame(Opcode.TEXT, text).serialize(mask=False)


class _OneWrite:
    """A transport on which the head of an answer waits for the body: one write, which wakes the client once."""

    __slots__ = ("_head", "_holding", "_transport", "is_closing")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._holding = False
        self._head = b""
        self.is_closing = transport.is_closing

    def hold(self) -> None:
        """The next write waits for the one after it."""
        self._holding = True

    def write(self, data: bytes) -> None:
        if self._holding:
            self._holding, self._head = False, data
            return
        head, self._head = self._head, b""
        if not head:
            self._transport.write(data)
        elif len(data) <= JOINED_BYTES:
            self._transport.write(head + data)
        else:
            self._transport.write(head)
            self._transport.write(data)

    def close(self) -> None:
        self._holding = False
        if self._head:
            self.write(b"")
        self._transport.close()


class HttpConnection(_GivesUp, HttpToolsProtocol):
    """One TCP or Unix connection."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.gateway = self.config.app  # type: ignore[assignment]
        self._head_bytes = 0
        self._in_head, self._head_ended = True, False
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _notice_loss(transport.get_extra_info("socket"), self.gateway.settings.stalled_s)
        self._in_one_write = _OneWrite(transport)
        self.gateway.meter.connections = len(self.connections)
        settings = self.gateway.settings
        if len(self.connections) > self.gateway.most_connections or self._of_client() > settings.connections_per_client:
            self.gateway.meter.refused_connections += 1
            self._refuse(503, "busy", "There are too many connections.")
        elif is_agent(transport.get_extra_info("socket")):
            self._refuse(403, "forbidden", "Processes started by a session have no access to the host.")
        else:
            self._be_patient()

    def _of_client(self) -> int:
        address = self.client and self.client[0]
        if not address:
            return 0
        clients = (getattr(one, "client", None) for one in self.connections)
        return sum(1 for client in clients if client is not None and client[0] == address)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._no_hurry()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._head_ended = False
        self._head_bytes += len(data)  # more than it is, if something comes before or after the head
        super().data_received(data)
        if self._in_head and not self._head_ended:  # all of this was headers
            if self._patience is None:
                self._be_patient()
            if self._head_bytes > self.gateway.settings.header_bytes and not self.transport.is_closing():
                self._refuse(431, "too_large", "The headers are too long.")
        else:
            self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._in_head, self._head_ended = False, True
        if self._patience is not None:
            self._no_hurry()
        if self._head_bytes > self.gateway.settings.header_bytes and self._head_is_long():
            raise ValueError("the headers are too long")  # the parser stops, and answers 400
        super().on_headers_complete()
        cycle: Any = self.cycle  # None if this becomes a WebSocket
        if cycle is not None and self.scope["method"] != "HEAD":  # whose answer has no body to wait for
            cycle.transport = self._in_one_write
            self.scope["extensions"] = {ONE_WRITE: self._in_one_write.hold}  # type: ignore[dict-item]

    def _head_is_long(self) -> bool:
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        return size > self.gateway.settings.header_bytes

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head = self._head_ended = True

    def _be_patient(self) -> None:
        self._patience = self.loop.call_later(self.gateway.settings.header_s, self._too_slow)

    def _no_hurry(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _too_slow(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self._refuse(408, "invalid", "The request arrived too slowly.")

    def _refuse(self, status: int, code: Code, message: str) -> None:
        self.transport.write(refusal(status, code, message))
        self.transport.close()


def refusal(status: int, code: Code, message: str) -> bytes:
    """For what has not become a request."""
    body = msgspec.json.encode(problem_of(HostError(code, message), status))
    head = (
        f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        "x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
    )
    return STATUS_LINE[status] + head.encode() + body


def _notice_loss(connection: Any, after_s: float) -> None:
    """A client that is gone without a word is given up when it has not confirmed for so long what it was sent."""
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, NO_REPLY):
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, NO_REPLY), round(after_s * 1000))


def is_agent(connection: Any) -> bool:
    """Whether a session's process, or something it started, is at the other end of a Unix socket.

    Best effort: an agent runs as the same user, so it can read the token. It carries a mark that it does not lose by
    accident (``transport.marks``). Over TCP nothing says whose process it is.
    """
    if connection is None or connection.family != getattr(socket, "AF_UNIX", None):
        return False
    if not hasattr(socket, "SO_PEERCRED"):
        return False
    size = struct.calcsize("3i")
    pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return pid > 0 and any(marks.carried_by(pid))
