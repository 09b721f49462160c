"""Clients of a server under load, in a process of their own: as little work per byte as Python allows.

Run as ``python -m benchmarks._children.gateway_clients LOAD JSON``. Says ``ready`` when all of them are connected and
get something, then one JSON object with what they measured. What a server sends is counted, not parsed, except where
the time in it is what is measured.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec

from .client import Figures, percentiles

LIMIT_S = 120.0
FIRST = b'"seq":'
"""In the first frame, which each gets because it asks for one that is there."""


class Setting(msgspec.Struct, kw_only=True):
    """What the parent asks for; each load uses some of it."""

    port: int
    token: str = ""
    kind: str = "websocket"
    path: str = "/v1/ws"
    subscriptions: list[dict[str, Any]] = []
    """Messages that each WebSocket sends first."""
    clients: int = 1
    count: int = 0
    """Of what each of them is to get."""
    counted: str = ""
    """The text by which that is recognised."""
    per_second: int = 0
    prompts: list[str] = []
    """Sessions to be prompted."""


def request(setting: Setting, path: str, *more: str) -> bytes:
    lines = (f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{setting.port}", f"Authorization: Bearer {setting.token}", *more)
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def text_frame(text: str) -> bytes:
    """A WebSocket message of a client: masked, with a mask that changes nothing."""
    data = text.encode()
    size = len(data)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + size.to_bytes(2, "big")
    return b"\x81" + length + b"\0\0\0\0" + data


class Stream(asyncio.Protocol):
    """One connection that is told something. ``arrived`` gets the bytes behind the head."""

    def __init__(self, setting: Setting, arrived: Callable[[bytes], None], opened: Callable[[], None]) -> None:
        self._setting = setting
        self._arrived = arrived
        self._opened = opened
        self._head: bytes | None = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        if self._setting.kind == "websocket":
            key = base64.b64encode(os.urandom(16)).decode()
            more = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}")
            self.transport.write(request(self._setting, self._setting.path, *more, "Sec-WebSocket-Version: 13"))
        else:
            self.transport.write(request(self._setting, self._setting.path))

    def data_received(self, data: bytes) -> None:
        if self._head is None:
            self._arrived(data)
            return
        self._head += data
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if not end:
            return
        if head.split(b" ", 2)[1] not in (b"101", b"200"):
            raise SystemExit(f"the server said {self._head.decode(errors='replace')}")
        self._head = None
        for message in self._setting.subscriptions:
            self.say(message)
        self._opened()
        if rest:
            self._arrived(rest)

    def say(self, message: dict[str, Any]) -> None:
        self.transport.write(text_frame(json.dumps(message)))

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            raise SystemExit(f"a connection broke: {exc}")


async def connected(setting: Setting, arrived: Callable[[bytes], None]) -> Stream:
    opened = asyncio.Event()
    loop = asyncio.get_running_loop()
    _, stream = await loop.create_connection(lambda: Stream(setting, arrived, opened.set), "127.0.0.1", setting.port)
    await opened.wait()
    return stream


class Counter:
    """How often a text has come on one connection, wherever the chunks are cut."""

    def __init__(self, text: bytes, wanted: int, reached: Callable[[], None]) -> None:
        self._text = text
        self._wanted = wanted
        self._reached = reached
        self._rest = b""
        self.count = 0

    def take(self, data: bytes) -> None:
        data = self._rest + data
        before, self.count = self.count, self.count + data.count(self._text)
        self._rest = data[max(data.rfind(self._text) + len(self._text), len(data) - len(self._text) + 1) :]
        if before < self._wanted <= self.count:
            self._reached()


async def streams(setting: Setting) -> Figures:
    """Everyone gets everything."""
    present, done = asyncio.Semaphore(0), asyncio.Semaphore(0)
    connections, counters = [], []
    began_ns = time.monotonic_ns()
    for _ in range(setting.clients):
        first = Counter(FIRST, 1, present.release)
        every = Counter(setting.counted.encode(), setting.count, done.release)
        counters.append(every)

        def arrived(data: bytes, first: Counter = first, every: Counter = every) -> None:
            if not first.count:
                first.take(data)
            every.take(data)

        connections.append(await connected(setting, arrived))
    for _ in connections:
        await present.acquire()
    say_ready()
    for _ in connections:
        await done.acquire()
    done_ns = time.monotonic_ns()
    return {"deliveries": sum(one.count for one in counters), "began_ns": began_ns, "done_ns": done_ns}


class Messages:
    """The WebSocket messages in what comes, as parsed JSON."""

    def __init__(self, take: Callable[[Any], None]) -> None:
        self._take = take
        self._unread = bytearray()

    def arrived(self, data: bytes) -> None:
        unread = self._unread
        unread += data
        while len(unread) >= 2:
            size, start = unread[1] & 0x7F, 2
            if size >= 126:
                start = 4 if size == 126 else 10
                if len(unread) < start:
                    return
                size = int.from_bytes(unread[2:start], "big")
            if len(unread) < start + size:
                return
            if unread[0] & 0x0F in (1, 2):
                self._take(msgspec.json.decode(bytes(unread[start : start + size])))
            del unread[: start + size]


async def late(setting: Setting) -> Figures:
    """How late each line is at a client that watches all sessions on one WebSocket."""
    delays: list[float] = []
    present, ended = set[int](), set[int]()
    ready, done = asyncio.Event(), asyncio.Event()

    def take(items: Any) -> None:
        now = time.monotonic_ns()
        for item in items:
            if item["op"] != "frame":
                continue
            present.add(item["ref"])
            for event in item["events"]:
                kind = event["type"]
                if kind == "text_completed":
                    delays.append((now - int(event["text"])) / 1000)
                elif kind == "status_change" and event["state"] == "idle" and ready.is_set():
                    ended.add(item["ref"])
        if len(present) == len(setting.subscriptions):
            ready.set()
        if len(ended) == len(setting.subscriptions):
            done.set()

    await connected(setting, Messages(take).arrived)
    await ready.wait()
    say_ready()
    await done.wait()
    return percentiles(delays)


async def echo(setting: Setting) -> Figures:
    """There and back, at a steady pace."""
    delays: list[float] = []
    asked: list[int] = []
    done = asyncio.Event()

    def take(_: Any) -> None:
        delays.append((time.monotonic_ns() - asked[len(delays)]) / 1000)
        if len(delays) == setting.count:
            done.set()

    stream = await connected(setting, Messages(take).arrived)
    say_ready()
    began = time.monotonic()
    while len(asked) < setting.count:
        due = min(int((time.monotonic() - began) * setting.per_second), setting.count)
        while len(asked) < due:
            asked.append(time.monotonic_ns())
            stream.say({"op": "ping"})
        await asyncio.sleep(1 / setting.per_second)
    await done.wait()
    return percentiles(delays)


async def first_piece(setting: Setting) -> Figures:
    """From a prompt to the first piece of its answer, one session after the other."""
    delays: list[float] = []
    present: set[int] = set()
    ready, come, idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
    asked = 0

    def take(items: Any) -> None:
        for item in items:
            if item["op"] == "frame":
                present.add(item["ref"])
                if any(one["type"] == "status_change" and one["state"] == "idle" for one in item["events"]):
                    idle.set()
            elif not come.is_set() and any(one["type"] == "text_added" for one in item.get("events", ())):
                delays.append((time.monotonic_ns() - asked) / 1000)
                come.set()
        if len(present) == len(setting.subscriptions):
            ready.set()

    stream = await connected(setting, Messages(take).arrived)
    await ready.wait()
    say_ready()
    for number, session in enumerate(setting.prompts * setting.count):
        come.clear()
        idle.clear()
        asked = time.monotonic_ns()
        stream.say({"op": "send_prompt", "ref": 1_000_000 + number, "session_id": session, "content": "go"})
        await come.wait()
        await idle.wait()
    return percentiles(delays)


class Asking(asyncio.Protocol):
    """Asks the same again and again, the next when the last is answered."""

    def __init__(self, setting: Setting, answered: Callable[[], bool], done: Callable[[], None]) -> None:
        self._request = request(setting, setting.path)
        self._answered = answered
        self._done = done
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self) -> None:
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, end, body = self._got.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the server said {self._got.decode(errors='replace')}")
        self._got = b""
        if self._answered():
            self.ask()
        else:
            self._done()


async def requests(setting: Setting) -> Figures:
    """Several clients, each of which asks when it has its answer."""
    left, done = setting.count, asyncio.Semaphore(0)

    def answered() -> bool:
        nonlocal left
        left -= 1
        return left >= setting.clients

    loop = asyncio.get_running_loop()
    clients = [
        (await loop.create_connection(lambda: Asking(setting, answered, done.release), "127.0.0.1", setting.port))[1]
        for _ in range(setting.clients)
    ]
    say_ready()
    for client in clients:
        client.ask()
    for _ in clients:
        await done.acquire()
    return {"requests": setting.count - left, "done_ns": time.monotonic_ns()}


async def idle(setting: Setting) -> Figures:
    """Connected, and nothing happens until the parent closes our input."""
    present = asyncio.Semaphore(0)
    connections = []
    for _ in range(setting.clients):
        first = Counter(FIRST, 1, present.release)
        connections.append(await connected(setting, first.take))
    for _ in connections:
        await present.acquire()
    say_ready()
    await asyncio.to_thread(sys.stdin.read)
    return {}


def say_ready() -> None:
    print("ready", flush=True)


LOADS: dict[str, Callable[[Setting], Awaitable[Figures]]] = {
    load.__name__: load for load in (streams, late, echo, first_piece, requests, idle)
}


async def run(load: str, setting: Setting) -> Figures:
    asyncio.get_running_loop().set_exception_handler(_give_up)
    async with asyncio.timeout(LIMIT_S):
        return await LOADS[load](setting)


def _give_up(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What fails in a callback would else be waited for in vain."""
    print(context["message"], repr(context.get("exception")), file=sys.stderr, flush=True)
    os._exit(1)


def main() -> None:
    import uvloop

    load, setting = sys.argv[1], msgspec.json.decode(sys.argv[2], type=Setting)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(run(load, setting))), flush=True)


if __name__ == "__main__":
    main()
