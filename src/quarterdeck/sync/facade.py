"""Turns the coroutine methods of the client into methods that wait, with the same signatures."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from quarterdeck.client.errors import CLIConnectionError
from quarterdeck.client.loop_thread import LOOP_THREAD

P = ParamSpec("P")
T = TypeVar("T")
_END: Any = object()


class Facade:
    """An object in the loop's thread (``_core``), used from any other thread."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self._pid = os.getpid()

    def _wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._pid != os.getpid():
            raise CLIConnectionError("this session belongs to the parent process: create a new one in this process")
        return LOOP_THREAD.call(work)

    def _iterate(self, iterator: AsyncIterator[T]) -> Iterator[T]:
        """What an async iterator yields. Leaving the loop early closes it."""
        try:
            while (item := self._wait(lambda: _next(iterator))) is not _END:
                yield item
        finally:
            if hasattr(iterator, "aclose"):
                LOOP_THREAD.settle(iterator.aclose)


async def _next(iterator: AsyncIterator[T]) -> T:
    return cast("T", await anext(iterator, _END))


class Blocking(Generic[P, T]):
    """A method of the façade that calls the core's method of the same name and waits."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Facade, owner: type | None = None) -> Callable[P, T]:
        if instance is None:
            return self  # as a property does, for those who read documentation

        @functools.wraps(self._method)
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            async def work() -> T:
                value = getattr(instance._core, self._name)(*args, **kwargs)
                return cast("T", await value if inspect.isawaitable(value) else value)

            return instance._wait(work)

        method.__signature__ = _without_self(self._method)  # type: ignore[attr-defined]
        return method


def _without_self(method: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(method)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Blocking[P, T]:
    """For a coroutine method."""
    return Blocking(method)


def in_loop_thread(method: Callable[Concatenate[Any, P], T]) -> Blocking[P, T]:
    """For a plain method that must run in the loop's thread."""
    return Blocking(method)
