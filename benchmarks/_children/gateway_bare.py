"""A bare server and framework, which do one of the gateway's jobs each: loads for ``benchmarks._children.gateway``."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from quarterdeck import ResultMessage, Session, StreamEvent
from quarterdeck.host.folding import Preview
from quarterdeck.timeline.events import TextAdded
from quarterdeck.wire import Message

from .client import Figures, Meter, resident_kb
from .gateway_kit import bare_server, clients
from .host_kit import Setting, options

HELLO = '{"op":"frame","ref":0,"seq":1}'
SETTLE_S = 0.3


class Hub:
    """Encoded frames, once for everybody, and a bell."""

    def __init__(self) -> None:
        self.frames: list[str] = []
        self.bell = asyncio.Event()

    def publish(self, frames: Sequence[str]) -> None:
        self.frames += frames
        self.bell.set()
        self.bell = asyncio.Event()

    async def batches(self) -> AsyncIterator[list[str]]:
        """What there is, again and again."""
        seen = 0
        while True:
            bell = self.bell
            if seen < len(self.frames):
                new, seen = self.frames[seen:], len(self.frames)
                yield new
            else:
                await bell.wait()


def broadcasting(hub: Hub) -> Starlette:
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(f"[{HELLO}]")
        async for frames in hub.batches():
            await websocket.send_text(f"[{','.join(frames)}]")

    async def events(_: Request) -> Response:
        async def body() -> AsyncIterator[str]:
            yield f"event: frame\ndata: {HELLO}\n\n"
            async for frames in hub.batches():
                yield "".join([f"event: preview\ndata: {frame}\n\n" for frame in frames])

        return StreamingResponse(body(), media_type="text/event-stream")

    return Starlette(routes=[WebSocketRoute("/v1/ws", socket), Route("/events", events)])


async def _broadcast(setting: Setting, kind: str, path: str) -> Figures:
    """A session on the client alone; what it streams goes to everyone who is connected."""
    hub = Hub()

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
    hub = Hub()

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(f"[{HELLO}]")

        async def send() -> None:
            async for frames in hub.batches():
                await websocket.send_text(f"[{','.join(frames)}]")

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
        asked = {"path": "/v1/sessions/" + "0" * 36, "clients": setting.subscribers, "count": setting.count}
        async with clients("requests", port, **asked) as readers:
            with Meter() as meter:
                began = time.monotonic_ns()
                told = await readers.result()
    return {**meter.figures, "requests": told["requests"], "wall_s": (told["done_ns"] - began) / 1e9}


LOADS = (websockets_bare, events_bare, echo_bare, idle_bare, requests_bare)
