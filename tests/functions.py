"""Calling a test function the way pytest would, with the fixtures that it asks for."""

from __future__ import annotations

import inspect
from typing import Any

import pytest


def arguments_of(item: pytest.Function) -> dict[str, Any]:
    """The fixtures and parameters that the test function names."""
    return {name: item.funcargs[name] for name in inspect.signature(item.obj).parameters if name in item.funcargs}
