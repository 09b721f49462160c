"""A host asked by requests and server-sent events alone, with the methods of ``Host``, for tests of a host.

It knows the table of routes and nothing else. A connection that is cut is opened again: writes with the same key,
streams after the last event that had an id.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Callable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from gateways.http.kit import Client, Reply, SentEvent
from quarterdeck.gateways.http.decoding import path_fields
from quarterdeck.gateways.http.routes import BY_OPERATION, Route
from quarterdeck.host.operations import OPERATIONS, Operation
from quarterdeck.host.requests import Request
from quarterdeck.host.resources import Exported
from quarterdeck.remote.encoding import item_of, result_of
from quarterdeck.remote.errors import error_of

CUT = (OSError, EOFError, ValueError, IndexError, AssertionError)
"""What a connection that ends in the middle of an answer looks like to the test's own client."""
PAUSE_S = 0.02


class RestHost:
    """``Host``, over REST and SSE."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.cuts = 0
        """Connections that were lost before their answer was whole."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in OPERATIONS:
            raise AttributeError(name)
        operation = OPERATIONS[name]

        def ask(request: Request, *, key: str | None = None) -> Any:
            return self._watch(operation, request) if operation.streams else self._call(operation, request, key)

        return ask

    async def close(self) -> None:
        """There is no connection to close."""

    async def _call(self, operation: Operation, request: Request, key: str | None) -> Any:
        headers = {"Idempotency-Key": key or str(uuid.uuid4())} if operation.writes else {}
        route = BY_OPERATION[operation.name]
        path, body, media_type = asked(route, request)
        if media_type:
            headers["Content-Type"] = media_type
        while True:
            try:
                reply = await self._client.ask(route.method, path, body, headers=headers)
                if reply.status < 400:
                    return _result(operation, reply)
                error = error_of(reply.body)
            except CUT:
                self.cuts += 1
                await asyncio.sleep(PAUSE_S)
                continue
            if error is None or error.code != "shutting_down":
                raise error or RuntimeError(f"{reply.status} without a problem: {reply.body!r}")
            await asyncio.sleep(PAUSE_S)

    async def _watch(self, operation: Operation, request: Request) -> AsyncGenerator[Any, None]:
        route = BY_OPERATION[operation.name]
        path, _, _ = asked(route, request)
        last: dict[str, str] = {}
        greeted = False
        while True:
            try:
                async with self._client.events(path, **last) as stream:
                    if stream.reply.status >= 400:
                        size = int(stream.reply.headers["content-length"])
                        raise error_of(await stream.reader.readexactly(size)) or RuntimeError(stream.reply)
                    while True:
                        event = await stream.next()
                        if event.id is not None:
                            last = {"Last-Event-ID": event.id}
                        if event.kind == "error":
                            raise error_of(json.dumps(event.data).encode()) or RuntimeError(event)
                        is_hello = event.kind == "hello"
                        if event.kind and not (is_hello and (greeted or operation.name != "watch_host")):
                            greeted = True
                            yield _item(event)
            except CUT:
                self.cuts += 1
                await asyncio.sleep(PAUSE_S)


def asked(route: Route, request: Request) -> tuple[str, Any, str]:
    """Path with query, body, and the kind of a body that is no JSON."""
    fields: dict[str, Any] = msgspec.to_builtins(request, builtin_types=(bytes,))
    path = route.path
    for name in path_fields(route):
        path = path.replace(f"{{{name}}}", quote(str(fields.pop(name)), safe=""))
    media_type = str(fields.pop("media_type")) if route.raw else ""
    body = fields.pop(route.raw) if route.raw else None
    if route.takes_body and not route.raw:
        return path, fields[route.whole] if route.whole else fields, ""
    query = urlencode({name: _written(value) for name, value in fields.items() if value not in (None, [])})
    return f"{path}?{query}" if query else path, body, media_type


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)


def _result(operation: Operation, reply: Reply) -> Any:
    if operation.returns is Exported:
        return Exported(media_type=reply.headers["content-type"], body=reply.body)
    return result_of(operation, msgspec.Raw(reply.body))


def _item(event: SentEvent) -> Any:
    return item_of((event.kind, msgspec.Raw(json.dumps(event.data).encode())))
