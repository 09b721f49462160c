"""Calls of the host's operations: the same for a request, a message of a WebSocket, and a method of gRPC."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import time
from collections.abc import AsyncGenerator, Coroutine
from functools import cache
from typing import Any

import msgspec

from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.idempotency import Repeat, noticed
from quarterdeck.host.operations import Operation
from quarterdeck.host.requests import Request
from quarterdeck.host.scopes import allows

from .tracing import span_of

logger = logging.getLogger("quarterdeck.gateways")

KEY_CHARS = 200
NO_REPEAT = Repeat()
"""Of what only reads."""
_PLACE = re.compile(r" - at `(?:key in )?\$\.?(.*?)`$")
_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_MISSING = re.compile(r"missing required field `(.*?)`")


class Called(msgspec.Struct, frozen=True):
    """The outcome of a call."""

    result: Any
    replayed: bool = False


def invalid(error: Exception, described_in: str = "/openapi.json") -> HostError:
    """An unreadable request: says which field is wrong."""
    text = str(error)
    place = _PLACE.search(text)
    named = _UNKNOWN.search(text) or _MISSING.search(text)
    parts = [found[1] for found in (place, named) if found is not None and found[1]]
    said = _PLACE.sub("", text)
    hint = f"The fields of each request are in {described_in}." if named else ""
    return HostError("invalid", f"The request cannot be read: {said}.", hint=hint, field=".".join(parts) or "body")


def check_texts(request: Request) -> None:
    """A NUL ends a path for the system and a text for the CLI: never intended."""
    for name in request.__struct_fields__:
        value = getattr(request, name)
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and "\0" in text:
                raise HostError("invalid", f"{name} contains a NUL character.", field=name)


def check_scope(operation: Operation, caller: Caller) -> None:
    """Checked before the request is read: a caller without the scope should not be able to send megabytes."""
    if not allows(caller.scope, operation.scope):
        raise HostError(
            "forbidden",
            f"{operation.name} requires the scope {operation.scope}; {caller.name} has {caller.scope}.",
            needed=operation.scope,
        )


async def call(
    host: Host, operation: Operation, request: Request, caller: Caller, key: str | None = None, parent: Any = None
) -> Called:
    """Raises ``HostError``, whatever went wrong. ``parent`` is the trace's context that the caller sent."""
    method = _method(host, operation)
    settings: dict[str, Any] = {}
    if key is not None:
        _check_key(operation, key)
        settings["key"] = key
    repeat = NO_REPEAT
    if operation.writes:
        repeat = Repeat()
        noticed.set(repeat)
    began = time.perf_counter()
    with span_of(operation, caller, parent):
        try:
            doing = method(request, caller, **settings)
            result = await (_to_its_end(doing) if operation.writes else doing)
        except HostError as error:
            _log(operation, request, caller, error.code, began)
            raise
        except Exception as error:
            raise unexpected(operation, error) from error
    _log(operation, request, caller, "ok", began)
    return Called(result, repeat.replayed)


def _log(operation: Operation, request: Request, caller: Caller, code: str, began: float) -> None:
    """Changes interest whoever runs the host; reads only someone who debugs it."""
    level = logging.INFO if operation.writes else logging.DEBUG
    if not logger.isEnabledFor(level):
        return
    fields = {
        "operation": operation.name,
        "caller": caller.name,
        "via": caller.via,
        "session": getattr(request, "session_id", None),
        "code": code,
        "took_s": round(time.perf_counter() - began, 6),
    }
    logger.log(level, "%s by %r: %s", operation.name, caller.name, code, extra={"fields": fields})


async def _to_its_end(doing: Coroutine[Any, Any, Any]) -> Any:
    """A write is not cut off with its client: done in part, without a receipt, it would be done again when repeated."""
    task = asyncio.ensure_future(doing)
    _under_way.add(task)
    task.add_done_callback(_ended)
    return await asyncio.shield(task)


_under_way: set[asyncio.Future[Any]] = set()


def _ended(task: asyncio.Future[Any]) -> None:
    _under_way.discard(task)
    if not task.cancelled():
        task.exception()  # whoever still waits for it gets it; nobody else needs to know


def stream(host: Host, operation: Operation, request: Request, caller: Caller) -> AsyncGenerator[Any, None]:
    """The items of an operation that streams."""
    items: AsyncGenerator[Any, None] = _method(host, operation)(request, caller)
    return items


def unexpected(operation: Operation, error: Exception) -> HostError:
    """A fault of ours: the log has all of it, the caller learns that it was one."""
    logger.exception("%s failed", operation.name, exc_info=error)
    return HostError("unavailable", f"{operation.name} failed with an internal error.", hint="See the host's log.")


def _method(host: Host, operation: Operation) -> Any:
    method = getattr(host, operation.name, None)
    if method is None:
        raise HostError("unavailable", f"This host does not support {operation.name}.")
    return method


def _check_key(operation: Operation, key: str) -> None:
    if not operation.writes or not _takes_key(operation.name):
        raise HostError("invalid", f"{operation.name} does not take a key.", field="Idempotency-Key")
    if not 0 < len(key) <= KEY_CHARS or not key.isprintable():
        raise HostError("invalid", f"A key must have 1 to {KEY_CHARS} printable characters.", field="Idempotency-Key")


@cache
def _takes_key(name: str) -> bool:
    return "key" in inspect.signature(getattr(Host, name)).parameters
