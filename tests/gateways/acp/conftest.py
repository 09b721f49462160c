from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateways.acp.editor import schema_checker
from simulated import Simulated


@pytest.fixture(scope="session")
def checker() -> Callable[[dict[str, Any]], None] | None:
    return schema_checker()


@pytest.fixture
def fake(tmp_path: Path) -> Simulated:
    return Simulated(tmp_path)
