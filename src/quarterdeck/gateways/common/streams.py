"""Streams of the host as every face shows them: how one begins, what its items are called, one encoded copy for all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from itertools import islice
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
PIECE_BYTES = 64 * 1024
"""For a batch sent to many; a larger frame is sent separately."""

_Key = tuple[int, str, int]
"""The id of the encoded object, its form, and the first item."""
_Written = tuple[Any, bytes, int]
"""The encoded bytes, and the number of items in them."""


class Encodings:
    """One encoded copy of what many clients get.

    Keyed by identity: the host gives the same frame, and the same batch of frames, to all watchers. An entry keeps a
    reference to its source, so that no id is reused.
    """

    def __init__(self, encode: Callable[[Any], bytes], *, kept: int = KEPT, kept_bytes: int = KEPT_BYTES) -> None:
        self._encode = encode
        self._kept = kept
        self._kept_bytes = kept_bytes
        self._new: dict[_Key, _Written] = {}
        self._old: dict[_Key, _Written] = {}
        self._size = 0

    def of(self, item: Any) -> bytes:
        """A frame, a preview, or what else many are told."""
        key = (id(item), "", 0)
        return (self._known(key) or self._keep(key, (item, self._encode(item), 1)))[1]

    def parts(self, batch: Sequence[Any], form: Form) -> Iterator[tuple[bytes, int]]:
        """Everything of a batch, in pieces that are the same for all whose form it is, each with the number of its
        items. Each is made when it is asked for: somebody who reads slowly holds one of them."""
        at = 0
        while at < len(batch):
            key = (id(batch), form.name, at)
            _, written, count = self._known(key) or self._keep(key, _joined(batch, at, form))
            yield written, count
            at += count

    def _known(self, key: _Key) -> _Written | None:
        return self._new.get(key) or self._old.get(key)

    def _keep(self, key: _Key, written: _Written) -> _Written:
        if len(self._new) >= self._kept or self._size >= self._kept_bytes:
            self._old, self._new, self._size = self._new, {}, 0
        self._size += len(written[1])
        self._new[key] = written
        return written


def _joined(batch: Sequence[Any], at: int, form: Form) -> _Written:
    """The next items of a batch, as many as fit."""
    parts: list[bytes] = []
    size = 0
    for item in islice(batch, at, None):
        part = form.one(item)
        if parts and size + len(part) > PIECE_BYTES:
            break
        parts.append(part)
        size += len(part)
    return batch, form.between.join(parts), len(parts)


class Form(msgspec.Struct, frozen=True):
    """How a face writes the items of a stream."""

    name: str
    """The same for all who get the same bytes."""
    one: Callable[[Any], bytes]
    between: bytes


class Opened(msgspec.Struct):
    """A stream that has begun."""

    hello: dict[str, Any]
    batches: AsyncGenerator[Sequence[Any], None]
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
            return Opened({}, singly(stream(host, OPERATIONS["attach_callbacks"], request, caller)))
    return Opened({}, singly(stream(host, OPERATIONS["watch_approvals"], request, caller)))


async def singly(items: AsyncGenerator[Any, None]) -> AsyncGenerator[Sequence[Any], None]:
    """A stream in which little happens, in batches of one."""
    async with aclosing(items):
        async for item in items:
            yield (item,)


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
    return Opened(hello, host.watch_session_together(request, caller), head.epoch)


async def _host(host: Host, request: takes.WatchHost, caller: Caller) -> Opened:
    position = await host.store.position()
    gap = request.after is not None and (await host.store.changes(after=request.after, limit=1)).gap
    items = stream(host, OPERATIONS["watch_host"], request, caller)
    first = await anext(items)  # its own hello; raises if the caller may not
    return Opened({"pos": first.details["pos"], "last_pos": position, "resume": "gap" if gap else "ok"}, singly(items))


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


async def pump(
    stream: Opened,
    outbox: Outbox,
    parts: Callable[[Sequence[Any]], Iterable[tuple[bytes, int]]],
    told: Callable[[int], None] = lambda _: None,
) -> None:
    """Everything the stream says into the outbox, waiting where that is full. Raises ``HostError``.

    ``parts`` writes a batch of items down, as ``Encodings.parts`` does; ``told`` is told how many they were.
    """
    put = outbox.put
    try:
        async with aclosing(stream.batches) as batches:
            async for batch in batches:
                for part, _ in parts(batch):
                    put(part)
                    if outbox.full:
                        await outbox.room()
                told(len(batch))
    except HostError:
        raise
    except Exception as error:
        raise unexpected(OPERATIONS["watch_session"], error) from error


def attending(host: Host, caller: Caller, request: takes.Request) -> AbstractContextManager[None]:
    """Someone is watching: approvals they could decide do not time out."""
    return nullcontext() if isinstance(request, takes.AttachCallbacks) else host.attend(caller)
