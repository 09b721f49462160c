"""Hooks of a program, called through a host: the tests of local sessions (``tests/e2e/test_hooks.py``)."""

from __future__ import annotations

from e2e.test_hooks import *  # noqa: F403
