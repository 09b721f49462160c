"""A bare server and framework, which do one of the gateway's jobs each: loads for ``benchmarks._children.gateway``."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from quarterdeck import ResultMessage, Session, StreamEvent
from quarterdeck.host.events import CustomEvent
from quarterdeck.host.folding import Preview
from quarterdeck.host.resources import Frame, Frames
from quarterdeck.timeline.events import TextAdded
from quarterdeck.wire import Message

from .client import Figures, Meter, resident_kb
from .gateway_kit import bare_server, clients
from .host_kit import Setting, options

HELLO = '{"op":"frame","ref":0,"seq":1}'
NOTE = CustomEvent(1763337600.123456, "note", {"text": "What a person reads. " * 4}, "program")
"""An event of a row."""
SETTLE_S = 0.3
SHARED = 64
"""Joined texts that are kept for clients that are a little later."""


class Hub:
    """Encoded frames, and a bell. Clients that are sent the same at the same moment share the joined text."""

    def __init__(self, join: Callable[[Sequence[str]], str]) -> None:
        self.frames: list[str] = []
        self.bell = asyncio.Event()
        self._join = join
        self._joined: dict[tuple[int, int], str] = {}

    def publish(self, frames: Sequence[str]) -> None:
        self.frames += frames
        self.bell.set()
        self.bell = asyncio.Event()

    def _text(self, start: int, end: int) -> str:
        text = self._joined.get((start, end))
        if text is None:
            if len(self._joined) >= SHARED:
                self._joined.clear()
            text = self._joined[start, end] = self._join(self.frames[start:end])
        return text

    async def batches(self) -> AsyncIterator[str]:
        """What there is, again and again."""
        seen = 0
        while True:
            bell = self.bell
            if seen < len(self.frames):
                start, seen = seen, len(self.frames)
                yield self._text(start, seen)
            else:
                await bell.wait()


def broadcasting(hub: Hub) -> Starlette:
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(f"[{HELLO}]")
        async for text in hub.batches():
            await websocket.send_text(text)

    async def events(_: Request) -> Response:
        async def body() -> AsyncIterator[str]:
            yield f"event: frame\ndata: {HELLO}\n\n"
            async for text in hub.batches():
                yield text

        return StreamingResponse(body(), media_type="text/event-stream")

    return Starlette(routes=[WebSocketRoute("/v1/ws", socket), Route("/events", events)])


def _message(frames: Sequence[str]) -> str:
    return f"[{','.join(frames)}]"


def _events(frames: Sequence[str]) -> str:
    return "".join([f"event: preview\ndata: {frame}\n\n" for frame in frames])


async def _broadcast(setting: Setting, kind: str, path: str) -> Figures:
    """A session on the client alone; what it streams goes to everyone who is connected."""
    hub = Hub(_message if kind == "websocket" else _events)

    async def feed(session: Session) -> None:
        await session.send("go")
        async for messages in session.batches():
            hub.publish([_frame(one) for one in messages if _is_piece(one)])
            if any(isinstance(message, ResultMessage) for message in messages):
                return

    async with Session(options(setting)) as session, bare_server(broadcasting(hub)) as port:
        asked = {"kind": kind, "path": path, "clients": setting.subscribers, "count": setting.count}
        async with clients("streams", port, counted='"text_added"', **asked) as readers:
            with Meter() as meter:
                began = time.monotonic_ns()
                await feed(session)
                told = await readers.result()
    return {**meter.figures, "deliveries": told["deliveries"], "wall_s": (told["done_ns"] - began) / 1e9}


def _is_piece(message: Message) -> bool:
    return isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"


def _frame(message: Any) -> str:
    """As the gateway shows it."""
    event = TextAdded(1763337600.123456, "msg_01234567890123456789:0", message.event["delta"]["text"])
    preview = Preview(session="0" * 36, after_seq=12, events=[event])
    return '{"op":"preview","ref":1,' + msgspec.json.encode(preview).decode()[1:]


async def websockets_bare(setting: Setting) -> Figures:
    return await _broadcast(setting, "websocket", "/v1/ws")


async def events_bare(setting: Setting) -> Figures:
    return await _broadcast(setting, "sse", "/events")


async def echo_bare(setting: Setting) -> Figures:
    """A WebSocket that says what it hears."""

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        try:
            while True:
                await websocket.send_text(await websocket.receive_text())
        except WebSocketDisconnect:
            return

    app = Starlette(routes=[WebSocketRoute("/v1/ws", socket)])
    asked = {"count": setting.count, "per_second": setting.per_second}
    async with bare_server(app) as port, clients("echo", port, **asked) as reader:
        with Meter() as meter:
            told = await reader.result()
    return {**meter.figures, **told}


async def idle_bare(setting: Setting) -> Figures:
    """Memory of a WebSocket that waits for what its client says, and for what there is to say."""
    hub = Hub(_message)

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(f"[{HELLO}]")

        async def send() -> None:
            async for text in hub.batches():
                await websocket.send_text(text)

        sending = asyncio.create_task(send())
        try:
            while True:
                await websocket.receive_text()
        except WebSocketDisconnect:
            sending.cancel()

    app = Starlette(routes=[WebSocketRoute("/v1/ws", socket)])
    async with bare_server(app) as port:
        return {"kb": await idle_kb(setting, port)}


async def idle_kb(setting: Setting, port: int, **more: Any) -> float:
    """How much the server grows for each client. The first few show what the rest share."""
    async with clients("idle", port, clients=20, **more) as first:
        before = await _settled_kb()
        async with clients("idle", port, clients=setting.subscribers, **more) as others:
            grown = await _settled_kb() - before
            await others.leave()
        await first.leave()
    return grown / setting.subscribers


async def _settled_kb() -> float:
    await asyncio.sleep(SETTLE_S)
    gc.collect()
    return resident_kb()


async def requests_bare(setting: Setting) -> Figures:
    """A route of the framework that returns a resource, encoded at each request."""
    shown = {f"field_{number}": "some value of a session" for number in range(24)} | {"id": "0" * 36}

    async def session(request: Request) -> Response:
        return Response(
            msgspec.json.encode(shown | {"id": request.path_params["session"]}), media_type="application/json"
        )

    app = Starlette(routes=[Route("/v1/sessions/{session}", session)])
    async with bare_server(app) as port:
        return await asked_for(setting, port, f"/v1/sessions/{'0' * 36}")


async def asked_for(setting: Setting, port: int, path: str, **more: Any) -> Figures:
    """A path that several clients ask for, again and again."""
    asked = {"path": path, "clients": setting.subscribers, "count": setting.count, **more}
    async with clients("requests", port, **asked) as readers:
        with Meter() as meter:
            began = time.monotonic_ns()
            told = await readers.result()
    return {**meter.figures, "requests": told["requests"], "wall_s": (told["done_ns"] - began) / 1e9}


async def frames_bare(setting: Setting) -> Figures:
    """A route of the framework that returns a page of frames, encoded at each request."""
    (most,) = setting.rows
    rows = [Frame(session="0" * 36, seq=seq, at=NOTE.at, events=[NOTE]) for seq in range(most)]

    async def frames(request: Request) -> Response:
        limit = int(request.query_params["limit"])
        shown = Frames(frames=rows[:limit], last_seq=most, epoch="0" * 8)
        return Response(msgspec.json.encode(shown), media_type="application/json")

    app = Starlette(routes=[Route("/v1/sessions/{session}/events", frames)])
    async with bare_server(app) as port:
        return await asked_for(setting, port, f"/v1/sessions/{'0' * 36}/events?limit={most}")


LOADS = (websockets_bare, events_bare, echo_bare, idle_bare, requests_bare, frames_bare)
