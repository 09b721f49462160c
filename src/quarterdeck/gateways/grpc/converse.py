"""``Converse``: a session as a conversation. Prompts, decisions and interrupts go up; events and answers come down."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import grpc

from quarterdeck.gateways.common.calling import check_scope
from quarterdeck.gateways.common.streams import Opened, opened
from quarterdeck.host import HostError
from quarterdeck.host import requests as takes
from quarterdeck.host.events import QueueChanged, StatusChange
from quarterdeck.host.operations import OPERATIONS

from .decoding import parsed, request_of
from .encoding import message_of, response_of
from .errors import metadata_of
from .events import varint
from .gateway import Gateway, guarded, trace_of
from .line import Line
from .messages import MESSAGES
from .methods import METHODS
from .streams import Client, EventForm, Feed, hello_of

NAME = "Converse"
COMMANDS = ("send_prompt", "decide", "interrupt", "withdraw_prompt", "update_session")
"""Operations that go up, by the names of their fields."""
AT_REST = frozenset({"idle", "parked", "stopped", "crashed"})
"""States in which nothing more happens without input."""
_EVENTS = b"\x12"  # field 2 of ConverseResponse, with a length


class _WholeResponse(bytes):
    """A complete response; other parts are events, to be combined."""


def conversing(gateway: Gateway) -> Callable[[Any, Any], Awaitable[Any]]:
    """The handler."""

    async def converse(_: Any, context: Any) -> bytes:
        caller = await gateway.caller(context)
        check_scope(OPERATIONS["watch_session"], caller)
        with gateway.authentication.stream(caller) as ended:
            client = Client(gateway, caller, context, ended)
            message = parsed("ConverseRequest", await client.first_message())
            await (await _open(client, message)).run()
        return b""

    return guarded(gateway.meter, NAME, OPERATIONS["watch_session"], converse)


async def _open(client: Client, message: Any) -> _Conversation:
    if message.WhichOneof("request") != "open":
        raise HostError("invalid", "The first message must be `open`.", field="request")
    gateway, caller, asked = client.gateway, client.caller, message.open
    session_id = asked.session_id
    if asked.WhichOneof("session") == "create":
        method = METHODS["create_session"]
        check_scope(method.operation, caller)
        request = request_of(method, asked.create)
        key = message.idempotency_key or None
        session_id = (await gateway.called(method.operation, request, caller, key, trace_of(client.context))).result.id
    after = asked.after if asked.HasField("after") else None
    request = takes.WatchSession(session_id=session_id, after=after, previews=not asked.without_previews)
    stream = await opened(gateway.host, request, caller)
    limit_bytes = asked.max_event_bytes if asked.HasField("max_event_bytes") else None
    form = EventForm(gateway, stream, limit_bytes=limit_bytes, with_json=asked.with_json)
    if after is not None and stream.hello["resume"] == "ok":
        form.seq = int(after.rpartition("-")[2])
    session = await gateway.host.get_session(takes.OfSession(session_id=session_id), caller)
    told = MESSAGES["ConverseOpened"](ref=message.ref, session=message_of(session), hello=hello_of(stream, request))
    first = MESSAGES["ConverseResponse"](opened=told).SerializeToString()
    return _Conversation(client, request, stream, form, first)


class _Conversation:
    """One that is open."""

    def __init__(
        self, client: Client, request: takes.WatchSession, stream: Opened, form: EventForm, first: bytes
    ) -> None:
        self._gateway = gateway = client.gateway
        self._caller = client.caller
        self._session = stream.hello["session"]
        self._form = form
        self._context = client.context
        line = Line(gateway.settings, self._responses, client.context.write, first=first)
        self._feed = Feed(client, request, stream, line, method=NAME)
        self._commands: set[asyncio.Task[None]] = set()
        self._moved = asyncio.Event()
        """Set when the session's state or queue has changed."""
        self._told = asyncio.Event()
        """Set when a row was sent."""

    async def run(self) -> None:
        try:
            await self._feed.run(self._parts, self._read)
        finally:
            for task in self._commands:
                task.cancel()
            await asyncio.gather(*self._commands, return_exceptions=True)

    # Down

    def _parts(self, batch: Sequence[Any]) -> Iterator[bytes]:
        if any(isinstance(event, StatusChange | QueueChanged) for item in batch for event in item.events):
            self._moved.set()
        for part in self._form.parts(batch):
            self._told.set()
            yield part

    def _responses(self, parts: list[bytes]) -> list[bytes]:
        made: list[bytes] = []
        for whole, group in groupby(parts, key=lambda part: isinstance(part, _WholeResponse)):
            if whole:
                made += map(bytes, group)
            else:
                made += (_EVENTS + varint(len(one)) + one for one in self._form.responses(list(group)))
        return made

    # Up

    async def _read(self) -> None:
        """Until the client has closed its side, everything is answered, and the session is at rest."""
        while (data := await self._context.read()) is not grpc.aio.EOF:
            self._gateway.check_size(data)
            message = parsed("ConverseRequest", data)
            while len(self._commands) >= self._gateway.settings.commands:
                await asyncio.wait(self._commands, return_when=asyncio.FIRST_COMPLETED)
            task = asyncio.ensure_future(self._answered(message))
            self._commands.add(task)
            task.add_done_callback(self._forget)
        if self._commands:
            await asyncio.wait(self._commands)
        await self._rest()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._commands.discard(task)
        if not task.cancelled():
            task.exception()  # an answer that could not be written: the feed ends by itself

    async def _rest(self) -> None:
        of_session = takes.OfSession(session_id=self._session)
        while True:
            self._moved.clear()
            session = await self._gateway.host.get_session(of_session, self._caller)
            waiting = await self._gateway.host.list_prompts(of_session, self._caller)
            if session.state in AT_REST and not waiting.prompts:
                await self._until_told(session.seq)
                return
            await self._moved.wait()

    async def _until_told(self, seq: int) -> None:
        while self._form.seq < seq:
            self._told.clear()
            await self._told.wait()

    async def _answered(self, message: Any) -> None:
        answer: dict[str, Any] = {"ref": message.ref}
        try:
            answer |= await self._done(message)
        except HostError as error:
            answer["error"] = MESSAGES["ConverseError"](
                code=error.code, message=error.message, hint=error.hint, details=metadata_of(error)
            )
        told = MESSAGES["ConverseResponse"](answer=MESSAGES["ConverseAnswer"](**answer))
        await self._feed.line.send(_WholeResponse(told.SerializeToString()))

    async def _done(self, message: Any) -> dict[str, Any]:
        """The fields of the answer. Raises ``HostError``."""
        name = message.WhichOneof("request")
        if name not in COMMANDS:
            raise HostError("invalid", "The conversation is already open: send a command.", field="request")
        method = METHODS[name]
        check_scope(method.operation, self._caller)
        more = {} if name == "decide" else {"session_id": self._session}
        request = request_of(method, getattr(message, name), **more)
        await self._check_session(request)
        key, parent = message.idempotency_key or None, trace_of(self._context)
        called = await self._gateway.called(method.operation, request, self._caller, key, parent)
        response = parsed(method.response, response_of(method, called.result))
        return {"replayed": called.replayed, name: response}

    async def _check_session(self, request: takes.Request) -> None:
        """A session has several ids; all of them are fine."""
        named = getattr(request, "session_id", self._session)
        if named == self._session:
            return
        record = await self._gateway.host.find_session(named)
        if record is None or record.id != self._session:
            raise HostError("invalid", "This conversation is about another session.", field="session_id")
