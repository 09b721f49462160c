"""Streams of the host as every face shows them: how one begins, what its items are called, one encoded copy for all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from typing import Any

import msgspec

from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host import requests as takes
from quarterdeck.host.events import Gap
from quarterdeck.host.folding import Preview
from quarterdeck.host.frames import gap_at
from quarterdeck.host.operations import OPERATIONS
from quarterdeck.host.resources import Approval, Details, Frame

from .calling import call, stream, unexpected
from .outbox import Outbox

KEPT = 4_000
KEPT_BYTES = 8 * 1024 * 1024
"""Encoded frames that are kept for those who read them a little later: twice this, at most."""


class Encodings:
    """One encoded copy of what many are told."""

    def __init__(self, encode: Callable[[Any], bytes]) -> None:
        self._encode = encode
        self._new: dict[int, tuple[Any, bytes]] = {}
        self._old: dict[int, tuple[Any, bytes]] = {}
        self._size = 0

    def of(self, item: Any) -> bytes:
        """By identity: the host hands the same frame to all who watch. An entry keeps its item, so no id is reused."""
        known = self._new.get(id(item)) or self._old.get(id(item))
        if known is not None:
            return known[1]
        if len(self._new) >= KEPT or self._size >= KEPT_BYTES:
            self._old, self._new, self._size = self._new, {}, 0
        written = self._encode(item)
        self._size += len(written)
        self._new[id(item)] = (item, written)
        return written


class Opened(msgspec.Struct):
    """A stream that has begun."""

    hello: dict[str, Any]
    items: AsyncGenerator[Any, None]
    epoch: str = ""
    """What the ids of frames begin with."""


async def opened(host: Host, request: takes.Request, caller: Caller) -> Opened:
    """Raises ``HostError`` if there is nothing to watch, or the caller may not."""
    match request:
        case takes.WatchSession():
            return await _session(host, request, caller)
        case takes.WatchHost():
            return await _host(host, request, caller)
        case takes.AttachCallbacks():
            await call(host, OPERATIONS["get_session"], takes.OfSession(session_id=request.session_id), caller)
            return Opened({}, stream(host, OPERATIONS["attach_callbacks"], request, caller))
    return Opened({}, stream(host, OPERATIONS["watch_approvals"], request, caller))


async def _session(host: Host, request: takes.WatchSession, caller: Caller) -> Opened:
    of_session = takes.OfSession(session_id=request.session_id)
    session = (await call(host, OPERATIONS["get_session"], of_session, caller)).result
    head = await host.store.head(session.id)
    if head is None:
        raise HostError("not_found", f"There is no session {request.session_id}.")
    _, gap = gap_at(head, request.after)
    hello = {
        "session": session.id,
        "epoch": head.epoch,
        "last_seq": head.last_seq,
        "resume": "ok" if gap is None else "gap",
    }
    return Opened(hello, stream(host, OPERATIONS["watch_session"], request, caller), head.epoch)


async def _host(host: Host, request: takes.WatchHost, caller: Caller) -> Opened:
    position = await host.store.position()
    gap = request.after is not None and (await host.store.changes(after=request.after, limit=1)).gap
    items = stream(host, OPERATIONS["watch_host"], request, caller)
    first = await anext(items)  # its own hello; raises if the caller may not
    return Opened({"pos": first.details["pos"], "last_pos": position, "resume": "gap" if gap else "ok"}, items)


def kind_of(item: Any) -> str:
    """What an item is called on the wire."""
    if type(item) is Frame:
        return "gap" if len(item.events) == 1 and type(item.events[0]) is Gap else "frame"
    if type(item) is Preview:
        return "preview"
    if isinstance(item, Details):
        return str(item.details["kind"])
    return "approval" if isinstance(item, Approval) else "call"


def shown(item: Any) -> Any:
    """What is written of an item."""
    if isinstance(item, Details):
        return {name: value for name, value in item.details.items() if name != "kind"}
    if type(item) is Frame and kind_of(item) == "gap":
        (gap,) = item.events
        return {
            "session": item.session,
            "reason": gap.reason,
            "epoch": gap.epoch,
            "first_seq": gap.first_seq,
            "seq": gap.seq,
        }
    return item


async def pump(stream: Opened, outbox: Outbox, form: Callable[[Any], bytes], told: Callable[[], None]) -> None:
    """Everything the stream says into the outbox, waiting where that is full. Raises ``HostError``."""
    put = outbox.put
    try:
        async with aclosing(stream.items) as items:
            async for item in items:
                put(form(item))
                told()
                if outbox.full:
                    await outbox.room()
    except HostError:
        raise
    except Exception as error:
        raise unexpected(OPERATIONS["watch_session"], error) from error


@contextmanager
def attending(host: Host, caller: Caller, request: takes.Request) -> Iterator[None]:
    """Somebody watches: approvals they could decide do not run into their deadline."""
    with ExitStack() as stack:
        if not isinstance(request, takes.AttachCallbacks):
            stack.enter_context(host.attend(caller))
        yield
