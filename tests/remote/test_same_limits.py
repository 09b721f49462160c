"""Runs that end badly on a host: the tests of local sessions (``tests/e2e/test_limits.py``)."""

from __future__ import annotations

from e2e.test_limits import *  # noqa: F403
