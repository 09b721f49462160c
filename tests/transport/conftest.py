"""Every test of a process runs on each event loop and with each fallback forced, and may leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvloop

from quarterdeck.transport import Capabilities, ChildCommand, ProcessTransport, Receiver, detect, watchdog
from transport.support import group_is_gone, until, until_blocking

VARIANTS: dict[str, tuple[Callable[[], asyncio.AbstractEventLoop], dict[str, bool]]] = {
    "asyncio": (asyncio.new_event_loop, {}),
    "uvloop": (uvloop.new_event_loop, {}),
    "asyncio-without-epoll": (asyncio.new_event_loop, {"epoll": False}),
    "asyncio-without-pidfd": (asyncio.new_event_loop, {"pidfd": False}),
    "asyncio-with-threads": (asyncio.new_event_loop, {"add_reader": False}),
    "uvloop-with-threads": (uvloop.new_event_loop, {"add_reader": False}),
    "asyncio-without-shell-and-proc": (asyncio.new_event_loop, {"posix_shell": False, "proc_files": False}),
}


@dataclass
class Stage:
    """Runs one test's coroutine in the loop under test, and starts its processes with the capabilities under test."""

    make_loop: Callable[[], asyncio.AbstractEventLoop]
    lacking: dict[str, bool]
    pids: list[int] = field(default_factory=list)
    loop_errors: list[dict[str, Any]] = field(default_factory=list)

    @property
    def threads(self) -> bool:
        return not self.lacking.get("add_reader", True)

    def play(self, scene: Callable[[], Awaitable[None]]) -> None:
        async def whole() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: self.loop_errors.append(context))
            async with asyncio.timeout(60):
                await scene()
            await until(lambda: len(asyncio.all_tasks()) == 1, "all tasks to end")

        with asyncio.Runner(loop_factory=self.make_loop) as runner:
            runner.run(whole())

    def capabilities(self) -> Capabilities:
        return detect(asyncio.get_running_loop())._replace(**self.lacking)

    def transport(self, command: ChildCommand | Sequence[str], **options: Any) -> ProcessTransport:
        return ProcessTransport(command, capabilities=self.capabilities(), **options)

    async def start(
        self, command: ChildCommand | Sequence[str], receiver: Receiver, **options: Any
    ) -> ProcessTransport:
        transport = self.transport(command, **options)
        await transport.start(receiver)
        assert transport.pid is not None
        self.pids.append(transport.pid)
        return transport


@pytest.fixture(scope="session", autouse=True)
def running_watchdog() -> None:
    """Started before anything is counted: it stays for the life of the interpreter, as do uvloop's own descriptors."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.sleep(0))
    watchdog.guard_directory("/nonexistent/quarterdeck")
    watchdog.release_directory("/nonexistent/quarterdeck")


@pytest.fixture(autouse=True)
def nothing_is_left_behind(running_watchdog: None) -> Iterator[None]:
    descriptors, threads = _open_descriptors(), threading.active_count()
    yield
    until_blocking(lambda: threading.active_count() <= threads, "all threads to end")
    until_blocking(lambda: _open_descriptors() == descriptors, "all descriptors to be closed")


def _open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@pytest.fixture(params=VARIANTS)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    stage = Stage(*VARIANTS[request.param])
    yield stage
    assert stage.loop_errors == []
    for pid in stage.pids:
        assert group_is_gone(pid), f"processes of group {pid} are left"
