"""One request as it comes in, and its body: not too long, not too slow, not compressed, of the right kind."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope

from quarterdeck.host.errors import HostError

from .admission import NOBODY
from .problems import HttpError
from .routes import Route

SLOWEST_BYTES_PER_S = 16 * 1024
"""Extra time for bodies that may be long."""


class HttpRequest:
    """A request, as far as it has been looked at."""

    __slots__ = ("body_read", "headers", "in_path", "method", "path", "receive", "route", "scope", "visitor")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[bytes, bytes] = {}
        self.visitor = NOBODY
        self.in_path: dict[str, str] = {}
        self.route = "none"
        """Its path in the table, for the metrics."""
        self.body_read = False

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    @property
    def has_body(self) -> bool:
        headers = self.headers or dict(self.scope["headers"])  # not read if two contradict each other
        return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def body_of(route: Route, asked: HttpRequest, limit: int, limit_s: float) -> bytes:
    """The body of a request to this route. Raises ``HostError`` or ``HttpError``."""
    if asked.header(b"content-encoding").lower() not in ("", "identity"):
        raise HttpError(415, "invalid", "Compressed requests are not supported.", field="Content-Encoding")
    body = await read_body(asked, limit if route.takes_body else 0, limit_s)
    kind = asked.header(b"content-type").partition(";")[0].strip().lower()
    if body and not route.raw and kind != "application/json":
        raise HttpError(415, "invalid", "The body must be application/json.", field="Content-Type")
    return body


async def read_body(asked: HttpRequest, limit: int, limit_s: float) -> bytes:
    """All of it, unless it is too long or too slow."""
    told = int(asked.header(b"content-length") or 0)
    if told > limit:
        raise _too_large(limit)
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(limit_s + told / SLOWEST_BYTES_PER_S):
            while more:
                message = await asked.receive()
                if message["type"] == "http.disconnect":
                    raise HttpError(400, "invalid", "The body is incomplete.")
                part, more = message.get("body", b""), message.get("more_body", False)
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise _too_large(limit)
    except TimeoutError:
        raise HttpError(408, "invalid", "The body arrived too slowly.") from None
    asked.body_read = True
    return b"".join(parts)


def _too_large(limit: int) -> HostError:
    return HostError("too_large", f"The request body is limited to {limit} bytes.", limit_bytes=limit)
