"""Retries, the warm pool and tracing on a host: the tests of local sessions (``tests/e2e/test_extras.py``)."""

from __future__ import annotations

from e2e.test_extras import *  # noqa: F403

# Variables of the environment need an admin's token, so the trace does not depend on them: the host traces itself.
del test_the_trace_goes_on_in_the_cli  # noqa: F821
