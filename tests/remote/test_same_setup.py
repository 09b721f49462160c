"""Options of a session on a host: the tests of local sessions (``tests/e2e/test_setup.py``)."""

from __future__ import annotations

from e2e.test_setup import *  # noqa: F403

# A process that does not start is the host's error: remote/test_session.
del test_a_process_that_does_not_start_says_why_on_stderr  # noqa: F821
