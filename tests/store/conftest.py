"""The suite and its model are not test modules, but their assertions shall tell as much."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("store.conformance", "store.programs")
