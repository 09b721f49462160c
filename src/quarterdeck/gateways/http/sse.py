"""Streams as server-sent events. ``id`` is the cursor; a client that comes back sends it as ``Last-Event-ID``."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.types import Receive, Scope, Send

from quarterdeck.gateways.common.authentication import token_ended
from quarterdeck.gateways.common.calling import invalid
from quarterdeck.gateways.common.streams import Form, Opened, attending, kind_of, opened, shown
from quarterdeck.host import Caller, HostError
from quarterdeck.host import requests as takes
from quarterdeck.host.whole_text import encode_whole

from .bodies import HttpRequest
from .decoding import shape_of
from .problems import problem_of
from .responses import encoded
from .routes import Route

if TYPE_CHECKING:
    from .app import Gateway

HEARTBEAT = b": still here\n\n"
COME_BACK = b"retry: 1000\n: the host is shutting down; come back\n\n"
HEADERS = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}


async def open_events(gateway: Gateway, route: Route, asked: HttpRequest, caller: Caller) -> Events:
    """Raises ``HostError``, so that what cannot be streamed is refused as any request."""
    with contextlib.ExitStack() as opening:
        ended = opening.enter_context(gateway.authentication.stream(caller))
        request = shape_of(route).request(asked.in_path, asked.scope["query_string"], b"")
        if last := asked.header(b"last-event-id"):
            request = _resumed(request, last)
        stream = await opened(gateway.host, request, caller)
        if ended.done():
            raise token_ended()
        opening.enter_context(attending(gateway.host, caller, request))
        return Events(gateway, stream, ended, opening.pop_all())


def _resumed(request: takes.Request, last: str) -> takes.Request:
    """``Last-Event-ID`` is newer than what the URL says: browsers repeat the URL."""
    match request:
        case takes.WatchSession():
            return msgspec.structs.replace(request, after=last)
        case takes.WatchHost() if last.isascii() and last.isdigit() and len(last) < 19:
            return msgspec.structs.replace(request, after=int(last))
        case takes.WatchHost():
            raise invalid(ValueError("Last-Event-ID of this stream must be a number"))
    return request


class Events:
    """One open stream, as an ASGI application. It must be called, or it stays open."""

    def __init__(
        self, gateway: Gateway, stream: Opened, ended: asyncio.Future[None], is_open: contextlib.ExitStack
    ) -> None:
        self._gateway = gateway
        self._stream = stream
        self._ended = ended
        self._open = is_open
        self._outbox = gateway.outbox(HEARTBEAT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gateway = self._gateway
        gateway.meter.opened("sse", self._outbox)
        with self._open:
            await send({"type": "http.response.start", "status": 200, "headers": encoded(scope, HEADERS)})
            self._outbox.put(event("hello", self._stream.hello, self._hello_id()))

            async def write(parts: list[bytes]) -> None:
                await send({"type": "http.response.body", "body": b"".join(parts), "more_body": True})

            tasks: list[asyncio.Future[Any]] = [
                asyncio.ensure_future(self._outbox.deliver(write)),
                asyncio.ensure_future(self._pump()),
                asyncio.ensure_future(left(receive)),
                asyncio.ensure_future(gateway.stopping.wait()),
            ]
            try:
                await self._until_over(tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                gateway.meter.closed(self._outbox)
        if not self._outbox.stalled:
            with contextlib.suppress(OSError):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _until_over(self, tasks: list[asyncio.Future[Any]]) -> None:
        delivering, pumping, left, stopping = tasks
        await asyncio.wait([*tasks, self._ended], return_when=asyncio.FIRST_COMPLETED)
        if left.done() or delivering.done():
            return
        pumping.cancel()
        await asyncio.gather(pumping, return_exceptions=True)
        if self._ended.done():
            self._outbox.close(event("error", problem_of(token_ended())))
        elif stopping.done():
            self._outbox.close(COME_BACK)
        else:
            self._outbox.close()
        await asyncio.wait([delivering, left], timeout=2.0, return_when=asyncio.FIRST_COMPLETED)

    async def _pump(self) -> None:
        try:
            form = Form(f"sse {self._stream.epoch}", self._form, b"")
            await self._gateway.tell(self._stream, self._outbox, form)
        except HostError as error:
            self._outbox.put(event("error", problem_of(error)))

    def _hello_id(self) -> str | None:
        """If nothing follows, a client that reconnects continues here."""
        hello = self._stream.hello
        if "pos" in hello:
            return str(hello["pos"])
        return None

    def _form(self, item: Any) -> bytes:
        kind = kind_of(item)
        if kind == "frame":
            written = self._gateway.encodings.of(item)
            return b"id: %b-%d\nevent: frame\ndata: {%b\n\n" % (self._stream.epoch.encode(), item.seq, written)
        if kind == "preview":
            return b"event: preview\ndata: {%b\n\n" % self._gateway.encodings.of(item)
        told = shown(item)
        if kind == "gap" and "seq" in told:
            return event(kind, told, f"{told['epoch']}-{told['seq']}")
        return event(kind, told, str(told["pos"]) if isinstance(told, dict) and "pos" in told else None)


async def left(receive: Receive) -> None:
    """Until the client has."""
    while (await receive())["type"] != "http.disconnect":
        pass


def event(kind: str, data: Any, cursor: str | None = None) -> bytes:
    start = b"" if cursor is None else b"id: %b\n" % cursor.encode()
    return b"%bevent: %b\ndata: %b\n\n" % (start, kind.encode(), encode_whole(data))
