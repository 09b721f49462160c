"""One browser for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks._browser import CHROMIUM, MISSING, chromium

from needs import missing


@pytest.fixture(scope="session")
def browser_address() -> Iterator[str]:
    if CHROMIUM is None:
        missing(MISSING)
    with chromium() as address:
        yield address
