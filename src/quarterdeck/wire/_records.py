"""Dataclasses that start fast.

``dataclass`` compiles an ``__eq__`` and a ``__repr__`` for each class when it is imported, which takes as long as all
else it does; for ``ClaudeAgentOptions`` alone, nearly three milliseconds. These two do the same for any class.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from reprlib import recursive_repr
from typing import Any


class ByFields:
    """For ``@dataclass(eq=False, repr=False)``: equal when of the same class and all fields are; shown with them.

    Fields by keyword only are those that the official SDK's class does not have: they are shown when they are set.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in _fields(self))

    __hash__ = None  # type: ignore[assignment]  # its fields can be changed

    @recursive_repr("...")
    def __repr__(self) -> str:
        shown = ((field, getattr(self, field.name)) for field in _fields(self))
        written = (
            f"{field.name}={value!r}" for field, value in shown if not (field.kw_only and _is_default(field, value))
        )
        return f"{type(self).__qualname__}({', '.join(written)})"


def _fields(record: Any) -> tuple[Field[Any], ...]:
    return fields(record)


def _is_default(field: Field[Any], value: Any) -> bool:
    return bool(value == (field.default if field.default_factory is MISSING else field.default_factory()))
