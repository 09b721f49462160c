"""``Gateway``: who calls, and calls of single operations. What streams is in ``streams`` and ``converse``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from urllib.parse import unquote

import grpc

from quarterdeck.gateways.common.authentication import Authentication, token_ended
from quarterdeck.gateways.common.calling import Called, call, check_scope, unexpected
from quarterdeck.gateways.common.streams import Encodings, Form
from quarterdeck.gateways.common.tracing import NAMES, parent_in
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.folding import Preview
from quarterdeck.host.operations import Operation
from quarterdeck.host.requests import Request
from quarterdeck.host.resources import Frame

from .decoding import parsed, request_of
from .encoding import response_of
from .errors import STATUS, refuse
from .events import written
from .methods import Method
from .metrics import Meter
from .settings import Settings

KEY = "idempotency-key"
REPLAYED = ("idempotency-replayed", "true")
UNIX = "unix"


class Gateway:
    """What all calls share."""

    def __init__(self, host: Host, settings: Settings | None = None) -> None:
        self.host = host
        self.settings = settings or Settings()
        self.authentication = Authentication(host, self.settings, via="grpc")
        self.meter = Meter(lambda: self.authentication.refused)
        self.encodings = Encodings(written)
        """Events as bytes, for all who watch."""
        self.events = Form("events", self._written, b"")
        """How those are written that come together."""
        self._piece: Preview | None = None
        """The last one that was written …"""
        self._piece_bytes = b""
        """… and how."""
        self.stopping = asyncio.Event()
        """Set when the server stops: streams say goodbye."""
        self._writing: set[asyncio.Future[Called]] = set()

    def start(self) -> None:
        self.authentication.start()

    async def close(self) -> None:
        """Writes that were begun are finished."""
        await asyncio.gather(*self._writing, return_exceptions=True)
        await self.authentication.close()

    async def caller(self, context: Any) -> Caller:
        """Raises ``HostError``."""
        return await self.authentication.caller(bearer_of(context), address_of(context.peer()))

    def unary(self, method: Method) -> Callable[[Any, Any], Awaitable[bytes]]:
        """The handler of an operation that answers once."""

        async def answered(_: Any, context: Any) -> bytes:
            caller = await self.caller(context)
            check_scope(method.operation, caller)
            with self.authentication.request(caller) as ended:
                data = await self.first_message(context)
                if ended.done():
                    raise token_ended()
            if method.operation.name != "upload":  # which has its own limit
                self.check_size(data)
            request = request_of(method, parsed(method.request, data))
            working = self.called(method.operation, request, caller, _only(context, KEY), trace_of(context))
            if method.operation.name == "wait":
                working = self.authentication.while_valid(caller, working)
            called = await working
            if called.replayed:
                context.set_trailing_metadata((REPLAYED,))
            return response_of(method, called.result)

        return guarded(self.meter, method.name, method.operation, answered)

    async def first_message(self, context: Any) -> bytes:
        """What the call says first. It is read only after the token was checked, and not waited for very long: a call
        without a message would hold its place among all others."""
        try:
            async with asyncio.timeout(self.settings.open_s):
                data = await context.read()
        except TimeoutError:
            limit_s = self.settings.open_s
            raise HostError("invalid", f"No message arrived within {limit_s:g} s.", field="request") from None
        if data is grpc.aio.EOF:
            raise HostError("invalid", "The call has no message.", field="request")
        return bytes(data)

    def _written(self, item: Frame | Preview) -> bytes:
        if type(item) is not Preview:
            return self.encodings.of(item)
        if item is not self._piece:  # all who watch are told it in a row; and a piece is written faster than kept
            self._piece, self._piece_bytes = item, written(item)
        return self._piece_bytes

    def check_size(self, data: bytes) -> None:
        limit = self.settings.message_bytes
        if len(data) > limit:
            raise HostError("too_large", f"Requests are limited to {limit} bytes.", limit_bytes=limit)

    async def called(
        self, operation: Operation, request: Request, caller: Caller, key: str | None, parent: Any
    ) -> Called:
        """A read ends with the call: at its deadline, or when the client cancels. A write that has begun is done."""
        working = call(self.host, operation, request, caller, key, parent)
        return await (self._finished(working) if operation.writes else working)

    async def _finished(self, working: Coroutine[Any, Any, Called]) -> Called:
        writing = asyncio.ensure_future(working)
        self._writing.add(writing)
        writing.add_done_callback(self._forget)
        return await asyncio.shield(writing)

    def _forget(self, writing: asyncio.Future[Called]) -> None:
        self._writing.discard(writing)
        if not writing.cancelled():
            writing.exception()  # the caller may have left


def guarded(
    meter: Meter, method: str, operation: Operation, handle: Callable[[Any, Any], Awaitable[bytes]]
) -> Callable[[Any, Any], Awaitable[bytes]]:
    """What goes wrong becomes a status with the host's code, and every call is counted."""

    async def run(given: Any, context: Any) -> bytes:
        began, code = time.perf_counter(), "CANCELLED"
        meter.under_way += 1
        try:
            try:
                answer = await handle(given, context)
            except HostError as error:
                refused = error
            except Exception as error:
                if context.done():  # the client has left
                    raise
                refused = unexpected(operation, error)
            else:
                code = "OK"
                return answer
            code = STATUS[refused.code].name
        finally:
            meter.under_way -= 1
            meter.answered(method, code, None if operation.streams else time.perf_counter() - began)
        await refuse(context, refused)
        raise AssertionError("a refused call has ended")

    return run


def bearer_of(context: Any) -> str | None:
    """The token in the metadata ``authorization``."""
    word, _, secret = (_only(context, "authorization") or "").partition(" ")
    return secret.strip() or None if word.lower() == "bearer" else None


def trace_of(context: Any) -> Any:
    """What the metadata says about the trace that the call is part of."""
    return parent_in({name: value for name, value in context.invocation_metadata() or () if name in NAMES})


def _only(context: Any, name: str) -> str | None:
    """A value of the metadata. Twice is an error: two readers might choose differently."""
    found = None
    for key, value in context.invocation_metadata() or ():
        if key == name:
            if found is not None:
                raise HostError("invalid", f"The metadata {name} is given twice.", field=name)
            found = value
    return found


def address_of(peer: str) -> str:
    """The IP address of a peer such as ``ipv4:127.0.0.1:5000``, or ``unix``."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else UNIX
