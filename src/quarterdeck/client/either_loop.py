"""Code that runs under asyncio and under trio: which of them it is, many calls at once, work in a thread."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

A = TypeVar("A")
T = TypeVar("T")


def under_trio() -> bool:
    """Is the caller a task of trio's? Where trio was never imported, this costs one dict lookup.

    Where both run (``trio.run`` inside a coroutine of asyncio, as in a notebook), trio is the inner one.
    """
    check = getattr(sys.modules.get("trio.lowlevel"), "in_trio_task", None)  # may be half imported by another thread
    return check is not None and bool(check())


async def map_at_once(call: Callable[[A], Awaitable[T]], arguments: Iterable[A], *, limit: int) -> list[T]:
    """The results of a call for each argument, in order, with at most ``limit`` calls under way."""
    waiting = list(enumerate(arguments))
    waiting.reverse()
    results: dict[int, T] = {}

    async def work_off() -> None:
        while waiting:
            index, argument = waiting.pop()
            results[index] = await call(argument)

    workers = min(limit, len(waiting))
    if under_trio():
        import trio

        async with trio.open_nursery() as nursery:
            for _ in range(workers):
                nursery.start_soon(work_off)
    else:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work_off())
    return [results[index] for index in sorted(results)]


async def run_in(executor: Executor, work: Callable[[], T]) -> T:
    """The result of ``work``, done by the executor. Work that has started runs to its end even if the caller is
    cancelled."""
    if under_trio():
        import trio

        return await trio.to_thread.run_sync(lambda: executor.submit(work).result())
    return await asyncio.get_running_loop().run_in_executor(executor, work)
