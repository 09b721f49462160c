"""Tests that share a host run in its event loop; all others as everywhere."""

from __future__ import annotations

import inspect

import pytest

from functions import arguments_of
from host.staged import Staged, Talk


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    arguments = arguments_of(pyfuncitem)
    shared = next((value for value in arguments.values() if isinstance(value, Staged | Talk)), None)
    if shared is None or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    staged = shared.staged if isinstance(shared, Talk) else shared
    staged.run(pyfuncitem.obj(**arguments))
    return True
