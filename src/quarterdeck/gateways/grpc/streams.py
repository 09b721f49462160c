"""Streaming operations: events that arrive together go as one response, and slow readers read the log later."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

import msgspec

from quarterdeck.gateways.common.authentication import token_ended
from quarterdeck.gateways.common.calling import check_scope, unexpected
from quarterdeck.gateways.common.streams import Opened, attending, opened
from quarterdeck.host import Caller, HostError
from quarterdeck.host import requests as takes
from quarterdeck.host.folding import Preview
from quarterdeck.host.operations import OPERATIONS
from quarterdeck.host.resources import Details, Frame

from .decoding import parsed, request_of
from .encoding import message_of, response_of
from .events import cursor, within, written
from .gateway import Gateway, guarded
from .line import Line
from .messages import MESSAGES
from .methods import Method
from .shapes import Hello, HostChange


class EventForm:
    """How the events of one session are written for one client."""

    def __init__(self, gateway: Gateway, stream: Opened, *, limit_bytes: int | None, with_json: bool) -> None:
        settings = gateway.settings
        self._encodings, self._together = gateway.encodings, gateway.events
        self._epoch = stream.epoch
        self.limit_bytes = settings.event_bytes if limit_bytes is None else limit_bytes
        if not 0 < self.limit_bytes <= settings.largest_event_bytes:
            raise HostError(
                "invalid",
                f"max_event_bytes must be 1 to {settings.largest_event_bytes}.",
                field="max_event_bytes",
            )
        self._with_json = with_json
        self._one: Callable[[Frame | Preview], bytes] = (
            partial(written, with_json=True) if with_json else gateway.events.one
        )
        self.seq = 0
        """The last row that was put in form."""
        self._formed: deque[int] = deque()
        """The last row at each part that is not written yet: a cursor names no row that is still to come."""
        self._row = 0
        """The one that the last cursor named."""

    def parts(self, batch: Sequence[Frame | Preview]) -> Iterable[bytes]:
        """What came together. Each part is made when it is asked for, and is the same for all who watch."""
        return (self._alone(batch[0]),) if len(batch) == 1 else self._several(batch)

    def _several(self, batch: Sequence[Frame | Preview]) -> Iterator[bytes]:
        if self._with_json:
            yield from map(self._alone, batch)
            return
        at = 0
        for part, count in self._encodings.parts(batch, self._together):
            items = batch[at : at + count]
            at += count
            if len(part) <= self.limit_bytes:
                self._note(items)
                yield part
            else:
                yield from map(self._alone, items)

    def _alone(self, item: Frame | Preview) -> bytes:
        if type(item) is Frame:
            self.seq = item.seq
        self._formed.append(self.seq)
        part = self._one(item)
        return part if len(part) <= self.limit_bytes else within(item, self.limit_bytes, with_json=self._with_json)

    def _note(self, items: Sequence[Frame | Preview]) -> None:
        """The last row of a part."""
        for item in reversed(items):
            if type(item) is Frame:
                self.seq = item.seq
                break
        self._formed.append(self.seq)

    def responses(self, parts: list[bytes]) -> list[bytes]:
        """Responses with these parts, none too large; the last one has the cursor, also of rows that show nothing."""
        if len(parts) == 1 and self._formed[0] == self._row and parts[0]:  # most: a piece of text
            self._formed.popleft()
            return parts
        made: list[bytes] = []
        batch: list[bytes] = []
        size, row = 0, self._row
        for part in parts:
            if size and size + len(part) > self.limit_bytes:
                made.append(b"".join(batch))
                batch, size = [], 0
            batch.append(part)
            size += len(part)
            row = self._formed.popleft()
        if row != self._row:
            self._row = row
            batch.append(cursor(self._epoch, row))
        if last := b"".join(batch):
            made.append(last)
        return made


class Client(msgspec.Struct, frozen=True):
    """Whoever is at the other end of a stream."""

    gateway: Gateway
    caller: Caller
    context: Any
    ended: asyncio.Future[None]
    """Done when their token has ended."""

    def check_token(self) -> None:
        """Raises ``HostError``."""
        if self.ended.done():
            raise token_ended()

    async def first_message(self) -> bytes:
        """Nobody is waited for longer than their token is valid, or the server runs. Raises ``HostError``."""
        reading = asyncio.ensure_future(self.gateway.first_message(self.context))
        stopping = asyncio.ensure_future(self.gateway.stopping.wait())
        waiting: list[asyncio.Future[Any]] = [reading, stopping, self.ended]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            self.check_token()
            if stopping.done():
                raise shutting_down()
            data = reading.result()
        finally:
            for task in (reading, stopping):
                task.cancel()
            await asyncio.gather(reading, stopping, return_exceptions=True)
        self.gateway.check_size(data)
        return data


class Feed:
    """One open stream to one client: until it leaves, its token ends, the server stops, or there is no more."""

    def __init__(
        self, client: Client, request: takes.Request, stream: Opened, line: Line, *, method: str = "WatchSession"
    ) -> None:
        self._client = client
        self._request = request
        self._stream = stream
        self.line = line
        self._method = method

    async def run(
        self, parts: Callable[[Sequence[Any]], Iterable[bytes]], *beside: Callable[[], Awaitable[None]]
    ) -> None:
        """Raises ``HostError`` when the host ends it. The stream also ends when what runs ``beside`` it does.

        ``parts`` writes down what came together.
        """
        client, line = self._client, self.line
        gateway, ended = client.gateway, client.ended
        client.check_token()
        with attending(gateway.host, client.caller, self._request):
            gateway.meter.opened(self._method, line)
            line.flush()
            stopping = asyncio.ensure_future(gateway.stopping.wait())
            working = [asyncio.ensure_future(one) for one in (self._pump(parts), *(run() for run in beside))]
            tasks: list[asyncio.Future[Any]] = [stopping, *working]
            try:
                await asyncio.wait([*tasks, line.over, ended], return_when=asyncio.FIRST_COMPLETED)
                if line.over.done():
                    line.over.result()
                over = [one for one in working if one.done()]
                for one in working:
                    one.cancel()  # the client is asked nothing more while it reads the rest
                with suppress(TimeoutError):
                    await asyncio.wait_for(line.finish(), gateway.settings.drain_s)
                client.check_token()
                if stopping.done():
                    raise shutting_down()
                for one in over:
                    one.result()
            finally:
                gateway.meter.closed(line)
                line.close()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self._stream.batches.aclose()

    async def _pump(self, parts: Callable[[Sequence[Any]], Iterable[bytes]]) -> None:
        """Everything the stream says, as it comes."""
        line, batches = self.line, self._stream.batches
        try:
            async for batch in batches:
                for part in parts(batch):
                    if line.put(part):
                        await line.room()
                line.flush()
        except HostError:
            raise
        except Exception as error:
            raise unexpected(OPERATIONS["watch_session"], error) from error


def shutting_down() -> HostError:
    return HostError("shutting_down", "The host is shutting down.", hint="Reconnect.", retry_after_s=2.0)


def streaming(gateway: Gateway, method: Method) -> Callable[[Any, Any], Awaitable[Any]]:
    """The handler of an operation that streams."""

    async def told(_: Any, context: Any) -> bytes:
        caller = await gateway.caller(context)
        check_scope(method.operation, caller)
        with gateway.authentication.stream(caller) as ended:
            client = Client(gateway, caller, context, ended)
            message = parsed(method.request, await client.first_message())
            if method.operation.name == "watch_session":
                await _watch(client, method, message)
            else:
                await _tell(client, method, request_of(method, message))
        return b""

    return guarded(gateway.meter, method.name, method.operation, told)


async def _watch(client: Client, method: Method, message: Any) -> None:
    gateway = client.gateway
    request = cast("takes.WatchSession", request_of(method, message))
    if message.HasField("after_seq"):
        request = await _after_seq(gateway, request, message.after_seq)
    stream = await opened(gateway.host, request, client.caller)
    limit_bytes = message.max_event_bytes if message.HasField("max_event_bytes") else None
    form = EventForm(gateway, stream, limit_bytes=limit_bytes, with_json=message.with_json)
    hello = MESSAGES["WatchSessionResponse"](hello=hello_of(stream, request)).SerializeToString()
    line = Line(gateway.settings, form.responses, client.context.write, first=hello)
    await Feed(client, request, stream, line).run(form.parts)


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


async def _tell(client: Client, method: Method, request: takes.Request) -> None:
    """One response for each item."""
    gateway, context = client.gateway, client.context
    stream = await opened(gateway.host, request, client.caller)
    await context.send_initial_metadata(())
    hello = b""
    if "pos" in stream.hello:
        hello = response_of(method, HostChange(kind="hello", pos=stream.hello["pos"]))

    def form(item: Any) -> bytes:
        return response_of(method, msgspec.convert(item.details, HostChange) if isinstance(item, Details) else item)

    line = Line(gateway.settings, lambda parts: parts, context.write, first=hello)
    await Feed(client, request, stream, line, method=method.name).run(lambda batch: map(form, batch))
