"""One browser for all tests of a worker."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from benchmarks._browser import CHROMIUM, MISSING, chromium


@pytest.fixture(scope="session")
def browser_address() -> Iterator[str]:
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with chromium() as address:
        yield address
