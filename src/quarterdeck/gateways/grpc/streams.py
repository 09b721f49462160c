"""Operations that stream: what came together goes as one response, and who is slow reads the log later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, cast

import msgspec

from quarterdeck.gateways.common.calling import check_scope
from quarterdeck.gateways.common.outbox import Outbox
from quarterdeck.gateways.common.streams import Opened, attending, opened, pump
from quarterdeck.host import Caller, HostError
from quarterdeck.host import requests as takes
from quarterdeck.host.folding import Preview
from quarterdeck.host.resources import Details, Frame

from .decoding import parsed, request_of
from .encoding import message_of, response_of
from .events import cursor, within, written
from .gateway import Gateway, guarded
from .messages import MESSAGES
from .methods import Method
from .shapes import Hello, HostChange


def new_outbox(gateway: Gateway) -> Outbox:
    settings = gateway.settings
    return Outbox(limit_bytes=settings.outbox_bytes, heartbeat_s=settings.stalled_s / 4, stalled_s=settings.stalled_s)


class EventForm:
    """How the events of one session are written for one client."""

    def __init__(self, gateway: Gateway, stream: Opened, *, limit_bytes: int | None, with_json: bool) -> None:
        settings = gateway.settings
        self._encodings = gateway.encodings
        self._epoch = stream.epoch
        self.limit_bytes = settings.event_bytes if limit_bytes is None else limit_bytes
        if not 0 < self.limit_bytes <= settings.largest_event_bytes:
            raise HostError(
                "invalid",
                f"max_event_bytes must be 1 to {settings.largest_event_bytes}.",
                field="max_event_bytes",
            )
        self._with_json = with_json
        self.seq = 0
        """The last row that was written."""
        self._marked = 0
        """The last row that a cursor has named."""

    def __call__(self, item: Frame | Preview) -> bytes:
        if isinstance(item, Frame):
            self.seq = item.seq
        part = written(item, with_json=True) if self._with_json else self._encodings.of(item)
        return part if len(part) <= self.limit_bytes else within(item, self.limit_bytes, with_json=self._with_json)

    def responses(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Responses with these parts, none too large; the last one has the cursor, also of rows that show nothing."""
        batch: list[bytes] = []
        size = 0
        for part in parts:
            if size and size + len(part) > self.limit_bytes:
                yield b"".join(batch)
                batch, size = [], 0
            batch.append(part)
            size += len(part)
        if last := b"".join([*batch, self._taken_cursor()]):
            yield last

    def _taken_cursor(self) -> bytes:
        if self.seq == self._marked:
            return b""
        self._marked = self.seq
        return cursor(self._epoch, self.seq)


class Feed:
    """One open stream to one client: until it leaves, its token ends, the server stops, or there is no more."""

    def __init__(self, gateway: Gateway, caller: Caller, request: takes.Request, stream: Opened) -> None:
        self._gateway = gateway
        self._caller = caller
        self._request = request
        self._stream = stream
        self.outbox = new_outbox(gateway)

    async def run(
        self,
        form: Callable[[Any], bytes],
        write: Callable[[list[bytes]], Awaitable[None]],
        *beside: Awaitable[None],
    ) -> None:
        """Raises ``HostError`` when the host ends it. When what is done ``beside`` it ends, so does the stream."""
        gateway = self._gateway
        with (
            gateway.authentication.stream(self._caller) as ended,
            attending(gateway.host, self._caller, self._request),
        ):
            delivering = asyncio.ensure_future(self.outbox.deliver(write))
            pumping = asyncio.ensure_future(pump(self._stream, self.outbox, lambda batch: map(form, batch)))
            stopping = asyncio.ensure_future(gateway.stopping.wait())
            others = [asyncio.ensure_future(one) for one in beside]
            tasks: list[asyncio.Future[Any]] = [delivering, pumping, stopping, *others]
            try:
                await asyncio.wait([*tasks, ended], return_when=asyncio.FIRST_COMPLETED)
                if self.outbox.stalled:
                    raise HostError("unavailable", "The client read nothing for too long.", hint="Reconnect.")
                if delivering.done():
                    delivering.result()
                self.outbox.close()
                if not pumping.done():
                    pumping.cancel()
                await asyncio.wait([delivering], timeout=gateway.settings.drain_s)
                if ended.done():
                    raise HostError("unauthenticated", "The token is no longer valid.", hint="Use a new one.")
                if stopping.done():
                    raise HostError("shutting_down", "The host is shutting down.", hint="Reconnect.", retry_after_s=2.0)
                for done in (pumping, *others):
                    if done.done() and not done.cancelled():
                        done.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


def streaming(gateway: Gateway, method: Method) -> Callable[[Any, Any], Awaitable[Any]]:
    """The handler of an operation that streams."""

    async def told(data: bytes, context: Any) -> bytes:
        caller = await gateway.caller(context)
        check_scope(method.operation, caller)
        gateway.authentication.check_streams(caller)
        message = parsed(method.request, data)
        if method.operation.name == "watch_session":
            await _watch(gateway, method, message, caller, context)
        else:
            await _tell(gateway, method, request_of(method, message), caller, context)
        return b""

    return guarded(method.operation, told)


async def _watch(gateway: Gateway, method: Method, message: Any, caller: Caller, context: Any) -> None:
    request = cast("takes.WatchSession", request_of(method, message))
    if message.HasField("after_seq"):
        request = await _after_seq(gateway, request, message.after_seq)
    stream = await opened(gateway.host, request, caller)
    limit_bytes = message.max_event_bytes if message.HasField("max_event_bytes") else None
    form = EventForm(gateway, stream, limit_bytes=limit_bytes, with_json=message.with_json)
    await context.write(MESSAGES["WatchSessionResponse"](hello=hello_of(stream, request)).SerializeToString())

    async def write(parts: list[bytes]) -> None:
        for response in form.responses(parts):
            await context.write(response)

    await Feed(gateway, caller, request, stream).run(form, write)


async def _after_seq(gateway: Gateway, request: takes.WatchSession, seq: int) -> takes.WatchSession:
    if request.after is not None or seq < 0:
        raise HostError("invalid", "Give a cursor or a row, not both; a row is 0 or more.", field="after_seq")
    record = await gateway.host.find_session(request.session_id)
    head = None if record is None else await gateway.host.store.head(record.id)
    if head is None:
        raise HostError("not_found", f"There is no session {request.session_id}.")
    return msgspec.structs.replace(request, after=f"{head.epoch}-{seq}")


def hello_of(stream: Opened, request: takes.WatchSession) -> Any:
    """The message ``Hello``."""
    told = stream.hello
    return message_of(
        Hello(
            session_id=told["session"],
            epoch=told["epoch"],
            last_seq=told["last_seq"],
            resumed=request.after is not None and told["resume"] == "ok",
        )
    )


async def _tell(gateway: Gateway, method: Method, request: takes.Request, caller: Caller, context: Any) -> None:
    """One response for each item."""
    stream = await opened(gateway.host, request, caller)
    await context.send_initial_metadata(())
    if "pos" in stream.hello:
        await context.write(response_of(method, HostChange(kind="hello", pos=stream.hello["pos"])))

    def form(item: Any) -> bytes:
        return response_of(method, msgspec.convert(item.details, HostChange) if isinstance(item, Details) else item)

    async def write(parts: list[bytes]) -> None:
        for part in parts:
            await context.write(part)

    await Feed(gateway, caller, request, stream).run(form, write)
