"""A program's policy for sessions on a host: the tests of local sessions (``tests/e2e/test_policy.py``)."""

from __future__ import annotations

from e2e.test_policy import *  # noqa: F403

# It needs a CLI that has Grep, and a host here runs the newest, which has none.
del test_a_search_reads_nothing_that_the_settings_deny_whether_or_not_the_cli_has_read_them  # type: ignore[name-defined]  # noqa: F821
