"""Sub-agents and background work on a host: the tests of local sessions (``tests/e2e/test_tasks.py``)."""

from __future__ import annotations

from e2e.test_tasks import *  # noqa: F403
