"""The bridge between trio and the loop's thread: runs work in the loop, and the program's callbacks under trio."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, NoReturn, TypeVar

import outcome
import trio

from .loop_thread import LOOP_THREAD
from .official_transport import Transport
from .offload import CallbackRunner
from .serving import CancelSignal
from .tools.compiled import CompiledTool
from .tools.server import ToolServer

T = TypeVar("T")
_END = object()


@trio.lowlevel.enable_ki_protection
async def in_loop(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run what ``work`` makes in the loop's thread and wait for it, under trio.

    When trio cancels the wait, the work is cancelled and the wait continues until the work has cleaned up. Ctrl-C
    arrives as such a cancellation too, never between start and wait, where nobody would be there to be woken.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    token, waiting = trio.lowlevel.current_trio_token(), trio.lowlevel.current_task()
    cancelled_by: list[Callable[[], NoReturn]] = []

    def wake(task: asyncio.Task[T]) -> None:
        cause = cancelled_by[0] if cancelled_by and task.cancelled() else task.result
        trio.lowlevel.reschedule(waiting, outcome.capture(cause))

    started = LOOP_THREAD.start(work, lambda task: token.run_sync_soon(wake, task))

    def abort(raise_cancel: Callable[[], NoReturn]) -> trio.lowlevel.Abort:
        cancelled_by.append(raise_cancel)
        started.cancel()
        return trio.lowlevel.Abort.FAILED

    result: T = await trio.lowlevel.wait_task_rescheduled(abort)
    return result


async def shielded(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """``in_loop`` for cleanup: cannot be cancelled, as it takes bounded time."""
    results: list[T] = []
    with trio.CancelScope(shield=True):
        results.append(await in_loop(work))
    return results[0]


class TrioRunner(CallbackRunner):
    """Runs the program's code under the trio that opened the session, in its context."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._context = contextvars.copy_context()

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        call = _Call(function, args, answer)
        self._token.run_sync_soon(call.begin, self._context)
        try:
            return await answer
        except asyncio.CancelledError:
            self._soon(call.scope.cancel)
            raise

    def _soon(self, function: Callable[..., Any], *args: Any) -> None:
        with contextlib.suppress(trio.RunFinishedError):  # nobody left to notify
            self._token.run_sync_soon(function, *args)

    def one_way(self, function: Callable[[T], None]) -> Callable[[T], None]:
        def take(told: T) -> None:
            self._soon(self._context.run, function, told)

        return take

    def signal(self, signal: CancelSignal) -> TrioSignal:
        return TrioSignal(signal, self._soon)

    def abort(self, abort: Any) -> TrioAbort:
        return TrioAbort(abort, self)

    async def prompts(self, prompts: Any) -> AsyncIterator[Any]:
        iterator = aiter(prompts)
        try:
            while (prompt := await self.call(anext, iterator, _END)) is not _END:
                yield prompt
        finally:
            if hasattr(iterator, "aclose"):
                await self.call(iterator.aclose)

    def servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._server(config) for name, config in servers.items()}

    def _server(self, config: Any) -> Any:
        if isinstance(config, dict) and isinstance(config.get("instance"), ToolServer):
            return {**config, "instance": _server_under_trio(config["instance"], self)}
        return config


class _Call:
    """One call of the program's code, in its own task, which can be cancelled from the loop's thread."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], answer: asyncio.Future[Any]) -> None:
        self._function = function
        self._args = args
        self._answer = answer
        self.scope = trio.CancelScope()

    def begin(self, context: contextvars.Context) -> None:
        trio.lowlevel.spawn_system_task(self._run, name=self._function, context=context.copy())

    async def _run(self) -> None:
        result: outcome.Outcome[Any] = outcome.Error(asyncio.CancelledError())
        try:
            with self.scope:
                result = await outcome.acapture(self._value)
        finally:
            self._answer.get_loop().call_soon_threadsafe(self._settle, result)

    async def _value(self) -> Any:
        value = self._function(*self._args)
        return await value if inspect.isawaitable(value) else value

    def _settle(self, result: outcome.Outcome[Any]) -> None:
        if self._answer.done():
            return
        match result:
            case outcome.Value(value):
                self._answer.set_result(value)
            case outcome.Error(Exception() as error):
                self._answer.set_exception(error)
            case _:
                self._answer.cancel()


class TrioSignal:
    """``CancelSignal`` with a ``wait`` for trio."""

    def __init__(self, inner: CancelSignal, soon: Callable[..., None]) -> None:
        self._event = trio.Event()
        self._inner = inner
        inner.add_callback(lambda: soon(self._event.set))

    @property
    def reason(self) -> str | None:
        return self._inner.reason

    @property
    def aborted(self) -> bool:
        return self._inner.aborted

    def is_set(self) -> bool:
        return self._inner.is_set()

    async def wait(self) -> str:
        await self._event.wait()
        return str(self._inner.reason)


class TrioAbort:
    """A trio event that aborts a session."""

    def __init__(self, inner: Any, runner: TrioRunner) -> None:
        self._inner = inner
        self._runner = runner

    def is_set(self) -> bool:
        return bool(self._inner.is_set())

    async def wait(self) -> Any:
        return await self._runner.call(self._inner.wait)


class TrioTransport(Transport):
    """A transport written for the official SDK, run under trio."""

    def __init__(self, inner: Transport, runner: TrioRunner) -> None:
        self._inner = inner
        self._runner = runner

    async def connect(self) -> None:
        await self._runner.call(self._inner.connect)

    async def write(self, data: str) -> None:
        await self._runner.call(self._inner.write, data)

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._runner.prompts(self._inner.read_messages())

    async def close(self) -> None:
        await self._runner.call(self._inner.close)

    def is_ready(self) -> bool:
        return self._inner.is_ready()

    async def end_input(self) -> None:
        await self._runner.call(self._inner.end_input)


def _server_under_trio(server: ToolServer, runner: TrioRunner) -> ToolServer:
    """The same server, tools and connections, with handlers that run under trio; those in threads stay there."""

    class ServerUnderTrio(type(server)):  # type: ignore[misc]
        def tool(self, name: str) -> CompiledTool | None:
            found: CompiledTool | None = super().tool(name)
            if found is None or found._in_thread:
                return found
            tool = copy.copy(found)
            tool._handler = lambda *args, **kwargs: runner.call(functools.partial(found._handler, *args, **kwargs))
            return tool

    twin: ToolServer = ServerUnderTrio.__new__(ServerUnderTrio)
    twin.__dict__ = server.__dict__
    return twin
