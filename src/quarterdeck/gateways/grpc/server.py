"""``Server``: the host on gRPC ports and Unix sockets, with TLS, health and reflection, in the loop of its host."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from quarterdeck.gateways.common.sockets import descriptors_for_connections, make_room_for_socket
from quarterdeck.host import Host

from .converse import conversing
from .gateway import Gateway
from .health import HealthService
from .methods import METHODS, PACKAGE, SERVICES
from .settings import Settings
from .streams import streaming

UNIX = "unix:"
HANDSHAKE_S = 10.0
PING_STRIKES = 2


class Server:
    """Listens, and stops gracefully. Use it as an async context manager: ``listen``, then ``start``."""

    def __init__(self, host: Host, settings: Settings | None = None) -> None:
        self.gateway = Gateway(host, settings)
        self.health = HealthService(host, self.gateway.settings.health_s)
        self._hurry = asyncio.Event()
        self._stopped = asyncio.Event()
        self._unix: list[Path] = []
        self._server: Any = None

    async def __aenter__(self) -> Server:
        self._server = grpc.aio.server(
            options=_options(self.gateway), maximum_concurrent_rpcs=self.gateway.settings.calls
        )
        self._server.add_generic_rpc_handlers(_handlers(self.gateway))
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self._server)
        services = [f"{PACKAGE}.{service}" for service in SERVICES]
        names = [*services, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name, reflection.SERVICE_NAME]
        reflection.enable_server_reflection(names, self._server)
        self.gateway.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Listening

    def listen(
        self,
        address: str,
        *,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> str:
        """``HOST:PORT`` or ``unix:PATH``; returns where it listens, for port 0 takes a free one. Raises ``OSError``.

        The files are PEM; the key may be in the certificate's file.
        """
        try:
            if address.startswith(UNIX):
                self._listen_unix(Path(address.removeprefix(UNIX)))
                return address
            if certificate is None:
                port = self._server.add_insecure_port(address)
            else:
                chain = Path(certificate).read_bytes()
                pair = (chain if key is None else Path(key).read_bytes(), chain)
                port = self._server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
        except RuntimeError as error:
            raise OSError(f"cannot listen on {address}: {error}") from error
        return f"{address.rpartition(':')[0]}:{port}"

    def _listen_unix(self, place: Path) -> None:
        """Never open to others, not even briefly: the file is created with its mode."""
        make_room_for_socket(place)
        before = os.umask(0o177)
        try:
            self._server.add_insecure_port(f"{UNIX}{place}")
        finally:
            os.umask(before)
        self._unix.append(place)

    async def start(self) -> None:
        """Take calls, wherever it listens by now."""
        await self._server.start()
        self.health.start()

    # Stopping

    async def wait(self) -> None:
        """Until it has stopped."""
        await self._stopped.wait()

    def hurry(self) -> None:
        """Stop waiting for anyone."""
        self._hurry.set()

    async def stop(self) -> None:
        """Accept no new calls, let streams say goodbye and calls finish, then cancel the rest."""
        if self._stopped.is_set():
            return
        await self.health.leave()
        self.gateway.stopping.set()
        stopping = asyncio.ensure_future(self._server.stop(self.gateway.settings.drain_s))
        hurry = asyncio.ensure_future(self._hurry.wait())
        await asyncio.wait([stopping, hurry], return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            await self._server.stop(0)
        hurry.cancel()
        await asyncio.gather(stopping, hurry, return_exceptions=True)
        for place in self._unix:
            place.unlink(missing_ok=True)
        await self.gateway.close()
        self._stopped.set()


def _handlers(gateway: Gateway) -> tuple[Any, ...]:
    """Each operation by its name. Messages are bytes here, and to the library all calls stream theirs, which looks the
    same on the wire: so they are read only after the token was checked, and within a time."""
    made: dict[str, dict[str, Any]] = {service: {} for service in SERVICES}
    for method in METHODS.values():
        made[method.service][method.name] = (
            grpc.stream_stream_rpc_method_handler(streaming(gateway, method))
            if method.operation.streams
            else grpc.stream_unary_rpc_method_handler(gateway.unary(method))
        )
    made["SessionService"]["Converse"] = grpc.stream_stream_rpc_method_handler(conversing(gateway))
    return tuple(
        grpc.method_handlers_generic_handler(f"{PACKAGE}.{service}", methods) for service, methods in made.items()
    )


def _options(gateway: Gateway) -> list[tuple[str, int]]:
    settings = gateway.settings
    upload_bytes = gateway.host.limits.upload_bytes + 64 * 1024
    return [
        ("grpc.max_receive_message_length", max(settings.message_bytes, upload_bytes)),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", settings.metadata_bytes),
        ("grpc.absolute_max_metadata_size", 2 * settings.metadata_bytes),
        ("grpc.max_allowed_incoming_connections", min(settings.connections, descriptors_for_connections())),
        ("grpc.max_concurrent_streams", settings.calls_per_connection),
        ("grpc.keepalive_time_ms", round(settings.ping_s * 1_000)),
        ("grpc.keepalive_timeout_ms", round(settings.ping_timeout_s * 1_000)),
        ("grpc.http2.ping_timeout_ms", round(settings.ping_timeout_s * 1_000)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),  # or after two in silence, no ping comes for a minute
        ("grpc.http2.min_recv_ping_interval_without_data_ms", round(settings.shortest_ping_s * 1_000)),
        ("grpc.http2.max_ping_strikes", PING_STRIKES),
        ("grpc.max_connection_idle_ms", round(settings.idle_s * 1_000)),
        ("grpc.server_handshake_timeout_ms", round(HANDSHAKE_S * 1_000)),
        ("grpc.so_reuseport", 0),  # a port that is taken is an error
    ]
