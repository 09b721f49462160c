"""Bytes that are hardly HTTP, and frames that are hardly WebSocket: each is answered or closed, and nothing is held."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gateways.http.kit import Client, Served, served
from quarterdeck.gateways.http import Settings

HOST = "Host: localhost\r\n"
SOCKET = f"GET /v1/ws HTTP/1.1\r\n{HOST}"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
REQUESTS: dict[str, tuple[str | bytes, int]] = {
    "no path": (f"OPTIONS * HTTP/1.1\r\n{HOST}\r\n", 400),
    "a tunnel": (f"CONNECT elsewhere:443 HTTP/1.1\r\n{HOST}\r\n", 400),
    "HTTP/2": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "an unknown version": (f"GET /healthz HTTP/3.7\r\n{HOST}\r\n", 400),
    "no version": ("GET /healthz\r\n\r\n", 421),
    "no host": ("GET /healthz HTTP/1.1\r\n\r\n", 421),
    "an unknown method": (f"BREW /healthz HTTP/1.1\r\n{HOST}\r\n", 400),
    "a path with a space": (f"GET /heal thz HTTP/1.1\r\n{HOST}\r\n", 400),
    "a path that is not ASCII": (f"GET /é HTTP/1.1\r\n{HOST}\r\n", 400),
    "a folded header": (f"GET /healthz HTTP/1.1\r\n{HOST}X: a\r\n b\r\n\r\n", 400),
    "a NUL": (f"GET /healthz HTTP/1.1\r\n{HOST}X: a\0b\r\n\r\n", 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200, 400),
    "everything": (bytes(range(256)) * 4, 400),
    "nothing": (b"", 408),
    "half of a line": ("GET /heal", 408),
    "a length without end": (f"POST /v1/login HTTP/1.1\r\n{HOST}Content-Length: {'9' * 30}\r\n\r\n", 400),
    "a body that does not come": (f"POST /v1/login HTTP/1.1\r\n{HOST}Content-Length: 10\r\n\r\n{{}}", 408),
    "a WebSocket with a body": (f"{SOCKET}{UPGRADE}Content-Length: 5\r\n\r\nhello", 400),
    "a WebSocket in chunks": (
        f"GET /v1/ws HTTP/1.1\r\n{HOST}{UPGRADE}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "a WebSocket without a key": (
        f"GET /v1/ws HTTP/1.1\r\n{HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        400,
    ),
    "a WebSocket by another method": (f"POST /v1/ws HTTP/1.1\r\n{HOST}{UPGRADE}Content-Length: 0\r\n\r\n", 405),
    "a WebSocket without a token": (f"{SOCKET}{UPGRADE}\r\n", 401),
    "a WebSocket elsewhere": (f"GET /healthz HTTP/1.1\r\n{HOST}{UPGRADE}\r\n", 404),
}


def frame(opcode: int, data: bytes = b"", *, first: int = 0x80, mask: int = 0x80, length: bytes | None = None) -> bytes:
    """Of a client, with a mask that changes nothing."""
    size = bytes([mask | len(data)]) if length is None else bytes([mask | 127]) + length
    return bytes([first | opcode]) + size + (b"\0\0\0\0" if mask else b"") + data


FRAMES: dict[str, tuple[bytes, int]] = {
    "no mask": (frame(1, b"{}", mask=0), 1002),
    "a reserved bit": (frame(1, b"{}", first=0xC0), 1002),
    "an unknown kind": (frame(3, b"x"), 1002),
    "the middle of nothing": (frame(0, b"x"), 1002),
    "a message within a message": (frame(1, b"{", first=0) + frame(1, b"{}"), 1002),
    "half a ping": (frame(9, b"x", first=0), 1002),
    "more than there is": (frame(1, b"x", length=(2**63).to_bytes(8, "big")), 1009),
    "more than is taken": (frame(1, b"x", length=(2**25).to_bytes(8, "big")), 1009),
    "text that is none": (frame(1, b"\xff\xfe"), 1007),
    "half of a code": (frame(8, b"\x03"), 1002),
    "a code that is none": (frame(8, (999).to_bytes(2, "big")), 1002),
}


async def everything(client: Client, data: bytes) -> bytes:
    """What is said until the other side closes the connection."""
    reader, writer = await client.open()
    try:
        writer.write(data)
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def let_go(there: Served) -> None:
    """Until no connection is left."""
    while there.gateway.meter.connections:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def test_what_is_hardly_a_request_is_answered_and_its_connection_closed(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(header_s=0.5, body_s=0.5, keep_alive_s=0.5)) as there:
        nobody = there.client(None)
        sent = [data.encode() if isinstance(data, str) else data for data, _ in REQUESTS.values()]
        answers = await asyncio.gather(*(everything(nobody, data) for data in sent))
        said = {name: int(answer.split()[1]) for name, answer in zip(REQUESTS, answers, strict=True)}
        assert said == {name: status for name, (_, status) in REQUESTS.items()}
        await let_go(there)


async def test_what_is_hardly_a_message_closes_the_websocket(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        opening = f"GET /v1/ws HTTP/1.1\r\n{HOST}Authorization: Bearer {there.admin.secret}\r\n{UPGRADE}\r\n"

        async def closed_with(sent: bytes) -> int:
            reader, writer = await there.client().open()
            writer.write(opening.encode())
            await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)
            close = (await reader.read()).rpartition(b"\x88")[2]
            writer.close()
            return int.from_bytes(close[1:3], "big")

        codes = await asyncio.gather(*(closed_with(sent) for sent, _ in FRAMES.values()))
        assert dict(zip(FRAMES, codes, strict=True)) == {name: code for name, (_, code) in FRAMES.items()}
        await let_go(there)
