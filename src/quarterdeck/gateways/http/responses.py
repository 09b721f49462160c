"""Answers: what the host returned as bytes, compressed where it pays, with the headers that every answer has."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cache
from typing import Any

from starlette.types import Receive, Scope, Send

from quarterdeck.host.errors import HostError
from quarterdeck.host.resources import Details, Exported
from quarterdeck.host.whole_text import encode_whole

from .problems import MEDIA_TYPE, STATUS, HttpError, problem_of

JSON = "application/json"
NOTHING_LOADED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
EXPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""A document that was made of what a model said never runs anything, and has no origin."""
ALWAYS: dict[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": NOTHING_LOADED,
}
FOR_DOCUMENTS: dict[str, str] = {
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""What means something only for what a browser shows."""
TLS_ONLY = {"strict-transport-security": "max-age=31536000"}
GZIP_LEVEL = 5
LONG_BYTES = 64 * 1024
"""Compressing more than this takes milliseconds, so a thread does it."""
ONE_WRITE = "quarterdeck.one_write"
"""An extension of ASGI: a function that lets the head of an answer wait for the first part of its body."""
_NO_GZIP = re.compile(r"gzip\s*;\s*q=0(\.0*)?\s*(,|$)")


class HttpAnswer:
    """A whole answer, as an ASGI application."""

    def __init__(
        self, body: bytes, status: int = 200, media_type: str = JSON, headers: Mapping[str, str] | None = None
    ) -> None:
        self.body = body
        self.status = status
        self.media_type = media_type
        self.headers = dict(headers) if headers else {}

    async def compress(self, accepts: str) -> None:
        """With gzip, if the client takes it and it makes the answer smaller. Nobody waits for a long one."""
        if "gzip" not in accepts or _NO_GZIP.search(accepts):
            return
        packed = self.packed() if len(self.body) < LONG_BYTES else await asyncio.to_thread(self.packed)
        if len(packed) < len(self.body):
            self.body = packed
            self.headers["content-encoding"] = "gzip"
        self.headers["vary"] = "accept-encoding"

    def packed(self) -> bytes:
        return gzip.compress(self.body, GZIP_LEVEL, mtime=0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        in_one_write = scope.get("extensions", {}).get(ONE_WRITE)
        if in_one_write is not None:
            in_one_write()
        await send({"type": "http.response.start", "status": self.status, "headers": self._head(scope)})
        await send({"type": "http.response.body", "body": self.body})

    def _head(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        if not self.headers and self.media_type == JSON:  # most of all answers
            always = _JSON_TLS if scope["scheme"] == "https" else _JSON
            return [*always, (b"content-length", b"%d" % len(self.body))]
        headers = {"content-type": self.media_type, "content-length": str(len(self.body)), **self.headers}
        if self.media_type.startswith("text/html"):
            headers |= FOR_DOCUMENTS
        return encoded(scope, headers)


class Fixed(HttpAnswer):
    """An answer that is always the same: it is compressed once, not for everybody who asks without a token."""

    def packed(self) -> bytes:
        return _packed(self.body)


@cache
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)


class StreamedAnswer(HttpAnswer):
    """An answer whose parts are made while they are sent: its length costs no memory."""

    def __init__(self, first: HttpAnswer, rest: AsyncGenerator[bytes, None]) -> None:
        super().__init__(first.body, first.status, first.media_type, first.headers)
        self._rest = rest

    async def compress(self, accepts: str) -> None:
        """It goes as it is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"content-type": self.media_type, **self.headers}
        await send({"type": "http.response.start", "status": self.status, "headers": encoded(scope, headers)})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        async with aclosing(self._rest) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def encoded(scope: Scope, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers that every answer has, and these."""
    always = _ALWAYS_TLS if scope.get("scheme") in ("https", "wss") else _ALWAYS
    own = {name.encode("ascii"): value.encode("latin-1", "replace") for name, value in headers.items()}
    return [*{**always, **own}.items()]


_ALWAYS = {name.encode(): value.encode() for name, value in ALWAYS.items()}
_ALWAYS_TLS = {**_ALWAYS, **{name.encode(): value.encode() for name, value in TLS_ONLY.items()}}
_JSON, _JSON_TLS = (((b"content-type", JSON.encode()), *always.items()) for always in (_ALWAYS, _ALWAYS_TLS))


def answer_of(result: Any, status: int = 200) -> HttpAnswer:
    """What an operation returned. Details are shown as they are; a document is itself."""
    if isinstance(result, Exported):
        ending = {"application/x-ndjson": "ndjson", "text/markdown": "md"}.get(result.media_type.partition(";")[0])
        headers = {
            "content-disposition": f'attachment; filename="session.{ending or "html"}"',
            "content-security-policy": EXPORT_POLICY,
        }
        return HttpAnswer(result.body, status, result.media_type, headers)
    return HttpAnswer(encode(result), status)


def encode(result: Any) -> bytes:
    return encode_whole(result.details if isinstance(result, Details) else result)


def refusal(error: HostError | HttpError) -> HttpAnswer:
    """The error as a document, with what HTTP says about it in headers."""
    if isinstance(error, HttpError):
        told, status, headers = error.error, error.status, error.headers
    else:
        told, status, headers = error, STATUS[error.code], {}
    if told.code == "unauthenticated":
        headers["www-authenticate"] = 'Bearer realm="quarterdeck"'
    if (wait_s := told.details.get("retry_after_s")) is not None:
        headers["retry-after"] = str(max(round(wait_s), 1))
    if status in (408, 413, 431, 503):  # the rest of the request, if there is one, is not read
        headers["connection"] = "close"
    return HttpAnswer(encode_whole(problem_of(told, status)), status, MEDIA_TYPE, headers)
