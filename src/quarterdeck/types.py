"""The same names under the module that programs written for the official SDK import them from."""

from __future__ import annotations

from typing import Any

import quarterdeck


def __getattr__(name: str) -> Any:
    return getattr(quarterdeck, name)
