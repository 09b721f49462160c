"""One load of ``benchmarks/grpc.py``: a server in this process, its client in another. Prints what was measured.

``python -m benchmarks._children.grpc_loads LOAD SETTING`` serves; with ``client:LOAD`` it is the client.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from quarterdeck.gateways.grpc import Server, Settings
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS
from quarterdeck.gateways.http import Gateway
from quarterdeck.gateways.http import Server as HttpServer
from quarterdeck.host import Host
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import CreateSession, CreateToken
from quarterdeck.testing.sim import executable
from quarterdeck.timeline.events import TextAdded

SESSION = "0b5c2f6e-6c0e-4f0c-9a39-2a1d5d1f7f10"
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
TOGETHER = 20
"""Events that happen at one moment, and so are one message of the bare stream: what one read of a CLI's pipe says."""
AT_ONCE = 16
Setting = dict[str, Any]


def previews(count: int) -> list[Preview]:
    """Each a piece of text, as a model at full speed says them."""
    return [
        Preview(
            session=SESSION, after_seq=1_234, events=[TextAdded(1_790_000_000.0 + n, "msg_01ABCDEF:0", "some text ")]
        )
        for n in range(count)
    ]


# Servers


@asynccontextmanager
async def hosted(**settings: Any) -> AsyncIterator[tuple[Host, Server, str, str]]:
    """A host, served; with an address and a token."""
    with tempfile.TemporaryDirectory() as folder:
        agents = {"claude": str(executable(folder=folder))}
        async with Host(folder, keeper=False, agents=agents) as host, Server(host, Settings(**settings)) as server:
            address = server.listen("127.0.0.1:0")
            await server.start()
            token = await host.create_token(CreateToken(name="bench", scope="admin"))
            yield host, server, address, token.secret or ""


@asynccontextmanager
async def bare(path: str, handler: Any) -> AsyncIterator[str]:
    """The library with nothing behind it."""
    server = grpc.aio.server()
    service, _, method = path.strip("/").partition("/")
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(0)


async def client(load: str, **setting: Any) -> dict[str, Any]:
    """Runs the client; adds the processor time of this process meanwhile."""
    command = [sys.executable, "-m", "benchmarks._children.grpc_loads", f"client:{load}", json.dumps(setting)]
    before = time.process_time()
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told, _ = await process.communicate()
    return {**json.loads(told), "cpu_s": time.process_time() - before}


async def watch_bare(setting: Setting) -> dict[str, Any]:
    from quarterdeck.gateways.grpc.events import written

    response = MESSAGES["WatchSessionResponse"]
    data = b"".join(map(written, previews(TOGETHER)))
    batches = [response.FromString(data) for _ in range(setting["count"] // TOGETHER)]

    async def handle(_: Any, context: Any) -> None:
        for batch in batches:
            await context.write(batch)

    handler = grpc.unary_stream_rpc_method_handler(handle, response_serializer=response.SerializeToString)
    async with bare(METHODS["watch_session"].path, handler) as address:
        return await client("watch", address=address, secret="", count=setting["count"])


async def watch_ours(setting: Setting) -> dict[str, Any]:
    async with hosted(outbox_bytes=256 * 1024) as (host, _, address, secret):
        session = await host.create_session(CreateSession(cwd=str(host.folder)))
        items = previews(setting["count"])

        async def together(*_: Any) -> AsyncIterator[list[Preview]]:
            for start in range(0, len(items), TOGETHER):
                yield items[start : start + TOGETHER]
                await asyncio.sleep(0)
            await asyncio.Event().wait()

        host.watch_session_together = together  # type: ignore[assignment, method-assign]
        return await client("watch", address=address, secret=secret, count=setting["count"], session=session.id)


async def unary_bare(setting: Setting) -> dict[str, Any]:
    method = METHODS["get_budgets"]
    request, response = MESSAGES[method.request], MESSAGES[method.response]

    async def handle(_: Any, context: Any) -> Any:
        return response(details_json="{}")

    handler = grpc.unary_unary_rpc_method_handler(handle, request.FromString, response.SerializeToString)
    async with bare(method.path, handler) as address:
        return await client("unary", address=address, secret="", count=setting["count"])


async def unary_ours(setting: Setting) -> dict[str, Any]:
    async with hosted(requests_per_s=1e9) as (_, _, address, secret):
        return await client("unary", address=address, secret=secret, count=setting["count"])


async def latency_grpc(setting: Setting) -> dict[str, Any]:
    async with hosted() as (host, server, address, secret):
        session = await host.create_session(CreateSession(cwd=str(host.folder)))
        asking = client("latency_grpc", address=address, secret=secret, session=session.id, count=setting["count"])
        return await told(host, session.id, setting, asking, lambda: server.gateway.authentication.streams)


async def latency_websocket(setting: Setting) -> dict[str, Any]:
    async with hosted() as (host, _, _, secret), HttpServer(Gateway(host)) as server:
        name, port = await server.listen_tcp("127.0.0.1", 0)
        session = await host.create_session(CreateSession(cwd=str(host.folder)))
        url = f"ws://{name}:{port}/v1/ws"
        asking = client("latency_websocket", address=url, secret=secret, session=session.id, count=setting["count"])
        return await told(host, session.id, setting, asking, lambda: server.gateway.authentication.streams)


async def latency_grpc_bare(setting: Setting) -> dict[str, Any]:
    """The library alone: a stream that writes a response with one piece."""
    from quarterdeck.gateways.grpc.events import written

    async def handle(_: Any, context: Any) -> None:
        for preview in paced(setting):
            await context.write(written(await preview))

    handler = grpc.unary_stream_rpc_method_handler(handle)
    async with bare(METHODS["watch_session"].path, handler) as address:
        return await client("latency_grpc", address=address, secret="", session=SESSION, count=setting["count"])


async def latency_websocket_bare(setting: Setting) -> dict[str, Any]:
    """The server of the HTTP gateway alone: an application that sends a message with one piece."""
    import uvicorn
    from websockets.asyncio.client import connect

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()
        for preview in paced(setting):
            said = [{"op": "preview", "events": [{"text": event.text} for event in (await preview).events]}]
            await send({"type": "websocket.send", "text": json.dumps(said)})
        await receive()

    config = uvicorn.Config(
        application, port=0, ws="websockets-sansio", http="httptools", lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with connect(f"ws://127.0.0.1:{port}/", proxy=None):
        pass  # what is imported with the first connection is not part of the time
    url = f"ws://127.0.0.1:{port}/"
    measured = await client("latency_websocket", address=url, secret="", session=SESSION, count=setting["count"])
    server.should_exit = True
    await serving
    return measured


def paced(setting: Setting) -> Iterator[Awaitable[Preview]]:
    """A piece at a time, each with the moment at which it was made."""

    async def piece() -> Preview:
        await asyncio.sleep(setting["every_s"])
        return Preview(session=SESSION, after_seq=1, events=[TextAdded(0.0, "msg_01:0", str(time.monotonic_ns()))])

    return (piece() for _ in range(setting["count"]))


async def told(
    host: Host, session: str, setting: Setting, asking: Awaitable[dict[str, Any]], streams: Callable[[], int]
) -> dict[str, Any]:
    """A piece at a time, each with the moment at which it was told."""
    running = asyncio.ensure_future(asking)
    while not streams():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)
    fanout = host._actors[session].log.fanout
    for _ in range(setting["count"]):
        piece = TextAdded(0.0, "msg_01:0", str(time.monotonic_ns()))
        fanout.preview(Preview(session=session, after_seq=fanout.last_seq, events=[piece]))
        await asyncio.sleep(setting["every_s"])
    return await running


# Clients


def channel_to(address: str) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(address, options=UNLIMITED)


def bearer(secret: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {secret}"),)


async def client_watch(setting: Setting) -> dict[str, Any]:
    response = MESSAGES["WatchSessionResponse"]
    request = MESSAGES["WatchSessionRequest"](session_id=setting.get("session", "x"))
    async with channel_to(setting["address"]) as channel:
        stub = channel.unary_stream(METHODS["watch_session"].path, response_deserializer=response.FromString)
        stream = stub(request.SerializeToString(), metadata=bearer(setting["secret"]))
        seen, began, responses = 0, 0.0, 0
        async for one in stream:
            began = began or time.perf_counter()
            responses += 1
            seen += sum(1 for event in one.events if event.text_delta.text)
            if seen >= setting["count"]:
                break
        wall_s = time.perf_counter() - began
        stream.cancel()
    return {"events": seen, "responses": responses, "wall_s": wall_s}


async def client_unary(setting: Setting) -> dict[str, Any]:
    method = METHODS["get_budgets"]
    request, response = MESSAGES[method.request], MESSAGES[method.response]
    async with channel_to(setting["address"]) as channel:
        stub = channel.unary_unary(method.path, request.SerializeToString, response.FromString)
        metadata = bearer(setting["secret"])

        async def ask(count: int) -> None:
            for _ in range(count):
                await stub(request(), metadata=metadata)

        await ask(50)
        began = time.perf_counter()
        await asyncio.gather(*(ask(setting["count"] // AT_ONCE) for _ in range(AT_ONCE)))
        return {"calls": setting["count"] // AT_ONCE * AT_ONCE, "wall_s": time.perf_counter() - began}


def _summary(late_ns: list[int]) -> dict[str, Any]:
    ordered = sorted(late_ns)
    return {"p50_us": statistics.median(ordered) / 1_000, "p99_us": ordered[len(ordered) * 99 // 100] / 1_000}


async def client_latency_grpc(setting: Setting) -> dict[str, Any]:
    response = MESSAGES["WatchSessionResponse"]
    request = MESSAGES["WatchSessionRequest"](session_id=setting["session"])
    late: list[int] = []
    async with channel_to(setting["address"]) as channel:
        stub = channel.unary_stream(METHODS["watch_session"].path, response_deserializer=response.FromString)
        stream = stub(request.SerializeToString(), metadata=bearer(setting["secret"]))
        async for one in stream:
            late += [time.monotonic_ns() - int(event.text_delta.text) for event in one.events if event.preview]
            if len(late) >= setting["count"]:
                break
        stream.cancel()
    return _summary(late)


async def client_latency_websocket(setting: Setting) -> dict[str, Any]:
    from websockets.asyncio.client import connect

    late: list[int] = []
    headers = {"Authorization": f"Bearer {setting['secret']}"}
    async with connect(setting["address"], additional_headers=headers, proxy=None, compression=None) as socket:
        await socket.send(json.dumps({"op": "subscribe", "ref": 1, "session": setting["session"]}))
        while len(late) < setting["count"]:
            for one in json.loads(await socket.recv()):
                if one["op"] == "preview":
                    late += [time.monotonic_ns() - int(event["text"]) for event in one["events"]]
    return _summary(late)


LOADS: dict[str, Callable[[Setting], Awaitable[dict[str, Any]]]] = {
    "watch_bare": watch_bare,
    "watch_ours": watch_ours,
    "unary_bare": unary_bare,
    "unary_ours": unary_ours,
    "latency_grpc": latency_grpc,
    "latency_grpc_bare": latency_grpc_bare,
    "latency_websocket": latency_websocket,
    "latency_websocket_bare": latency_websocket_bare,
    "client:watch": client_watch,
    "client:unary": client_unary,
    "client:latency_grpc": client_latency_grpc,
    "client:latency_websocket": client_latency_websocket,
}

if __name__ == "__main__":
    load, given = sys.argv[1:]
    runner: Any = asyncio.Runner()
    if not load.startswith("client:"):
        import uvloop  # as quarterdeck serve does

        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with runner:
        print(json.dumps(runner.run(LOADS[load](json.loads(given)))))
