"""Tests that share a session or a host run in its event loop; those of local sessions get sessions on a host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import pytest_pyfunc_call as _in_the_loop_of_a_session
from e2e.conftest import stage_in
from e2e.kit import Stage
from host.conftest import pytest_pyfunc_call as _in_the_loop_of_a_host
from remote.kit import StageElsewhere


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return _in_the_loop_of_a_session(pyfuncitem) or _in_the_loop_of_a_host(pyfuncitem)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The newest CLI, on a host."""
    with stage_in(tmp_path, kind=StageElsewhere) as stage:
        yield stage


@pytest.fixture
def any_stage(stage: Stage) -> Stage:
    """The tests of local sessions have every supported CLI here; what differs between them is no matter of the host."""
    return stage
