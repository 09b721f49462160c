"""``ClaudeSDKClient`` and ``query`` on a host: the tests of local sessions (``tests/e2e/test_official.py``)."""

from __future__ import annotations

from e2e.test_official import *  # noqa: F403
