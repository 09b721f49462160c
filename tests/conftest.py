"""For all tests: a test may be a coroutine function; it runs in an event loop of its own, which must end clean.

A shell that runs the tests in the background makes them ignore SIGINT, and a process hands that on to its children:
then no test could show what Ctrl-C does.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import threading
from collections.abc import Iterator

import hypothesis
import pytest

import soak
from functions import arguments_of
from rooms import RoomTimes

# No deadline: a busy machine must not fail a test. In `make test` the examples are the same each time.
hypothesis.settings.register_profile(
    "quarterdeck",
    deadline=None,
    derandomize=not soak.ON,
    max_examples=soak.cases(100, in_soak=5_000),
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("quarterdeck")


# Terminal tests fork, because a child has to make the terminal its own before exec. If gRPC is loaded in the same
# worker, its fork handlers can stop that child before it gets there.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(RoomTimes(config))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    function = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function):
        return None
    arguments = arguments_of(pyfuncitem)
    asyncio.run(function(**arguments))
    return True


@pytest.fixture(autouse=True)
def surroundings() -> Iterator[None]:
    """What a test leaves in the environment, or as working directory, would change what the tests after it see."""
    before = _surroundings()
    yield
    assert _surroundings() == before


def _surroundings() -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {**variables, "the working directory": os.getcwd()}  # noqa: PTH109  # a string like the others
