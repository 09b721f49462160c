from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simulated import Simulated, simulated


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Simulated]:
    """A simulated CLI, none of which may be left."""
    with simulated(tmp_path) as fake:
        yield fake
