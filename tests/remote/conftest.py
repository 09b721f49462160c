"""Tests that share a session or a host run in its event loop; those of local sessions get sessions on a host."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

import soak
from e2e.conftest import pytest_pyfunc_call as _in_the_loop_of_a_session
from e2e.conftest import stage_in
from e2e.kit import Stage
from host.conftest import pytest_pyfunc_call as _in_the_loop_of_a_host
from remote.kit import StageElsewhere

WHOLE = ("test_same_fail_closed",)
ONLY_IN_SOAK = ("test_same_strays",)
"""Slow, and a host ends processes as the client does."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return _in_the_loop_of_a_session(pyfuncitem) or _in_the_loop_of_a_host(pyfuncitem)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In ``make test``, half of the tests of local sessions run here, and guards that fail; each with one parameter.

    ``make soak`` runs all of them.
    """
    if soak.ON or config.option.keyword or any("::" in argument for argument in config.args):
        return
    dropped: set[pytest.Item] = set()
    for _, group in groupby(items, key=lambda item: item.path):
        same = [item for item in group if _is_of_local_sessions(item)]
        names = list(dict.fromkeys(_function(item) for item in same))
        module = same[0].path.stem if same else ""
        most = 0 if module in ONLY_IN_SOAK else len(names) if module in WHOLE else (len(names) + 1) // 2
        kept = set(soak.part(names, most))
        for item in same:
            if _function(item) in kept:
                kept.discard(_function(item))
            else:
                dropped.add(item)
    items[:] = [item for item in items if item not in dropped]
    config.hook.pytest_deselected(items=list(dropped))


def _is_of_local_sessions(item: pytest.Item) -> bool:
    return item.path.parent == Path(__file__).parent and item.path.stem.startswith("test_same_")


def _function(item: pytest.Item) -> str:
    return item.name.partition("[")[0]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The newest CLI, on a host."""
    with stage_in(tmp_path, kind=StageElsewhere) as stage:
        yield stage


@pytest.fixture
def any_stage(stage: Stage) -> Stage:
    """The tests of local sessions have every supported CLI here; what differs between them is no matter of the host."""
    return stage
