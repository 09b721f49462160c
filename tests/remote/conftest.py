"""Tests that share a session or a host run in its event loop."""

from __future__ import annotations

import pytest

from e2e.conftest import pytest_pyfunc_call as _in_the_loop_of_a_session
from host.conftest import pytest_pyfunc_call as _in_the_loop_of_a_host


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return _in_the_loop_of_a_session(pyfuncitem) or _in_the_loop_of_a_host(pyfuncitem)
