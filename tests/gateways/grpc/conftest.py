"""Tests that share a host run in its event loop, as those of the host do."""

from __future__ import annotations

from host.conftest import pytest_pyfunc_call as pytest_pyfunc_call
