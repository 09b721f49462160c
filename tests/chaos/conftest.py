"""Each fault on each event loop; and no test may leave a process, descriptor, thread or task behind."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

import soak
from chaos.kit import Chaos, open_descriptors, other_tasks_end, pid_of
from functions import arguments_of
from quarterdeck.transport import watchdog
from transport.support import group_is_gone, until_blocking

LIMIT_S = 120.0
ROUNDS = soak.cases(1, in_soak=10)
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = arguments_of(pyfuncitem)
    loop_errors: list[dict[str, Any]] = pyfuncitem.funcargs["loop_errors"]

    async def whole() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: loop_errors.append(context))
        async with asyncio.timeout(LIMIT_S):
            await pyfuncitem.obj(**arguments)
            await other_tasks_end()

    with asyncio.Runner(loop_factory=pyfuncitem.funcargs["loop_factory"]) as runner:
        runner.run(whole())
    return True


@pytest.fixture(params=[*LOOPS] * ROUNDS, autouse=True)
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    return LOOPS[request.param]


@pytest.fixture(autouse=True)
def loop_errors() -> Iterator[list[dict[str, Any]]]:
    """What the event loop's exception handler was told; a test that expects some takes it out."""
    errors: list[dict[str, Any]] = []
    yield errors
    assert errors == []


@pytest.fixture(scope="session", autouse=True)
def running_watchdog() -> None:
    """Started before anything is counted: it stays for the life of the interpreter, as do uvloop's own descriptors."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.sleep(0))
    watchdog.guard_directory("/nonexistent/quarterdeck")
    watchdog.release_directory("/nonexistent/quarterdeck")


@pytest.fixture
def chaos(tmp_path: Path, running_watchdog: None) -> Iterator[Chaos]:
    descriptors, threads = open_descriptors(), threading.active_count()
    chaos = Chaos(tmp_path)
    yield chaos
    assert chaos.left_running() == []
    for session in chaos.sessions:
        if session.pid is not None:
            assert group_is_gone(pid_of(session))
    until_blocking(lambda: threading.active_count() <= threads, "all threads to end")
    until_blocking(lambda: open_descriptors() <= descriptors, "all descriptors to be closed")
