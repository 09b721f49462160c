"""Tools from npm that tests of the page need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks._npm import package

MISSING = "node or npm is not installed, or the registry cannot be reached"


def from_npm(name: str, version: str) -> Path:
    """Where the package is. Without it a test is skipped, but fails in CI, which has all that is needed."""
    folder = package(name, version)
    if folder is None:
        pytest.fail(MISSING) if os.environ.get("CI") else pytest.skip(MISSING)
    return folder / "node_modules" / name
