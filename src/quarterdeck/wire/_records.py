"""How our dataclasses are shown and compared: as those of the official SDK that have the same name."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from reprlib import recursive_repr
from typing import Any


class ByFields:
    """For ``@dataclass(repr=False, eq=False)``: shows all fields except unset keyword-only ones.

    Those are fields that the official SDK's class does not have. It compares as a dataclass does, which would compile
    a comparison of all fields in every program that imports the class.
    """

    __slots__ = ()

    @recursive_repr("...")
    def __repr__(self) -> str:
        shown = ((field, getattr(self, field.name)) for field in _fields(self))
        written = (
            f"{field.name}={value!r}" for field, value in shown if not (field.kw_only and _is_default(field, value))
        )
        return f"{type(self).__qualname__}({', '.join(written)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return _values(self) == _values(other)

    __hash__ = None  # type: ignore[assignment]  # its fields can be changed


def _values(record: Any) -> list[Any]:
    return [getattr(record, field.name) for field in fields(record)]


def _fields(record: Any) -> tuple[Field[Any], ...]:
    return fields(record)


def _is_default(field: Field[Any], value: Any) -> bool:
    return bool(value == (field.default if field.default_factory is MISSING else field.default_factory()))
