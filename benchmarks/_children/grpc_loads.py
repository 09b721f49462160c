"""One load of ``benchmarks/grpc.py``: a server in this process, its client in another. Prints what was measured.

``python -m benchmarks._children.grpc_loads LOAD SETTING`` serves; with ``client:LOAD`` it is the client.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

import grpc

from quarterdeck.gateways.grpc import Server, Settings
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS
from quarterdeck.host import Host
from quarterdeck.host.fanout import Fanout, ReadFrames
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import CreateSession, CreateToken
from quarterdeck.host.resources import Frame
from quarterdeck.testing.sim import executable
from quarterdeck.timeline.events import TextAdded

SESSION = "0b5c2f6e-6c0e-4f0c-9a39-2a1d5d1f7f10"
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
TOGETHER = 20
"""Events that happen at one moment, and so are one message of the bare stream: what one read of a CLI's pipe says."""
AT_ONCE = 16
Setting = dict[str, Any]


def previews(count: int, session: str = SESSION, after_seq: int = 1_234) -> list[Preview]:
    """Each a piece of text, as a model at full speed says them."""
    return [
        Preview(
            session=session,
            after_seq=after_seq,
            events=[TextAdded(1_790_000_000.0 + n, "msg_01ABCDEF:0", "some text ")],
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
    """Runs the client; adds the CPU time of this process meanwhile."""
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


class Telling(Fanout):
    """The fan-out of a session in which more happens whenever its watcher has been told everything."""

    def __init__(self, session: str, last_seq: int, count: int) -> None:
        super().__init__(last_seq)
        self._left = iter(previews(count, session, last_seq))

    async def watch(
        self, after: int, read: ReadFrames, *, previews: bool
    ) -> AsyncGenerator[Sequence[Frame | Preview], None]:
        loop = asyncio.get_running_loop()
        loop.call_soon(self._happen)
        async for news in super().watch(after, read, previews=previews):
            yield news
            if all(one.seen == self._count for one in self._watchers):
                loop.call_soon(self._happen)

    def _happen(self) -> None:
        for preview in islice(self._left, TOGETHER):
            self.preview(preview)


async def watch_ours(setting: Setting) -> dict[str, Any]:
    """Through the session's own fan-out, as what a CLI says goes."""
    async with hosted() as (host, _, address, secret):
        session = await host.create_session(CreateSession(cwd=str(host.folder)))
        log = host._actors[session.id].log
        log.fanout = Telling(session.id, log.fanout.last_seq, setting["count"])
        return await client("watch", address=address, secret=secret, count=setting["count"], session=session.id)


async def watch_gateway(setting: Setting) -> dict[str, Any]:
    """The gateway alone: what it is told is there already."""
    async with hosted() as (host, _, address, secret):
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


LOADS: dict[str, Callable[[Setting], Awaitable[dict[str, Any]]]] = {
    "watch_bare": watch_bare,
    "watch_ours": watch_ours,
    "watch_gateway": watch_gateway,
    "unary_bare": unary_bare,
    "unary_ours": unary_ours,
    "client:watch": client_watch,
    "client:unary": client_unary,
}

if __name__ == "__main__":
    load, given = sys.argv[1:]
    runner: Any = asyncio.Runner()
    if not load.startswith("client:"):
        import uvloop  # as quarterdeck serve does

        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with runner:
        print(json.dumps(runner.run(LOADS[load](json.loads(given)))))
