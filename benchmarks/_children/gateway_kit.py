"""What the loads on the gateway and on bare servers share: the clients' process, and a server of either kind."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from quarterdeck.gateways.http import Gateway, Server, Settings
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateToken, OfSession

from .gateway_clients import Setting as ClientSetting

UNLIMITED = Settings(
    requests_per_s=1e9, connections=10_000, connections_per_client=10_000, streams_per_token=10_000, outbox_bytes=2**20
)


class Clients:
    """A process full of clients."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def result(self) -> dict[str, float]:
        """What they measured, when they are done."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if await self._process.wait() or not line:
            raise SystemExit("the clients did not get through")
        told: dict[str, float] = json.loads(line)
        return told

    async def leave(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()


@asynccontextmanager
async def clients(load: str, port: int, **setting: Any) -> AsyncIterator[Clients]:
    """All of them are there."""
    wanted = msgspec.json.encode(ClientSetting(port=port, **setting)).decode()
    command = (sys.executable, "-m", "benchmarks._children.gateway_clients", load, wanted)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=2**24)
    assert process.stdout is not None
    try:
        if await process.stdout.readline() != b"ready\n":
            raise SystemExit(f"the clients did not come to {load!r}")
        yield Clients(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Served(msgspec.Struct):
    """A gateway and who may use it."""

    port: int
    token: str


@asynccontextmanager
async def served(host: Host) -> AsyncIterator[Served]:
    """The gateway on a free port."""
    token = await host.create_token(CreateToken(name="bench", scope="admin"))
    async with Server(Gateway(host, UNLIMITED)) as server:
        _, port = await server.listen_tcp("127.0.0.1", 0)
        yield Served(port, token.secret or "")


async def just_before(host: Host, session: str) -> str:
    """A cursor after which there is one frame: whoever has that frame is there."""
    known = await host.get_session(OfSession(session_id=session))
    return f"{known.epoch}-{known.seq - 1}"


@asynccontextmanager
async def bare_server(app: Any) -> AsyncIterator[int]:
    """uvicorn with nothing but the application, set as the gateway sets it; the port."""
    config = Config(
        app,
        http=HttpToolsProtocol,
        ws=WebSocketsSansIOProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_per_message_deflate=False,
    )
    config.load()
    logging.getLogger("uvicorn.error").disabled = True  # about connections that are cut at the end
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: HttpToolsProtocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()
        for task in list(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)
