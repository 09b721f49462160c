"""Idempotent writes: a retry with the same key gets the first answer."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import msgspec

from quarterdeck.store import Commit
from quarterdeck.store.records import Receipt

from .callers import PROGRAM, Caller
from .errors import HostError
from .host_base import HostBase
from .operations import OPERATIONS
from .requests import Request
from .session_log import Receipts
from .whole_text import encode_whole

P = ParamSpec("P")
R = TypeVar("R")

_NAMESPACE = uuid.UUID("6f0f3f1e-51c5-4c6e-9d6e-2f6f3f0f7c11")
_TARGETS = ("session_id", "approval_id", "grant_id", "token_id", "transcript_id", "path", "cwd")
"""Request fields that identify the target of a write."""
_BEGUN = "begun"


class Repeat:
    """Whether a call returned a stored answer."""

    replayed = False


noticed: ContextVar[Repeat | None] = ContextVar("noticed", default=None)
"""Gateways that report this set a ``Repeat`` before the call: an object, as a write may run in its own task."""


def once(method: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Decorates a writing method ``(request, caller, key)``: with a key, it takes effect once in seven days.

    Only successes are kept: a refused request can be retried with the same key. Concurrent requests with the same key
    wait for each other.
    """
    name = method.__name__

    @wraps(method)
    async def run(*args: P.args, **kwargs: P.kwargs) -> R:
        host, request, caller, key = _parts(args, kwargs)
        if key is None:
            return await method(*args, **kwargs)
        scope = scope_of(name, request, caller)
        async with _NameLock(host, (scope, key)):
            known = await host.store.receipt(scope, key, now=host.now())
            if known is not None:
                first = _replayed(name, known[0], _digest(request))
                if (repeat := noticed.get()) is not None:
                    repeat.replayed = True
                return cast("R", first)
            result = await method(*args, **kwargs)
            if (scope, key) not in host.receipts_kept:
                await host.store.commit(Commit(receipt=receipt_for(host, name, request, caller, key, result)))
            return result

    return run


def receipt_for(
    host: HostBase, operation: str, request: Request, caller: Caller, key: str | None, result: object
) -> Receipt | None:
    """The receipt to commit together with the effect, so that the outcome survives a crash."""
    if key is None:
        return None
    scope = scope_of(operation, request, caller)
    host.receipts_kept.add((scope, key))
    return Receipt(scope=scope, key=key, request=_digest(request), outcome=encode_whole(result), at=host.now())


def promise_for(
    host: HostBase, operation: str, request: Request, caller: Caller, key: str | None, outcome: Callable[[int], object]
) -> Receipts:
    """Like ``receipt_for``, for an effect that is a row: ``outcome`` gets its number. None without a key."""
    if key is None:
        return None
    return lambda seq: receipt_for(host, operation, request, caller, key, outcome(seq))


async def note_begun(
    host: HostBase, operation: str, request: Request, caller: Caller, key: str | None, note: str
) -> None:
    """Note the start of an effect outside the store that leaves no trace of its author, e.g. removing a folder."""
    if key is not None:
        scope = f"{scope_of(operation, request, caller)}\n{_BEGUN}"
        begun = Receipt(scope=scope, key=key, request=_digest(request), outcome=note.encode(), at=host.now())
        await host.store.commit(Commit(receipt=begun))


async def begun_before(
    host: HostBase, operation: str, request: Request, caller: Caller, key: str | None
) -> tuple[str, float] | None:
    """Return what was noted for this request before a crash, and when."""
    if key is None:
        return None
    known = await host.store.receipt(f"{scope_of(operation, request, caller)}\n{_BEGUN}", key, now=host.now())
    return None if known is None or known[0].request != _digest(request) else (known[0].outcome.decode(), known[0].at)


def _digest(request: Request) -> bytes:
    return hashlib.sha256(msgspec.json.encode(request)).digest()


def scope_of(operation: str, request: Request, caller: Caller) -> str:
    """The caller and operation of a key: elsewhere, the same key is a different one."""
    target = next((str(getattr(request, field)) for field in _TARGETS if hasattr(request, field)), "")
    return "\n".join((caller.token_id or caller.name, operation, target))


def id_for(operation: str, request: Request, caller: Caller, key: str | None) -> str:
    """Return a new ID. With a key it is always the same, so a retry after a crash finds what was started."""
    if key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(_NAMESPACE, f"{scope_of(operation, request, caller)}\n{key}"))


def _parts(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[HostBase, Request, Caller, str | None]:
    def named(
        host: HostBase, request: Request, caller: Caller = PROGRAM, key: str | None = None
    ) -> tuple[HostBase, Request, Caller, str | None]:
        return host, request, caller, key

    return named(*args, **kwargs)


def _replayed(name: str, receipt: Receipt, digest: bytes) -> Any:
    if receipt.request != digest:
        raise HostError(
            "conflict", "This key was used for another request.", hint="Use a new key for a new request.", field="key"
        )
    return msgspec.json.decode(receipt.outcome, type=OPERATIONS[name].returns)


class _NameLock:
    """A lock per name, removed after its last holder."""

    def __init__(self, host: HostBase, name: tuple[str, str]) -> None:
        self._host = host
        self._held = host.keys_in_use
        self._name = name

    async def __aenter__(self) -> None:
        while (before := self._held.get(self._name)) is not None:
            await asyncio.shield(before)
        self._held[self._name] = asyncio.get_running_loop().create_future()

    async def __aexit__(self, *_: object) -> None:
        self._host.receipts_kept.discard(self._name)
        self._held.pop(self._name).set_result(None)
