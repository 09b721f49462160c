"""Event loops, tasks, time limits."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from ._setup import Hang, ask, chat, client, offline, options, program, sdk, show

HANGS = program(("Once upon a time", Hang(5)), again=True, delta_size=4)


@chat
async def gather() -> None:
    results = await asyncio.gather(*(ask(f"Question {number}") for number in range(3)))
    print(
        [[type(message).__name__ for message in messages] for messages in results],
        [messages[-1].result for messages in results],
    )


@chat
async def a_task_group() -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask("Hello?")) for _ in range(2)]
    print([task.result()[-1].result for task in tasks])


@HANGS
async def wait_for_runs_out() -> None:
    started = asyncio.Event()

    async def endless() -> None:
        async for message in sdk.query(prompt="Go on.", options=options(include_partial_messages=True)):
            if isinstance(message, sdk.StreamEvent):
                started.set()

    task = asyncio.create_task(endless())
    await started.wait()
    try:
        await asyncio.wait_for(task, 0.01)
    except TimeoutError as error:
        print(type(error).__name__, task.cancelled())


@HANGS
async def a_task_is_cancelled() -> None:
    started = asyncio.Event()

    async def endless() -> None:
        try:
            async with client(include_partial_messages=True) as session:
                await session.query("Go on.")
                async for _ in session.receive_response():
                    started.set()
        except asyncio.CancelledError:
            print("cancelled inside")
            raise

    task = asyncio.create_task(endless())
    await started.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    print(task.cancelled())


@HANGS
async def a_timeout_block() -> None:
    try:
        async with asyncio.timeout(None) as limit:
            async for message in sdk.query(prompt="Go on.", options=options(include_partial_messages=True)):
                if isinstance(message, sdk.StreamEvent):
                    limit.reschedule(0)
    except TimeoutError:
        print("in time")


@chat
def asyncio_run_twice() -> None:
    for _ in range(2):
        show(asyncio.run(ask())[-1])


@chat
def anyio_run() -> None:
    import anyio

    async def main() -> None:
        show(await ask())

    anyio.run(main)


@chat
def trio_query() -> None:
    import trio

    async def main() -> None:
        show(await ask())

    trio.run(main)


@program("One.", "Two.")
def trio_client() -> None:
    import trio

    async def main() -> None:
        async with client() as session:
            for prompt in ("a", "b"):
                await session.query(prompt)
                async for message in session.receive_response():
                    show(message)

    trio.run(main)


@chat
def trio_at_once() -> None:
    import trio

    results: list[Any] = []

    async def one() -> None:
        results.append((await ask())[-1].result)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one)
            nursery.start_soon(one)

    trio.run(main)
    print(results)


@HANGS
def trio_cancelled() -> None:
    import trio

    async def main() -> None:
        with trio.CancelScope() as scope:
            async for message in sdk.query(prompt="Go on.", options=options(include_partial_messages=True)):
                if isinstance(message, sdk.StreamEvent):
                    scope.cancel()
        print(scope.cancelled_caught)

    trio.run(main)


@offline
def no_loop_at_all() -> None:
    stream = sdk.query(prompt="x", options=options())
    print(type(stream).__name__)
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:
        print(error)
