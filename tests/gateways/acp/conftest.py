from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions import arguments_of
from gateways.acp.desk import Desk, desk_in
from gateways.acp.published import Checker, schema_checker
from simulated import Simulated


@pytest.fixture(scope="session")
def checker() -> Checker:
    return schema_checker()


@pytest.fixture
def fake(tmp_path: Path) -> Simulated:
    return Simulated(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that shares an agent runs in that agent's event loop; all others as everywhere."""
    arguments = arguments_of(pyfuncitem)
    desk = next((value for value in arguments.values() if isinstance(value, Desk)), None)
    if desk is None:
        return None
    desk.run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk_in(tmp_path_factory.mktemp("desk")) as desk:
        yield desk
