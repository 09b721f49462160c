"""How our dataclasses are shown: as those of the official SDK that have the same name."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from reprlib import recursive_repr
from typing import Any


class ByFields:
    """For ``@dataclass(repr=False)``: shows all fields except unset keyword-only ones.

    Those are fields that the official SDK's class does not have.
    """

    __slots__ = ()

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
