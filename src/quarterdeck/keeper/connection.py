"""The socket between a host and its keeper, in the host's event loop: frames, requests and their answers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from quarterdeck._version import __version__
from quarterdeck.transport.errors import CLINotFoundError, QuarterdeckError, StartFailed
from quarterdeck.transport.latch import Latch

from . import frames
from .errors import KeeperLost, KeeperOccupied, KeeperRefused, KeeperUnavailable
from .frames import FRAME_LIMIT_BYTES, FrameError, FrameReader
from .places import KeeperPlace, look_at

ANSWER_S = 20.0
"""For a greeting, and for answers that need no work; a keeper takes a millisecond."""
RECEIVE_BYTES = 256 * 1024


class Attached(Protocol):
    """Receives what the keeper reports about one session."""

    def output_came(self, offset: int, data: bytes) -> None:
        """The next bytes of stdout."""

    def input_written(self, number: int) -> None:
        """Everything up to this number is in the pipe."""

    def stderr_came(self, data: bytes) -> None:
        """The next bytes of stderr."""

    def happened(self, event: dict[str, Any]) -> None:
        """``stalled``, ``input_closed``, ``died`` or ``exited``."""

    def keeper_lost(self) -> None:
        """Nothing more will come."""

    def disown(self) -> None:
        """In a forked child: this session is the parent's."""


class KeeperConnection:
    """Sends requests to a keeper, and carries the bytes of attached sessions."""

    def __init__(self, place: KeeperPlace, connection: socket.socket) -> None:
        self.place = place
        self.limited = False
        """The keeper uses another protocol version, so only list, read, end, drop, retire and stop work."""
        self.protocol = 0
        self.version = ""
        self.pid = 0
        self.lost = Latch()
        """Set when the connection is lost for any reason."""
        self.why_lost: KeeperLost | None = None
        self.keeper_may_have_died = False
        """The connection broke, and neither we nor another host closed it."""
        self._loop = asyncio.get_running_loop()
        self._socket = connection
        self._reader = FrameReader(FRAME_LIMIT_BYTES)
        self._unsent: deque[bytes | memoryview] = deque()
        self._calls: dict[int, tuple[asyncio.Future[Any], Callable[[dict[str, Any]], None] | None]] = {}
        self._last_call = 0
        self._welcome: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._transports: dict[int, Attached] = {}
        self._loop.add_reader(connection.fileno(), self._receive)
        _clients.add(self)

    async def _greet(self, *, take_over: bool) -> None:
        hello = {"protocol": frames.PROTOCOL, "version": __version__, "pid": os.getpid(), "take_over": take_over}
        self._send([frames.json_frame(frames.HELLO, hello)])
        try:
            async with asyncio.timeout(ANSWER_S):
                welcome = await self._welcome
        except TimeoutError:
            raise KeeperUnavailable(f"The keeper {self.place.pid} does not answer.") from None
        match welcome.get("error"):
            case None:
                self.protocol, self.version, self.pid = welcome["protocol"], welcome["version"], welcome["pid"]
                self.limited = welcome["limited"] or self.protocol != frames.PROTOCOL
            case "occupied":
                raise KeeperOccupied(welcome["message"], welcome["holder"])
            case code:
                raise KeeperRefused(code, welcome["message"])

    # Requests

    async def request(self, name: str, *, timeout_s: float = ANSWER_S, **fields: Any) -> dict[str, Any]:
        """Send a request. Raises ``KeeperRefused``, ``KeeperLost``, or ``KeeperUnavailable`` if there is no answer."""
        answer: tuple[dict[str, Any], memoryview] = await self._answer(self._call(name, fields), timeout_s)
        return answer[0]

    def request_soon(self, name: str, on_reply: Callable[[dict[str, Any]], None] | None = None, **fields: Any) -> None:
        """Send a request without waiting for the answer."""
        if self.why_lost is None:
            self._call(name, fields, on_reply=on_reply)

    def _call(
        self,
        name: str,
        fields: dict[str, Any],
        blob: bytes | memoryview = b"",
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> asyncio.Future[Any]:
        """``on_reply`` is called when the answer is read, before anything that follows it."""
        if self.why_lost is not None:
            raise self.why_lost
        self._last_call += 1
        future: asyncio.Future[Any] = self._loop.create_future()
        self._calls[self._last_call] = future, on_reply
        asked = {name: value for name, value in fields.items() if value is not None}
        self._send([frames.call_frame(frames.REQUEST, self._last_call, {"request": name, **asked}, blob)])
        return future

    async def _answer(self, call: asyncio.Future[Any], timeout_s: float) -> Any:
        try:
            async with asyncio.timeout(timeout_s):
                return await call
        except TimeoutError:
            raise KeeperUnavailable(f"The keeper {self.place.pid} has not answered in {timeout_s:g} s.") from None

    def _replied(self, number: int, reply: dict[str, Any], blob: memoryview) -> None:
        future, on_reply = self._calls.pop(number, (None, None))
        if "error" in reply:
            if future is not None and not future.done():
                future.set_exception(_refusal(reply))
                future.exception()  # its caller may have stopped waiting
            return
        if on_reply is not None:
            self._guarded(on_reply, reply)
        if future is not None and not future.done():
            future.set_result((reply, blob))

    def enter(self, channel: int, transport: Attached) -> None:
        self._transports[channel] = transport

    def leave(self, channel: int) -> None:
        self._transports.pop(channel, None)

    def send(self, buffers: list[bytes]) -> None:
        if self.why_lost is None:
            self._send(buffers)

    # The socket

    def _send(self, buffers: list[bytes]) -> None:
        waiting = bool(self._unsent)
        self._unsent.extend(buffers)
        if not waiting and not self._flush():
            self._loop.add_writer(self._socket.fileno(), self._writable)

    def _writable(self) -> None:
        if self._flush():
            self._loop.remove_writer(self._socket.fileno())

    def _flush(self) -> bool:
        """Send what the socket accepts; returns whether nothing is left to send."""
        while self._unsent and self.why_lost is None:
            data = self._unsent[0]
            try:
                count = self._socket.send(data)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:  # the keeper closed the connection: its last messages and the end are still unread
                self._unsent.clear()
                return True
            if count < len(data):
                self._unsent[0] = memoryview(data)[count:]
            else:
                self._unsent.popleft()
        return True

    def _receive(self) -> None:
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.keeper_may_have_died = True
            self._end(KeeperLost(f"The keeper {self.place.pid} closed the connection."))
            return
        try:
            for kind, body in self._reader.feed(data):
                if self.why_lost is not None:
                    return
                self._framed(kind, body)
        except FrameError as error:
            self._end(KeeperLost(f"The keeper {self.place.pid} sent an invalid message: {error}"))

    def _framed(self, kind: int, body: memoryview) -> None:
        if kind == frames.OUTPUT:
            channel, offset = frames.parse_head(frames.NUMBERED, body)
            if (transport := self._transports.get(channel)) is not None:
                self._guarded(transport.output_came, offset, bytes(body[frames.NUMBERED.size :]))
        elif kind == frames.WRITTEN:
            channel, number = frames.parse_head(frames.NUMBERED, body, exact=True)
            if (transport := self._transports.get(channel)) is not None:
                self._guarded(transport.input_written, number)
        elif kind == frames.STDERR:
            (channel,) = frames.parse_head(frames.STDERR_HEAD, body)
            if (transport := self._transports.get(channel)) is not None:
                self._guarded(transport.stderr_came, bytes(body[frames.STDERR_HEAD.size :]))
        elif kind == frames.REPLY:
            self._replied(*frames.parse_call(body))
        elif kind == frames.EVENT:
            self._happened(frames.parse_json(body))
        elif kind == frames.WELCOME and not self._welcome.done():
            self._welcome.set_result(frames.parse_json(body))

    def _happened(self, event: dict[str, Any]) -> None:
        if event.get("event") == "taken_over":
            self._end(KeeperLost(f"Another host took over: process {event.get('pid')}."))
        elif (transport := self._transports.get(int(event.get("channel", 0)))) is not None:
            self._guarded(transport.happened, event)

    def _guarded(self, deliver: Callable[..., None], *arguments: Any) -> None:
        """Contain an exception from a receiver, which is a bug there, so that other sessions continue."""
        try:
            deliver(*arguments)
        except Exception as error:  # noqa: BLE001
            self._loop.call_exception_handler({"message": "a receiver of a kept session raised", "exception": error})

    def _end(self, why: KeeperLost) -> None:
        if self.why_lost is not None:
            return
        self.why_lost = why
        _clients.discard(self)
        self._loop.remove_reader(self._socket.fileno())
        self._loop.remove_writer(self._socket.fileno())
        self._socket.close()
        self._unsent.clear()
        for future, _ in self._calls.values():
            if not future.done():
                future.set_exception(why)
                future.exception()
        self._calls.clear()
        if not self._welcome.done():
            self._welcome.set_exception(why)
            self._welcome.exception()
        for transport in list(self._transports.values()):
            self._guarded(transport.keeper_lost)
        self._transports.clear()
        self.lost.set()

    def keeper_is_dead(self) -> bool:
        return not look_at(self.place.folder).alive

    def disown(self) -> None:
        """In a forked child: the connection is the parent's. The loop's selector is shared, so leave it alone."""
        self.why_lost = KeeperLost("This connection to the keeper belongs to the process that forked this one.")
        for transport in self._transports.values():
            transport.disown()
        self._transports.clear()
        with contextlib.suppress(OSError):
            self._socket.close()


def _refusal(reply: dict[str, Any]) -> QuarterdeckError:
    code, message = reply["error"], reply.get("message", "")
    if code == "cli_not_found":
        error = CLINotFoundError("Claude Code not found: no executable at", cli_path=reply.get("path"))
        error.args = (message,)
        return error
    if code == "start_failed":
        return StartFailed(message, reply.get("path"))
    return KeeperRefused(code, message)


_clients: weakref.WeakSet[KeeperConnection] = weakref.WeakSet()


def _disown_all() -> None:
    for client in list(_clients):
        client.disown()
    _clients.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)
