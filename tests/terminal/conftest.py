"""A place to work in for each test; nothing may be left running there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.testing.model import ModelServer
from terminal.kit import Place
from terminal.real_place import RealPlace


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()
    assert place.left_running() == []


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealPlace]:
    with ModelServer() as model:
        place = RealPlace(tmp_path, model)
        yield place
        place.close()
        assert place.left_running() == []
