"""``Server``: the gateway on TCP and Unix sockets at once, with TLS, in the loop of its host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from email.utils import formatdate
from pathlib import Path
from typing import Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from quarterdeck.gateways.common.sockets import descriptors_for_connections, make_room_for_socket

from .app import Gateway
from .connections import HttpConnection, WebSocket

BACKLOG = 512
TLS_HANDSHAKE_S = 10.0
PING_S = 20.0


class Server:
    """Listens, and stops gracefully. Use it as an async context manager."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        settings = gateway.settings
        gateway.most_connections = min(settings.connections, descriptors_for_connections())
        self._config = Config(
            gateway,
            http=HttpConnection,
            ws=WebSocket,
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=settings.keep_alive_s,  # type: ignore[arg-type]  # handed to call_later
            ws_max_size=settings.message_bytes,
            ws_ping_interval=PING_S,
            ws_ping_timeout=PING_S,
            ws_per_message_deflate=settings.compress_messages,
        )
        self._config.load()
        self._state = ServerState()
        self._servers: list[asyncio.Server] = []
        self._unix: list[Path] = []
        self._dating: asyncio.TimerHandle | None = None
        self._stopped = asyncio.Event()
        self._hurry = asyncio.Event()

    async def __aenter__(self) -> Server:
        await self.gateway.__aenter__()
        self._date()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Listening

    async def listen_tcp(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> tuple[str, int]:
        """The address that it has then; port 0 takes a free one."""
        made = await asyncio.get_running_loop().create_server(
            self._connection,
            host,
            port,
            ssl=tls,
            backlog=BACKLOG,
            ssl_handshake_timeout=None if tls is None else TLS_HANDSHAKE_S,
        )
        self._servers.append(made)
        address = made.sockets[0].getsockname()
        return address[0], address[1]

    async def listen_unix(self, path: str | os.PathLike[str]) -> None:
        """A socket that only this user can open. One that a dead host has left is replaced."""
        place = Path(path)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            await asyncio.to_thread(_bind_private, listening, place)
            made = await asyncio.get_running_loop().create_unix_server(
                self._connection, sock=listening, backlog=BACKLOG
            )
        except BaseException:
            listening.close()
            raise
        self._servers.append(made)
        self._unix.append(place)

    @property
    def connections(self) -> list[Any]:
        """Those that are open."""
        return list(self._state.connections)

    def _connection(self) -> asyncio.Protocol:
        return HttpConnection(config=self._config, server_state=self._state, app_state={})

    def _date(self) -> None:
        """The header ``date``, once a second for all answers."""
        self._state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
        self._dating = asyncio.get_running_loop().call_later(1.0, self._date)

    # Stopping

    async def wait(self) -> None:
        """Until it has stopped."""
        await self._stopped.wait()

    def hurry(self) -> None:
        """Stop waiting for anyone."""
        self._hurry.set()

    async def stop(self) -> None:
        """Accept no new connections, let streams say goodbye and requests finish, then close the rest."""
        if self._stopped.is_set():
            return
        self.gateway.say_goodbye()
        for server in self._servers:
            server.close()
        for place in self._unix:
            await asyncio.to_thread(place.unlink, missing_ok=True)
        for connection in self.connections:
            if isinstance(connection, HttpConnection):  # WebSockets say goodbye themselves
                connection.shutdown()
        await self._quiet(self.gateway.settings.drain_s)
        for task in list(self._state.tasks):
            task.cancel()
        for connection in self.connections:
            connection.shutdown()
        await self._quiet(1.0)
        for connection in self.connections:
            connection.transport.abort()
        await asyncio.gather(*self._state.tasks, return_exceptions=True)
        for server in self._servers:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(server.wait_closed(), 1.0)
        if self._dating is not None:
            self._dating.cancel()
        await self.gateway.__aexit__()
        self._stopped.set()

    async def _quiet(self, limit_s: float) -> None:
        """Until nothing is in progress, time is up, or someone is in a hurry."""
        tasks: set[asyncio.Future[Any]] = set(self._state.tasks)
        if not tasks or self._hurry.is_set():
            return
        hurry = asyncio.ensure_future(self._hurry.wait())
        done = asyncio.ensure_future(asyncio.wait(tasks))
        await asyncio.wait([hurry, done], timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (hurry, done):
            waiting.cancel()
        await asyncio.gather(hurry, done, return_exceptions=True)


def _bind_private(listening: socket.socket, place: Path) -> None:
    """Never open to others, not even briefly: the file is created with its mode."""
    make_room_for_socket(place)
    before = os.umask(0o177)
    try:
        listening.bind(str(place))
    finally:
        os.umask(before)
    listening.setblocking(False)


def tls_context(certificate: str | os.PathLike[str], key: str | os.PathLike[str] | None = None) -> ssl.SSLContext:
    """For ``listen_tcp``: TLS 1.2 or newer."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context
