"""A home for keepers; none may leave a process behind, whatever the test did to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeper.support import Home, check


@pytest.fixture
def home() -> Iterator[Home]:
    """In a folder with a short name: the name of a socket has a limit."""
    with tempfile.TemporaryDirectory(prefix="keeper-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder) / "state")
        yield home
        check(home)
