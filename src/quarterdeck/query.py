"""``query`` under the module that programs written for the official SDK may import it from.

``quarterdeck.query`` stays the function: an import would set the submodule as an attribute of its package.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from quarterdeck.client import query as query


class _Package(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        if not (name == "query" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


_package = sys.modules[__name__.rpartition(".")[0]]
_package.query = query  # type: ignore[attr-defined]
_package.__class__ = _Package
