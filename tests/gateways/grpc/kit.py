"""A host served over gRPC in the test's own loop, and clients of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from host.kit import LIMIT_S, Place
from quarterdeck.gateways.grpc import Server, Settings
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS, PACKAGE
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateToken
from quarterdeck.host.resources import Token

UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Client:
    """One channel, with a token or without."""

    def __init__(self, channel: grpc.aio.Channel, secret: str | None) -> None:
        self.channel = channel
        self.metadata: tuple[tuple[str, str], ...] = ()
        if secret is not None:
            self.metadata = (("authorization", f"Bearer {secret}"),)

    def call(self, operation: str, data: bytes | None = None, *, key: str | None = None, **more: Any) -> Any:
        """An operation by its name, with the fields of its request, or with these bytes."""
        method = METHODS[operation]
        metadata = (*self.metadata, *(() if key is None else (("idempotency-key", key),)), *more.pop("metadata", ()))
        settings = {"metadata": metadata, "timeout": more.pop("timeout", None)}
        stub = self.channel.unary_stream if method.operation.streams else self.channel.unary_unary
        read = MESSAGES[method.response].FromString
        given = MESSAGES[method.request](**more).SerializeToString() if data is None else data
        return stub(method.path, response_deserializer=read)(given, **settings)

    async def ask(self, operation: str, **more: Any) -> Any:
        return await self.call(operation, **more)

    def converse(self, timeout: float | None = None) -> Any:
        stub = self.channel.stream_stream(
            f"/{PACKAGE}.SessionService/Converse",
            request_serializer=MESSAGES["ConverseRequest"].SerializeToString,
            response_deserializer=MESSAGES["ConverseResponse"].FromString,
        )
        return stub(metadata=self.metadata, timeout=timeout)

    def watch(self, session: str, **more: Any) -> Any:
        return self.call("watch_session", session_id=session, **more)


class Watching:
    """Events of a stream, one at a time; all that were seen are kept."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.seen: list[Any] = []
        self.hello: Any = None
        self.cursor = ""
        self.sizes: list[int] = []
        """How many events each response had."""
        self._waiting: list[Any] = []

    async def next(self) -> Any:
        """The next event; raises ``EOFError`` at the end."""
        while not self._waiting:
            response = await self.stream.read()
            if response is grpc.aio.EOF:
                raise EOFError
            self.take(response)
        return self._waiting.pop(0)

    def take(self, response: Any) -> None:
        if response.HasField("hello"):
            self.hello = response.hello
        self.cursor = response.cursor or self.cursor
        self.sizes.append(len(response.events))
        self.seen += response.events
        self._waiting += response.events

    async def until(self, kind: str, **fields: Any) -> Any:
        """The next event of this kind with these values."""
        while True:
            event = await self.next()
            if event.WhichOneof("event") == kind:
                body = getattr(event, kind)
                if all(getattr(body, name) == value for name, value in fields.items()):
                    return event

    @property
    def kinds(self) -> list[str]:
        return [event.WhichOneof("event") for event in self.seen]


@dataclass
class Served:
    """A host that takes calls."""

    host: Host
    server: Server
    address: str
    unix: str
    admin: Token
    place: Place
    channels: list[grpc.aio.Channel]

    def client(
        self, secret: str | None = "", *, address: str | None = None, settings: tuple[tuple[str, int], ...] = ()
    ) -> Client:
        """As admin, with another token, or (None) without one; each has a connection of its own, with these settings
        of gRPC."""
        options = [*UNLIMITED, ("grpc.use_local_subchannel_pool", 1), *settings]
        channel = grpc.aio.insecure_channel(address or self.address, options=options)
        self.channels.append(channel)
        return Client(channel, self.admin.secret if secret == "" else secret)

    async def token(self, scope: str = "read", **more: Any) -> Token:
        return await self.host.create_token(CreateToken(name=more.pop("name", scope), scope=scope, **more))  # type: ignore[arg-type]

    async def session(self, prompt: str | None = "go", **more: Any) -> str:
        return (await self.place.created(self.host, prompt, **more)).id


@asynccontextmanager
async def served(root: Path, settings: Settings | None = None, **more: Any) -> AsyncIterator[Served]:
    place = Place(root, keeper=more.pop("keeper", False))
    place.claude.play(more.pop("turns", ["Done."]))
    async with asyncio.timeout(LIMIT_S), place.opened(**more) as host, serving(host, root, settings) as (server, tcp):
        admin = await host.create_token(CreateToken(name="admin", scope="admin", may_bypass=True))
        there = Served(host, server, tcp, f"unix:{root / 'grpc.sock'}", admin, place, [])
        try:
            yield there
        finally:
            for channel in there.channels:
                await channel.close()


@asynccontextmanager
async def serving(host: Host, root: Path, settings: Settings | None = None) -> AsyncIterator[tuple[Server, str]]:
    async with Server(host, settings) as server:
        tcp = server.listen("127.0.0.1:0")
        server.listen(f"unix:{root / 'grpc.sock'}")
        await server.start()
        yield server, tcp


def info_of(error: grpc.aio.AioRpcError) -> ErrorInfo:
    """What the host says about a refused call."""
    return _detail(error, ErrorInfo())


def retry_of(error: grpc.aio.AioRpcError) -> RetryInfo:
    return _detail(error, RetryInfo())


def _detail(error: grpc.aio.AioRpcError, wanted: Any) -> Any:
    for packed in _details(error):
        if packed.Unpack(wanted):
            return wanted
    raise AssertionError(f"no {type(wanted).__name__} in {error!r}")


def _details(error: grpc.aio.AioRpcError) -> Iterator[Any]:
    for name, value in error.trailing_metadata() or ():
        if name == "grpc-status-details-bin":
            yield from Status.FromString(value).details


async def refused(call: Any) -> tuple[str, str]:
    """The status and the code of a call that must not succeed."""
    try:
        if isinstance(call, grpc.aio.UnaryStreamCall | grpc.aio.StreamStreamCall):
            while await call.read() is not grpc.aio.EOF:
                pass
            await call
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return error.code().name, info_of(error).reason
    raise AssertionError("it was not refused")
