"""A guard that fails, asked through a host: the tests of local sessions (``tests/e2e/test_fail_closed.py``)."""

from __future__ import annotations

from e2e.test_fail_closed import *  # noqa: F403
