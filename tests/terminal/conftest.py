"""A place to work in for each test; nothing may be left running there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from terminal.kit import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()
    assert place.left_running() == []
