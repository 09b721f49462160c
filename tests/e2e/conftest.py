"""Fixtures for tests of the real CLI; none may leave a process behind."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.kit import Running, Stage
from functions import arguments_of
from quarterdeck.testing.install import NEWEST, SUPPORTED
from quarterdeck.testing.model import ModelServer


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that uses a shared session runs in that session's event loop; all others as everywhere."""
    arguments = arguments_of(pyfuncitem)
    running = next((value for value in arguments.values() if isinstance(value, Running)), None)
    if running is None or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    running.run(pyfuncitem.obj(**arguments))
    return True


@contextmanager
def stage_in(folder: Path, version: str = NEWEST, kind: type[Stage] = Stage) -> Iterator[Stage]:
    with ModelServer() as model:
        stage = kind(folder, model, version)
        try:
            yield stage
        finally:
            stage.close()
        assert stage.left_running() == []


@contextmanager
def running_in(folder: Path, version: str = NEWEST, **options: Any) -> Iterator[Running]:
    with stage_in(folder, version) as stage, asyncio.Runner() as runner:
        running = Running(stage, runner, **options)
        runner.run(running.session.open())
        try:
            yield running
        finally:
            runner.run(running.session.close())


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The newest CLI."""
    with stage_in(tmp_path) as stage:
        yield stage


@pytest.fixture(params=SUPPORTED)
def any_stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Every supported CLI, one after the other."""
    with stage_in(tmp_path, request.param) as stage:
        yield stage
