"""One connection to the keeper: greeting, incoming and outgoing frames, and limits on what is queued.

Output waits in the spools, not here: a session with output is queued, and sends a piece when the socket has room. So a
slow host doesn't use more memory, and every session gets its turn.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from . import frames
from .frames import FrameError, FrameReader
from .loop import READ, WRITE, Loop
from .output import ProcessOutput

RECEIVE_BYTES = 256 * 1024
ROOM_BYTES = 256 * 1024
"""Above this many unsent bytes, output stays in the spool."""
REPLIES_LIMIT_BYTES = 4 * 1024 * 1024
"""Above this many unsent bytes, we stop reading requests: the host isn't reading its answers."""
BUFFERS_AT_ONCE = 256
"""Per system call; Linux allows 1024."""


class Service(Protocol):
    """Serves a connection."""

    def greeted(self, link: KeeperLink, hello: dict[str, Any]) -> None:
        """The peer has identified itself."""

    def framed(self, link: KeeperLink, kind: int, body: memoryview) -> None:
        """A frame arrived. May raise ``FrameError``."""

    def closed(self, link: KeeperLink) -> None:
        """The connection is gone."""


class KeeperLink:
    """The keeper's end of a connection."""

    def __init__(
        self, loop: Loop, peer: socket.socket, service: Service, *, pid: int, on_error: Callable[[Exception], None]
    ) -> None:
        peer.setblocking(False)
        self.pid = pid
        self.admitted = False
        """The peer was accepted as the host."""
        self.limited = False
        """The peer uses another protocol version and may use only the stable core."""
        self._service = service
        self._on_error = on_error
        self._socket = peer
        self._reader = FrameReader()
        self._unsent: deque[bytes | memoryview] = deque()
        self._unsent_bytes = 0
        self._queued: deque[ProcessOutput] = deque()
        self._waiting: set[ProcessOutput] = set()
        self._written: dict[int, int] = {}
        self._closing = False
        self._watch = loop.watch(peer.detach(), self._ready, self._failed)
        self._socket = socket.socket(fileno=self._watch.descriptor)
        self._watch.want(READ)

    # Receiving

    def _ready(self, events: int) -> None:
        if events & WRITE:
            self.flush()
        if events & READ and not self._watch.closed:
            self._receive()

    def _receive(self) -> None:
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        for kind, body in self._reader.feed(data):
            if self._watch.closed or self._closing:
                return
            if self.admitted:
                self._service.framed(self, kind, body)
            elif kind == frames.HELLO:
                self._service.greeted(self, frames.parse_json(body))
            else:
                raise FrameError("it did not introduce itself")

    def admit(self, *, limited: bool) -> None:
        """Accept the peer as the host."""
        self.admitted = True
        self.limited = limited
        self._reader.limit_bytes = frames.FRAME_LIMIT_BYTES

    # Sending

    def send(self, *buffers: bytes) -> None:
        if self._watch.closed:
            return
        self._unsent.extend(buffers)
        self._unsent_bytes += sum(map(len, buffers))

    def reply(self, number: int, value: dict[str, Any], blob: bytes = b"") -> None:
        self.send(frames.call_frame(frames.REPLY, number, value, blob))

    def has_room(self) -> bool:
        return self._unsent_bytes < ROOM_BYTES

    def send_output(self, channel: int, offset: int, data: bytes) -> None:
        self.send(frames.output_head(channel, offset, len(data)), data)

    def send_written(self, channel: int, number: int) -> None:
        """Send only the last number of each loop round."""
        self._written[channel] = number

    def send_stderr(self, channel: int, data: bytes) -> None:
        if self.has_room():
            self.send(frames.stderr_frame(channel, data))

    def send_event(self, event: dict[str, Any]) -> None:
        self.send(frames.json_frame(frames.EVENT, event))

    def queue(self, output: ProcessOutput) -> None:
        if output not in self._waiting:
            self._waiting.add(output)
            self._queued.append(output)

    def unqueue(self, output: ProcessOutput) -> None:
        if output in self._waiting:
            self._waiting.remove(output)
            self._queued.remove(output)

    def flush(self) -> None:
        """Send as much as the socket accepts: queued frames first, then a piece of each queued session in turn."""
        while not self._watch.closed:
            self._gather()
            if not self._unsent:
                break
            if not self._send_some():
                return
        if self._closing:
            self.close()

    def _gather(self) -> None:
        if self._written:
            for channel, number in self._written.items():
                self.send(frames.number_frame(frames.WRITTEN, channel, number))
            self._written.clear()
        while self._queued and self.has_room():
            output = self._queued.popleft()
            self._waiting.remove(output)
            try:
                more = output.offer()
            except Exception as error:  # noqa: BLE001  # a session's own fault, not this connection's
                output.on_fault(error)
            else:
                if more:
                    self.queue(output)

    def _send_some(self) -> bool:
        """Send some; returns whether the socket may accept more."""
        buffers = [self._unsent[at] for at in range(min(len(self._unsent), BUFFERS_AT_ONCE))]
        try:
            count = self._socket.sendmsg(buffers)
        except (BlockingIOError, InterruptedError):
            count = -1
        except OSError:
            self.close()
            return False
        if count < 0:
            self._watch.want(WRITE if self._unsent_bytes > REPLIES_LIMIT_BYTES else READ | WRITE)
            return False
        self._unsent_bytes -= count
        while count:
            first = self._unsent.popleft()
            if count < len(first):
                self._unsent.appendleft(memoryview(first)[count:])
                break
            count -= len(first)
        self._watch.want(READ)
        return True

    # The end

    def close_after_sending(self) -> None:
        """Close once everything is sent."""
        self._closing = True

    def close(self) -> None:
        if not self._watch.closed:
            self._socket.detach()
            self._watch.close()
            self._unsent.clear()
            self._queued.clear()
            self._waiting.clear()
            self._service.closed(self)

    def _failed(self, error: Exception) -> None:
        """Close the connection after an invalid message or a failure to serve it. The sessions stay."""
        if not isinstance(error, FrameError):
            self._on_error(error)
        self.close()
