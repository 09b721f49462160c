"""A home for keepers; none may leave a process behind, whatever the test did to it."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeper.support import Home
from transport.support import until_blocking


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "state")
    yield home
    assert not home.expects_no_faults or home.faults() == ""
    for pid in home.keeper_pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)
    until_blocking(lambda: not home.keeper_pids(), "all keepers to leave")
    until_blocking(lambda: not home.left_running(), "all processes to end")
