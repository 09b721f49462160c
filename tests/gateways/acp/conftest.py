from __future__ import annotations

from pathlib import Path

import pytest

from gateways.acp.published import Checker, schema_checker
from simulated import Simulated


@pytest.fixture(scope="session")
def checker() -> Checker:
    return schema_checker()


@pytest.fixture
def fake(tmp_path: Path) -> Simulated:
    return Simulated(tmp_path)
