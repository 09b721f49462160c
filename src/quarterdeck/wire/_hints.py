"""Field types as objects before ``msgspec`` looks at them: from text, as ``from __future__ import annotations`` leaves
them, it would compile each of several hundred by itself, which took most of the time to the first message.
"""

from __future__ import annotations

import sys
from typing import Any, get_args

import msgspec

from ._shapes import Number

_FREQUENT: dict[str, Any] = {
    "Any": Any,
    "str": str,
    "str | None": str | None,
    "int": int,
    "int | None": int | None,
    "bool": bool,
    "bool | None": bool | None,
    "Number | None": Number | None,
    "list[str] | None": list[str] | None,
    "dict[str, Any] | None": dict[str, Any] | None,
}
"""Two thirds of all fields; these names mean the same everywhere."""


def resolve(*classes: type[msgspec.Struct]) -> None:
    """Evaluate the annotations of these classes, and of all that they hold."""
    seen: set[type] = set()
    waiting: list[Any] = list(classes)
    while waiting:
        for cls in waiting.pop().__mro__:
            if cls not in seen and issubclass(cls, msgspec.Struct):
                seen.add(cls)
                for value in _evaluated(cls):
                    waiting += _structs_in(value)


def _evaluated(cls: type) -> list[Any]:
    """Types of its fields that may hold further classes."""
    annotations: dict[str, Any] = vars(cls).get("__annotations__", {})
    namespace = vars(sys.modules[cls.__module__])
    others = []
    for name, text in annotations.items():
        value = _FREQUENT.get(text) if isinstance(text, str) else text
        if value is None:
            value = eval(text, namespace)  # noqa: S307  # our own source
        if text not in _FREQUENT:
            others.append(value)
        annotations[name] = value
    return others


def _structs_in(value: Any) -> list[type[msgspec.Struct]]:
    if isinstance(value, type) and issubclass(value, msgspec.Struct):
        return [value]
    return [cls for part in get_args(value) for cls in _structs_in(part)]
