"""Which class each subtype of a ``system`` line becomes."""

from __future__ import annotations

from collections.abc import Iterator

from . import notices, system, tasks
from .system import SystemMessage


def _by_subtype() -> Iterator[tuple[str, type[SystemMessage]]]:
    """Every class that gives its field ``subtype`` a value."""
    for module in (system, notices, tasks):
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, SystemMessage):
                defaults = dict(zip(reversed(cls.__struct_fields__), reversed(cls.__struct_defaults__), strict=False))
                if "subtype" in defaults:
                    yield defaults["subtype"].factory(), cls


SYSTEM_TYPES: dict[str, type[SystemMessage]] = dict(_by_subtype())
"""Subtype of a ``system`` line → its class."""
