"""``Gateway``: a host as an ASGI application. Finds the route, checks the caller, calls the host, and answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Iterable
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from quarterdeck.gateways.common.authentication import Authentication, token_ended
from quarterdeck.gateways.common.calling import call, check_scope, invalid
from quarterdeck.gateways.common.outbox import Outbox
from quarterdeck.gateways.common.streams import Encodings, Form, Opened, pump
from quarterdeck.gateways.common.tracing import parent_of
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.requests import Export
from quarterdeck.host.resources import Health
from quarterdeck.host.whole_text import encode_whole

from . import documents, metrics, sse, websocket
from .admission import Admission, headers_of
from .bodies import HttpRequest, body_of, read_body
from .credentials import OneTimeCodes, bearer_of, socket_bearer
from .decoding import shape_of
from .problems import HttpError
from .responses import HttpAnswer, StreamedAnswer, answer_of, encode, encoded, refusal
from .routes import ROUTES, SOCKET, Route
from .routing import Paths
from .settings import Settings

LONG = frozenset({"wait"})
"""Operations that are given up when the client leaves or its token ends."""
LOGIN_BYTES = 1_000


class Gateway:
    """All routes of ``routes.ROUTES`` on one host."""

    def __init__(self, host: Host, settings: Settings | None = None) -> None:
        self.host = host
        self.settings = settings or Settings()
        self.admission = Admission(self.settings)
        self.authentication = Authentication(host, self.settings, via="http")
        self.codes = OneTimeCodes(host.now)
        self.meter = metrics.Meter()
        self.other_meters: list[metrics.OtherMeter] = []
        """Of other gateways of this host, which ``/metrics`` shows, too."""
        self.encodings = Encodings(lambda item: encode_whole(item)[1:])
        """Frames without their first brace: their prefix differs by client."""
        self.messages = websocket.shared_messages()
        """Whole messages of WebSockets, for clients that are sent the same at the same moment."""
        self.stopping = asyncio.Event()
        """Set when the gateway stops: streams say goodbye, and new requests are refused."""
        self.sockets: set[websocket.Socket] = set()
        """The WebSockets that are open."""
        self.most_connections = self.settings.connections
        """Fewer where the system allows fewer descriptors."""
        self._paths = Paths(ROUTES)

    def outbox(self, heartbeat: bytes) -> Outbox:
        """For one client; ``heartbeat`` is sent after a period of silence."""
        settings = self.settings
        return Outbox(
            limit_bytes=settings.outbox_bytes,
            heartbeat_s=settings.heartbeat_s,
            stalled_s=settings.stalled_s,
            heartbeat=heartbeat,
        )

    def tell(self, stream: Opened, outbox: Outbox, form: Form) -> Coroutine[Any, Any, None]:
        """Everything from the stream, in this form. Raises ``HostError``."""
        return pump(stream, outbox, lambda batch: self.encodings.parts(batch, form), self.meter.told)

    def say_goodbye(self) -> None:
        """Ask all clients to reconnect."""
        self.stopping.set()
        for one in list(self.sockets):
            one.leave()

    async def __aenter__(self) -> Gateway:
        self.authentication.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.authentication.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)

    # Requests

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, asked = time.perf_counter(), HttpRequest(scope, receive)
        self.meter.under_way += 1
        try:
            application = await self._answered(asked)
        except (HostError, HttpError) as error:
            application = refusal(error)
        finally:
            self.meter.under_way -= 1
        if isinstance(application, HttpAnswer):
            if len(application.body) >= self.settings.compress_bytes:
                await application.compress(asked.header(b"accept-encoding").lower())
            if not asked.body_read and asked.has_body:  # what comes next on this connection is not a request
                application.headers["connection"] = "close"
            self.meter.answered(scope["method"], asked.route, application.status, time.perf_counter() - began)
        await application(scope, receive, send)

    async def _answered(self, asked: HttpRequest) -> Any:
        asked.headers = headers_of(asked.scope["headers"])
        if self.stopping.is_set():
            raise _shutting_down()
        asked.visitor = self.admission.admit(asked.scope, asked.headers)
        asked.path = asked.scope["path"]
        found = self._paths.find(asked.path)
        if found is None:
            return await self._beside(asked)
        routes, asked.in_path = found
        route = routes.get(asked.method)
        if route is None:
            asked.route = next(iter(routes.values())).path
            raise _wrong_method(asked.method, routes)
        asked.route = route.path
        if route.public:
            return await self._health(route, asked)
        caller = await self._caller(asked)
        check_scope(route.operation, caller)
        if route.name == "get_metrics":
            return await metrics.shown(self, caller)
        if route.streams:
            return await sse.open_events(self, route, asked, caller)
        return await self._called(route, asked, caller)

    async def _caller(self, asked: HttpRequest) -> Caller:
        return await self.authentication.caller(bearer_of(asked.headers), asked.visitor.address)

    async def _called(self, route: Route, asked: HttpRequest, caller: Caller) -> HttpAnswer:
        body = b""
        if asked.has_body:
            limit = self.host.limits.upload_bytes if route.raw else self.settings.body_bytes
            with self.authentication.request(caller) as ended:
                body = await body_of(route, asked, limit, self.settings.body_s)
                if ended.done():
                    raise token_ended()
        request = shape_of(route).request(
            asked.in_path, asked.scope["query_string"], body, asked.header(b"content-type") if route.raw else ""
        )
        key = asked.header(b"idempotency-key") if b"idempotency-key" in asked.headers else None
        working = call(self.host, route.operation, request, caller, key, parent_of(asked.headers))
        if route.name in LONG:
            working = _while_there(self.authentication.while_valid(caller, working), asked.receive)
        called = await working
        answer = answer_of(called.result, route.status)
        if type(request) is Export and called.result.next_cursor is not None:
            answer = StreamedAnswer(answer, self._rest_of(request, called.result.next_cursor, caller))
        if called.replayed:
            answer.headers["idempotency-replayed"] = "true"
        return answer

    async def _rest_of(self, request: Export, cursor: str | None, caller: Caller) -> AsyncGenerator[bytes, None]:
        """The further parts of an export."""
        with self.authentication.request(caller) as ended:
            while cursor is not None:
                part = await self.host.export_session(msgspec.structs.replace(request, cursor=cursor), caller)
                if ended.done():
                    raise token_ended()
                yield part.body
                cursor = part.next_cursor

    # Besides the operations

    async def _health(self, route: Route, asked: HttpRequest) -> HttpAnswer:
        """Without a token only whether it is healthy; with one also why not. ``/healthz`` is about the
        process alone."""
        caller = None if bearer_of(asked.headers) is None else await self._caller(asked)
        probe = caller or Caller(name="probe", via="http", scope="read", may_bypass=False)
        health: Health = (await call(self.host, route.operation, route.operation.takes(), probe)).result
        shown = health if caller is not None else Health(ready=health.ready)
        return HttpAnswer(encode(shown), 503 if route.path == "/readyz" and not health.ready else 200)

    async def _beside(self, asked: HttpRequest) -> HttpAnswer:
        path, method = asked.path, asked.method
        if path == documents.LOGIN:
            asked.route = path
            if method != "POST":
                raise _wrong_method(method, ["POST"])
            return await self._login(asked)
        if path == SOCKET and method == "GET":
            raise HttpError(426, "invalid", "This path is for WebSockets.", headers={"upgrade": "websocket"})
        answer = documents.page(path, self.settings.base_path, asked.header(b"if-none-match"))
        if answer is None:
            raise HostError("not_found", "There is nothing at this path.", hint="/openapi.json lists all paths.")
        asked.route = path
        if method != "GET":
            raise _wrong_method(method, ["GET"])
        return answer

    async def _login(self, asked: HttpRequest) -> HttpAnswer:
        """A code that was shown once becomes a token, which the page keeps in memory."""
        try:
            given = msgspec.json.decode(await read_body(asked, LOGIN_BYTES, self.settings.body_s), type=documents.Login)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise invalid(error) from error
        caller = self.codes.redeem(given.code)
        if caller is None:
            await self.authentication.failed(asked.visitor.address, given=True)
            raise HostError("unauthenticated", "This code is not valid.", hint="A code works once, for a minute.")
        return answer_of(await self.host.create_token(documents.page_token(caller), caller), 201)

    # WebSockets

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            headers = headers_of(scope["headers"])
            if self.stopping.is_set():
                raise _shutting_down()
            visitor = self.admission.admit(scope, headers)
            if scope["path"] != SOCKET:
                raise HostError("not_found", f"WebSockets are at {SOCKET}.")
            secret = bearer_of(headers) or socket_bearer(scope["subprotocols"])
            caller = await self.authentication.caller(secret, visitor.address)
            del headers, visitor, secret  # it may stay open for long
            with self.authentication.stream(caller) as ended:
                await websocket.Socket(self, caller, ended, receive, send).serve(scope)
        except (HostError, HttpError) as error:
            await _denied(refusal(error), scope, send)


def _wrong_method(method: str, allowed: Iterable[str]) -> HttpError:
    names = ", ".join(sorted(allowed))
    return HttpError(405, "invalid", f"{method} is not allowed here; use {names}.", headers={"allow": names})


def _shutting_down() -> HostError:
    return HostError("shutting_down", "The host is shutting down.", hint="Reconnect in a moment.", retry_after_s=2.0)


async def _while_there(working: Any, receive: Receive) -> Any:
    """Until it is done or the client has left."""
    doing, leaving = asyncio.ensure_future(working), asyncio.ensure_future(sse.left(receive))
    try:
        await asyncio.wait([doing, leaving], return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise HttpError(400, "invalid", "The client has left.")
    finally:
        for task in (doing, leaving):
            task.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)


async def _denied(answer: HttpAnswer, scope: Scope, send: Send) -> None:
    """A WebSocket that is refused gets the same document as a request."""
    headers = encoded(scope, {"content-type": answer.media_type, **answer.headers})
    await send({"type": "websocket.http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": answer.body})
