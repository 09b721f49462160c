"""The latency load of ``benchmarks/grpc.py``: both gateways and both bare servers here, one client in another process.

A piece of text at a time, in short bursts by turns: what the machine does meanwhile, it does to all four. Each piece
carries the moment at which it was made. ``python -m benchmarks._children.grpc_latency SETTING`` serves and prints the
median of each; with ``client`` before the setting it is the client.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc

from quarterdeck.gateways.grpc.events import written
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS
from quarterdeck.gateways.http import Gateway
from quarterdeck.gateways.http import Server as HttpServer
from quarterdeck.host.fanout import Fanout
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import CreateSession
from quarterdeck.timeline.events import TextAdded

from .grpc_loads import SESSION, Setting, bare, bearer, channel_to, hosted

BURST = 25
"""Pieces before it is another one's turn."""
SETTLE_S = 0.5

Burst = Callable[[int], Awaitable[None]]
"""Says so many pieces, at its pace."""


def piece(session: str, after_seq: int) -> Preview:
    return Preview(session=session, after_seq=after_seq, events=[TextAdded(0.0, "msg_01:0", str(time.monotonic_ns()))])


class Told:
    """One session of the host: what its log tells everybody who watches."""

    def __init__(self, fanout: Fanout, session: str, every_s: float) -> None:
        self._fanout = fanout
        self._session = session
        self._every_s = every_s

    async def __call__(self, count: int) -> None:
        fanout = self._fanout
        for _ in range(count):
            fanout.preview(piece(self._session, fanout.last_seq))
            await asyncio.sleep(self._every_s)


class Handler:
    """A bare server's handler says its pieces itself, without a task or a queue in between."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._said: asyncio.Future[None]

    async def __call__(self, count: int) -> None:
        self._said = asyncio.get_running_loop().create_future()
        self._turn.set_result(count)
        await self._said

    async def say(self, write: Callable[[Preview], Awaitable[None]]) -> None:
        while True:
            count = await self._turn
            self._turn = asyncio.get_running_loop().create_future()
            for _ in range(count):
                await asyncio.sleep(self._every_s)
                await write(piece(SESSION, 1))
            self._said.set_result(None)


@asynccontextmanager
async def bare_websocket(handler: Handler) -> AsyncIterator[str]:
    """The server of the HTTP gateway alone: an application that sends a message with one piece."""
    import uvicorn

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()

        async def write(preview: Preview) -> None:
            said = [{"op": "preview", "events": [{"text": event.text} for event in preview.events]}]
            await send({"type": "websocket.send", "text": json.dumps(said)})

        await handler.say(write)

    config = uvicorn.Config(
        application, port=0, ws="websockets-sansio", http="httptools", lifespan="off", log_level="critical"
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    yield f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = server.force_exit = True
    await serving


@asynccontextmanager
async def bare_grpc(handler: Handler) -> AsyncIterator[str]:
    """The library alone: a stream that writes a response with one piece."""

    async def handle(_: Any, context: Any) -> None:
        async def write(preview: Preview) -> None:
            await context.write(written(preview))

        await handler.say(write)

    async with bare(METHODS["watch_session"].path, grpc.unary_stream_rpc_method_handler(handle)) as address:
        yield address


async def serve(setting: Setting) -> dict[str, float]:
    every_s = setting["every_s"]
    handlers = {"grpc_bare": Handler(every_s), "websocket_bare": Handler(every_s)}
    async with (
        hosted() as (host, server, address, secret),
        HttpServer(Gateway(host)) as http,
        bare_grpc(handlers["grpc_bare"]) as grpc_address,
        bare_websocket(handlers["websocket_bare"]) as websocket_url,
    ):
        name, port = await http.listen_tcp("127.0.0.1", 0)
        sessions = {side: (await host.create_session(CreateSession(cwd=str(host.folder)))).id for side in CLIENTS}
        addresses = {
            "grpc": address,
            "websocket": f"ws://{name}:{port}/v1/ws",
            "grpc_bare": grpc_address,
            "websocket_bare": websocket_url,
        }
        asked = setting | {"addresses": addresses, "sessions": sessions, "secret": secret}
        command = [sys.executable, "-m", "benchmarks._children.grpc_latency", "client", json.dumps(asked)]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        while not (server.gateway.authentication.streams and http.gateway.authentication.streams):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(SETTLE_S)
        bursts: dict[str, Burst] = dict(handlers)
        for side in ("grpc", "websocket"):
            bursts[side] = Told(host._actors[sessions[side]].log.fanout, sessions[side], every_s)
        for _ in range(setting["count"] // BURST):
            for side in CLIENTS:
                await bursts[side](BURST)
        told, _ = await process.communicate()
        figures: dict[str, float] = json.loads(told)
        return figures


# Clients


async def grpc_client(address: str, session: str, secret: str, count: int) -> list[int]:
    response = MESSAGES["WatchSessionResponse"]
    request = MESSAGES["WatchSessionRequest"](session_id=session)
    late: list[int] = []
    async with channel_to(address) as channel:
        stub = channel.unary_stream(METHODS["watch_session"].path, response_deserializer=response.FromString)
        stream = stub(request.SerializeToString(), metadata=bearer(secret))
        async for one in stream:
            late += [time.monotonic_ns() - int(event.text_delta.text) for event in one.events if event.preview]
            if len(late) >= count:
                break
        stream.cancel()
    return late


async def websocket_client(address: str, session: str, secret: str, count: int) -> list[int]:
    from websockets.asyncio.client import connect

    late: list[int] = []
    headers = {"Authorization": f"Bearer {secret}"}
    async with connect(address, additional_headers=headers, proxy=None, compression=None, close_timeout=0.1) as socket:
        await socket.send(json.dumps({"op": "subscribe", "ref": 1, "session": session}))
        while len(late) < count:
            for one in json.loads(await socket.recv()):
                if one["op"] == "preview":
                    late += [time.monotonic_ns() - int(event["text"]) for event in one["events"]]
    return late


CLIENTS = {
    "websocket_bare": websocket_client,
    "websocket": websocket_client,
    "grpc_bare": grpc_client,
    "grpc": grpc_client,
}
"""In the order of their turns."""


async def client(setting: Setting) -> dict[str, float]:
    count = setting["count"] // BURST * BURST
    late = await asyncio.gather(
        *(
            one(setting["addresses"][side], setting["sessions"][side], setting["secret"], count)
            for side, one in CLIENTS.items()
        )
    )
    return {side: statistics.median(one) / 1_000 for side, one in zip(CLIENTS, late, strict=True)}


if __name__ == "__main__":
    *who, given = sys.argv[1:]
    if who:
        told = asyncio.run(client(json.loads(given)))
    else:
        import uvloop  # as quarterdeck serve does

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            told = runner.run(serve(json.loads(given)))
    print(json.dumps(told))
