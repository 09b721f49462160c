"""A host served over HTTP in the test's own loop, and a client that sends what it is told, byte for byte if need be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect

from gateways.http.described import CLIENT, SERVER, check, check_event, fits
from host.kit import LIMIT_S, Place
from quarterdeck.gateways.http import Gateway, Server, Settings, messages
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateToken
from quarterdeck.host.resources import Token


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["code"])


@dataclass
class SentEvent:
    """A server-sent event."""

    kind: str = ""
    data: Any = None
    id: str | None = None
    comments: list[str] = field(default_factory=list)


class Client:
    """Over TCP or a Unix socket, a connection for each request."""

    def __init__(self, address: tuple[str, int] | Path, secret: str | None = None, tls: Any = None) -> None:
        self.address = address
        self.secret = secret
        self.tls = tls

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.address, Path):
            return await asyncio.open_unix_connection(str(self.address))
        host, port = self.address
        return await asyncio.open_connection(
            host, port, ssl=self.tls, server_hostname="localhost" if self.tls else None
        )

    @property
    def name(self) -> str:
        return "localhost" if isinstance(self.address, Path) else f"{self.address[0]}:{self.address[1]}"

    def head(self, method: str, path: str, headers: dict[str, str], length: int | None) -> bytes:
        lines = {"Host": self.name, "Connection": "close"}
        if self.secret is not None:
            lines["Authorization"] = f"Bearer {self.secret}"
        if length is not None:
            lines["Content-Length"] = str(length)
        shown = "".join(f"{name}: {value}\r\n" for name, value in {**lines, **headers}.items())
        return f"{method} {path} HTTP/1.1\r\n{shown}\r\n".encode("latin-1")

    async def ask(self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Reply:
        """One request. A body that is not bytes is sent as JSON."""
        more = dict(headers or {})
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        if data:
            more.setdefault("Content-Type", "application/json")
        return await self.raw(self.head(method, path, more, len(data) if data or method != "GET" else None) + data)

    async def raw(self, data: bytes) -> Reply:
        reader, writer = await self.open()
        try:
            writer.write(data)
            await writer.drain()
            return await read_reply(reader)
        finally:
            writer.close()

    async def get(self, path: str, **more: Any) -> Reply:
        return await self.ask("GET", path, **more)

    async def post(self, path: str, body: Any = None, **more: Any) -> Reply:
        return await self.ask("POST", path, body, **more)

    @asynccontextmanager
    async def events(self, path: str, **headers: str) -> AsyncIterator[Stream]:
        reader, writer = await self.open()
        try:
            writer.write(self.head("GET", path, headers, None))
            status, found = await read_head(reader)
            yield Stream(Reply(status, found), reader, path)
        finally:
            writer.close()

    def socket(self, path: str = "/v1/ws", **more: Any) -> connect:
        """A WebSocket, with the token in its header unless ``subprotocols`` says otherwise."""
        headers = {} if self.secret is None else {"Authorization": f"Bearer {self.secret}"}
        more = {"additional_headers": headers, "max_size": None, **more}
        if isinstance(self.address, Path):
            from websockets.asyncio.client import unix_connect

            return unix_connect(str(self.address), f"ws://localhost{path}", **more)
        return connect(f"ws://{self.name}{path}", proxy=None, **more)


class Stream:
    """Server-sent events as they come, each as the description has it."""

    def __init__(self, reply: Reply, reader: asyncio.StreamReader, path: str) -> None:
        self.reply = reply
        self.path = path
        self.reader = reader
        self._text = ""
        self._ended = False

    async def _more(self) -> None:
        size = int((await self.reader.readline()) or b"0", 16)
        self._text += (await self.reader.readexactly(size)).decode()
        await self.reader.readline()
        self._ended = size == 0

    async def next(self) -> SentEvent:
        """The next one; raises ``EOFError`` at the end."""
        while "\n\n" not in self._text:
            if self._ended:
                raise EOFError
            await self._more()
        block, _, self._text = self._text.partition("\n\n")
        event = SentEvent()
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            if name == "":
                event.comments.append(value)
            elif name == "event":
                event.kind = value
            elif name == "id":
                event.id = value
            elif name == "data":
                event.data = json.loads(value)
        if event.kind:
            check_event(self.path, event.kind, event.data)
        return event

    async def until(self, *kinds: str) -> SentEvent:
        while (event := await self.next()).kind not in kinds:
            pass
        return event

    async def rest(self) -> list[SentEvent]:
        found = []
        try:
            while True:
                found.append(await self.next())
        except EOFError:
            return found


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first = await reader.readline()
    assert first, "the connection was closed without an answer"
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    if not line:
        raise EOFError("the connection was closed in the headers")
    return int(first.split()[1]), headers


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    status, headers = await read_head(reader)
    return Reply(status, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


class Messages:
    """What a WebSocket was told, one object at a time, each as the description has it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.sizes: list[int] = []
        """How many objects each message had."""
        self.seen: list[Any] = []
        """Everything that was told."""
        self._waiting: list[Any] = []

    async def say(self, **message: Any) -> None:
        text = json.dumps(message)
        assert fits(CLIENT, message) == is_message(text), f"{text} is described otherwise than it is read"
        await self.socket.send(text)

    async def next(self) -> Any:
        while not self._waiting:
            self._waiting = json.loads(await self.socket.recv())
            for message in self._waiting:
                check(SERVER, message)
            self.sizes.append(len(self._waiting))
            self.seen += self._waiting
        return self._waiting.pop(0)

    async def until(self, *ops: str) -> Any:
        while (message := await self.next())["op"] not in ops:
            pass
        return message

    async def ask(self, **message: Any) -> Any:
        """Say it, and wait for the answer with its ``ref``."""
        await self.say(ref="asked", **message)
        while (answer := await self.next()).get("ref") != "asked" or answer["op"] not in ("ok", "error"):
            pass
        return answer


def is_message(text: str) -> bool:
    try:
        messages.decode(text)
    except msgspec.ValidationError:
        return False
    return True


@dataclass
class Served:
    """A host that takes requests."""

    host: Host
    gateway: Gateway
    server: Server
    tcp: tuple[str, int]
    unix: Path
    admin: Token
    place: Place

    def client(self, secret: str | None = "", *, unix: bool = False) -> Client:
        """As admin, with another token, or (None) without one."""
        return Client(self.unix if unix else self.tcp, self.admin.secret if secret == "" else secret)

    async def token(self, scope: str = "read", **more: Any) -> Token:
        return await self.host.create_token(CreateToken(name=more.pop("name", scope), scope=scope, **more))  # type: ignore[arg-type]

    async def session(self, prompt: str | None = "go", **more: Any) -> str:
        return (await self.place.created(self.host, prompt, **more)).id


@asynccontextmanager
async def served(
    root: Path, settings: Settings | None = None, *, limit_s: float = LIMIT_S, **more: Any
) -> AsyncIterator[Served]:
    place = Place(root, keeper=False)
    place.claude.play(more.pop("turns", ["Done."]))
    async with asyncio.timeout(limit_s), place.opened(limit_s=limit_s, **more) as host:
        admin = await host.create_token(CreateToken(name="admin", scope="admin", may_bypass=True))
        gateway = Gateway(host, settings or Settings())
        async with Server(gateway) as server:
            tcp = await server.listen_tcp("127.0.0.1", 0)
            unix = root / "host.sock"
            await server.listen_unix(unix)
            yield Served(host, gateway, server, tcp, unix, admin, place)
