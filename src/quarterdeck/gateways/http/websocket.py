"""One WebSocket for everything: operations by name, many subscriptions, and several frames in one message."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.types import Receive, Scope, Send

from quarterdeck.gateways.common.authentication import token_ended
from quarterdeck.gateways.common.calling import call, check_scope, check_texts, invalid
from quarterdeck.gateways.common.streams import Encodings, Form, attending, kind_of, opened, shown
from quarterdeck.gateways.common.tracing import parent_in
from quarterdeck.host import Caller, HostError
from quarterdeck.host.requests import Request
from quarterdeck.host.resources import Details, Exported
from quarterdeck.host.status_operations import API_VERSION
from quarterdeck.host.whole_text import encode_whole

from . import messages
from .connections import FRAMES, text_frame
from .credentials import SOCKET_PROTOCOL
from .problems import problem_of
from .responses import encoded
from .routes import Route

if TYPE_CHECKING:
    from .app import Gateway

HEARTBEAT = b'{"op":"ping"}'
LARGE_BYTES = 4 * 1024
RESTART, POLICY, STALLED = 1012, 1008, 1013
NEVER_WAIT = frozenset({"wait", "answer_callback", "decide", "decide_many", "interrupt", "stop", "stop_task"})
"""Operations that take no turn: one takes as long as others please, the rest is what commands may be waiting for."""


class _QueuedCommand(msgspec.Struct, frozen=True):
    """An operation that waits for its turn."""

    route: Route
    request: Request
    ref: messages.Ref
    key: str | None
    parent: Any
    """The trace's context that the client sent."""
    size: int


class Socket:
    """One connection. Many are open for long while little happens, so an idle one has few tasks and keeps little."""

    __slots__ = (
        *("_busy", "_caller", "_commands", "_ended", "_gateway", "_outbox", "_reading", "_receive", "_send"),
        *("_subscriptions", "_takes_frames", "_waiting", "_waiting_bytes", "__weakref__"),
    )

    def __init__(
        self,
        gateway: Gateway,
        caller: Caller,
        ended: asyncio.Future[None],
        receive: Receive,
        send: Send,
    ) -> None:
        self._gateway = gateway
        self._caller = caller
        self._ended = ended
        self._receive = receive
        self._send = send
        self._outbox = gateway.outbox(HEARTBEAT)
        self._subscriptions: dict[messages.Name, asyncio.Task[None]] = {}
        self._commands: set[asyncio.Task[None]] = set()
        self._busy = 0
        """How many of them take their turn."""
        self._waiting: list[_QueuedCommand] = []
        self._waiting_bytes = 0
        self._reading: asyncio.Task[None] | None = None
        """Set while it waits for the client."""
        self._takes_frames = False

    async def serve(self, scope: Scope) -> None:
        """Until one side leaves, the token ends, or the gateway stops."""
        await self._send(_accepted(scope))
        self._takes_frames = FRAMES in scope.get("extensions", ())
        heartbeat_s = self._gateway.settings.heartbeat_s
        self._say({"op": "hello", "api_version": API_VERSION, "heartbeat_s": heartbeat_s, "name": self._caller.name})
        delivering = asyncio.ensure_future(self._outbox.deliver(self._write))
        self._gateway.meter.opened("websocket", self._outbox)
        self._gateway.sockets.add(self)
        try:
            code, reason = await self._until_over(delivering)
        finally:
            self._gateway.sockets.discard(self)
            self._gateway.meter.closed(self._outbox)
            tasks = [delivering, *self._subscriptions.values(), *self._commands]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if code:
            await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _until_over(self, delivering: asyncio.Future[None]) -> tuple[int, str]:
        """The code to close with; 0: the client has left."""
        task = self._reading = asyncio.current_task()
        for end in (delivering, self._ended):
            end.add_done_callback(self.leave)
        if self._gateway.stopping.is_set():
            self.leave()
        try:
            await self._read()
        except asyncio.CancelledError:
            if self._reading is not None or task is None or task.uncancel():  # not by ``leave``, or not only
                raise
        else:
            return 0, ""
        finally:
            self._reading = None
        if delivering.done():
            return (STALLED, "too slow") if self._outbox.stalled else (0, "")
        return await self._say_goodbye(delivering)

    def leave(self, _: object = None) -> None:
        """Wait for the client no longer: the token or the gateway ends, or nobody takes what is sent."""
        if self._reading is not None:
            task, self._reading = self._reading, None
            task.cancel()

    async def _say_goodbye(self, delivering: asyncio.Future[None]) -> tuple[int, str]:
        for task in self._subscriptions.values():
            task.cancel()
        if self._ended.done():
            error = token_ended()
        else:
            error = HostError(
                "shutting_down", "The host is shutting down.", hint="Reconnect in a moment.", retry_after_s=1.0
            )
            await asyncio.wait([*self._commands, asyncio.ensure_future(asyncio.sleep(0))], timeout=2.0)
        self._outbox.close(msgspec.json.encode({"op": "error", "ref": None, **problem_of(error)}))
        await asyncio.wait([delivering], timeout=2.0)
        return (POLICY, "unauthenticated") if self._ended.done() else (RESTART, "come back")

    async def _write(self, parts: list[bytes]) -> None:
        if self._takes_frames:
            await self._send({"type": "websocket.send", FRAMES: _messages(parts, self._gateway.messages)})
        else:
            await self._send({"type": "websocket.send", "text": _together(parts).decode()})

    def _say(self, message: dict[str, Any]) -> None:
        self._outbox.put(encode_whole(message))

    # What the client asks

    async def _read(self) -> None:
        while True:
            received = await self._receive()
            if received["type"] == "websocket.disconnect":
                return
            await self._outbox.room()
            await self._gateway.authentication.pace(self._caller)
            self._take(received.get("text") or received.get("bytes") or b"")
            settings = self._gateway.settings
            while len(self._waiting) >= settings.waiting_commands or self._waiting_bytes >= settings.message_bytes:
                await asyncio.wait(self._commands, return_when=asyncio.FIRST_COMPLETED)

    def _take(self, text: str | bytes) -> None:
        try:
            message = messages.decode(text)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            self._fail(_ref_of(text), invalid(error))
            return
        match message:
            case messages.Ping():
                self._say({"op": "ok", "ref": message.ref})
            case messages.Unsubscribe():
                self._unsubscribe(message.ref)
            case messages.Subscribe():
                self._attempt(message.ref, lambda: self._subscribe(message.ref, message.request()))
            case _:
                self._attempt(message.ref, lambda: self._command(message, len(text)))

    def _attempt(self, ref: messages.Ref, doing: Any) -> None:
        try:
            doing()
        except msgspec.ValidationError as error:
            self._fail(ref, invalid(error))
        except HostError as error:
            self._fail(ref, error)

    def _fail(self, ref: messages.Ref, error: HostError) -> None:
        self._say({"op": "error", "ref": ref, **problem_of(error)})

    # Operations

    def _command(self, message: Any, size: int) -> None:
        route, request = messages.request_of(message)
        check_texts(request)
        check_scope(route.operation, self._caller)
        if route.streams:
            if message.ref is None:
                raise HostError("invalid", "A subscription needs a ref.", field="ref")
            self._subscribe(message.ref, request)
            return
        command = _QueuedCommand(route, request, message.ref, message.idempotency_key, parent_in(message.trace), size)
        settings = self._gateway.settings
        if route.name in NEVER_WAIT:
            if len(self._commands) - self._busy >= settings.subscriptions:
                raise HostError("rate_limited", "This connection has too many pending calls.", retry_after_s=1.0)
            self._begin(command)
        elif self._busy < settings.commands:
            self._busy += 1
            self._begin(command).add_done_callback(self._next)
        else:
            self._waiting.append(command)
            self._waiting_bytes += size

    def _begin(self, command: _QueuedCommand) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._called(command))
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return task

    def _next(self, ended: asyncio.Task[None]) -> None:
        """One command has ended; the next one begins, unless all of them are being ended."""
        if self._waiting and not ended.cancelled():
            command = self._waiting.pop(0)
            self._waiting_bytes -= command.size
            self._begin(command).add_done_callback(self._next)
        else:
            self._busy -= 1

    async def _called(self, command: _QueuedCommand) -> None:
        operation, ref = command.route.operation, command.ref
        try:
            called = await call(
                self._gateway.host, operation, command.request, self._caller, command.key, command.parent
            )
        except HostError as error:
            self._fail(ref, error)
            return
        result = called.result
        answer: dict[str, Any] = {"op": "ok", "ref": ref, "result": _shown(result)}
        if called.replayed:
            answer["idempotency_replayed"] = True
        self._say(answer)

    # Subscriptions

    def _subscribe(self, ref: messages.Name, request: Request) -> None:
        if ref in self._subscriptions:
            raise HostError(
                "conflict", f"The subscription {ref!r} already exists.", hint="Choose another ref.", field="ref"
            )
        if len(self._subscriptions) >= self._gateway.settings.subscriptions:
            raise HostError("rate_limited", "This connection has too many subscriptions.", retry_after_s=1.0)
        self._subscriptions[ref] = asyncio.ensure_future(self._told(ref, request))

    def _unsubscribe(self, ref: messages.Name) -> None:
        task = self._subscriptions.pop(ref, None)
        if task is None:
            self._fail(ref, HostError("not_found", f"There is no subscription {ref!r}.", field="ref"))
            return
        task.cancel()
        self._say({"op": "ok", "ref": ref})

    async def _told(self, ref: messages.Name, request: Request) -> None:
        gateway, named = self._gateway, b',"ref":' + msgspec.json.encode(ref)

        def form(item: Any) -> bytes:
            kind = kind_of(item)
            if kind in ("frame", "preview"):
                return b'{"op":"%b"%b,%b' % (kind.encode(), named, gateway.encodings.of(item))
            told = encode_whole(shown(item))
            return b'{"op":"%b"%b,%b' % (kind.encode(), named, told[1:])

        try:
            stream = await opened(gateway.host, request, self._caller)
            self._say({"op": "hello", "ref": ref, **stream.hello})
            with attending(gateway.host, self._caller, request):
                await gateway.tell(stream, self._outbox, Form(f"websocket {ref!r}", form, b","))
            self._say({"op": "end", "ref": ref})
        except HostError as error:
            self._fail(ref, error)
        self._subscriptions.pop(ref, None)


def shared_messages() -> Encodings:
    """Only for a moment: those who come later are told more at once."""
    return Encodings(lambda part: text_frame(_together([part])), kept=256, kept_bytes=1024 * 1024)


def _together(parts: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(parts) + b"]"


def _messages(parts: Sequence[bytes], shared: Encodings) -> list[bytes]:
    """What came together is one message, except that a large part is one by itself: others are told the same part."""
    if len(parts) == 1:
        return [shared.of(parts[0])]
    messages: list[bytes] = []
    small: list[bytes] = []
    for part in parts:
        if len(part) < LARGE_BYTES:
            small.append(part)
            continue
        if small:
            messages.append(text_frame(_together(small)))
            small = []
        messages.append(shared.of(part))
    if small:
        messages.append(text_frame(_together(small)))
    return messages


def _accepted(scope: Scope) -> dict[str, Any]:
    accepted: dict[str, Any] = {"type": "websocket.accept", "headers": encoded(scope, {})}
    return {**accepted, "subprotocol": SOCKET_PROTOCOL} if SOCKET_PROTOCOL in scope["subprotocols"] else accepted


def _shown(result: Any) -> Any:
    if isinstance(result, Details):
        return result.details
    if isinstance(result, Exported):
        shown = {"media_type": result.media_type, "body": result.body.decode(errors="replace")}
        return shown if result.next_cursor is None else {**shown, "next_cursor": result.next_cursor}
    return result


class _Named(msgspec.Struct):
    ref: messages.Ref = None


def _ref_of(text: str | bytes) -> messages.Ref:
    """Of a message that cannot be read otherwise."""
    try:
        return msgspec.json.decode(text, type=_Named).ref
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
