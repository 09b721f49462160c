"""What our dataclasses share: shown as those of the official SDK that have the same name, and cheap to define.

``dataclass`` writes and compiles a function for each method that it adds, which is most of the time such a class takes.
So ``==`` and ``repr`` are here, written once, and ``__init__`` for classes with many fields and few objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inspect


class _Signature:
    """``__signature__``, for ``inspect.signature``, made when it is asked for."""

    def __get__(self, instance: Any, owner: type[ByFields]) -> inspect.Signature:
        if owner.__init__ is not ByFields.__init__:
            raise AttributeError("__signature__")  # it has a signature of its own
        import inspect

        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(field.name, kinds[bool(field.kw_only)], default=_default_in(field), annotation=field.type)
            for field in _fields(owner)
        ]
        return inspect.Signature(parameters, return_annotation="None")


class _Factory:
    """Stands in a signature for a default that is made anew for each object, as with ``dataclasses``."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _default_in(field: Field[Any]) -> Any:
    """The default as a signature has it."""
    import inspect

    if field.default_factory is not MISSING:
        return _FACTORY
    return inspect.Parameter.empty if field.default is MISSING else field.default


class ByFields:
    """For ``@dataclass(repr=False, eq=False)``, and for ``@uncompiled_dataclass``."""

    __slots__ = ()

    if not TYPE_CHECKING:  # they know dataclasses
        __signature__ = _Signature()

        def __init__(self, *args: Any, **given: Any) -> None:
            if args:
                given = _named(type(self), args, given)
            values, missing = vars(self), []
            for field in _fields(self):
                if field.name in given:
                    values[field.name] = given.pop(field.name)
                elif field.default is not MISSING:
                    values[field.name] = field.default
                elif field.default_factory is not MISSING:
                    values[field.name] = field.default_factory()
                else:
                    missing.append(repr(field.name))
            if given:
                name = next(iter(given))
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}")
            if missing:
                raise TypeError(f"{type(self).__name__}.__init__() missing required arguments: {', '.join(missing)}")

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(one == another for one, another in zip(_values(self), _values(other), strict=True))

    __hash__ = None  # type: ignore[assignment]  # its fields can be changed

    @recursive_repr("...")
    def __repr__(self) -> str:
        """All fields but unset ones that are taken by keyword only: the official SDK's class does not have these."""
        shown = ((field, getattr(self, field.name)) for field in _fields(self))
        written = (
            f"{field.name}={value!r}" for field, value in shown if not (field.kw_only and _is_default(field, value))
        )
        return f"{type(self).__qualname__}({', '.join(written)})"


def uncompiled_dataclass(cls: type[ByFields]) -> type[ByFields]:
    """A dataclass all of whose methods are those of ``ByFields``: for one with many fields and few objects."""
    return dataclass(cls, init=False, repr=False, eq=False)


def _fields(record: Any) -> tuple[Field[Any], ...]:
    return fields(record)


def _values(record: Any) -> Iterator[Any]:
    return (getattr(record, field.name) for field in _fields(record))


def _named(cls: type, args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name."""
    names = [field.name for field in _fields(cls) if not field.kw_only]
    if len(args) > len(names):
        takes = f"takes from 1 to {len(names) + 1} positional arguments but {len(args) + 1} were given"
        raise TypeError(f"{cls.__name__}.__init__() {takes}")
    by_position = dict(zip(names, args, strict=False))
    if twice := by_position.keys() & given.keys():
        raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument {min(twice)!r}")
    return by_position | given


def _is_default(field: Field[Any], value: Any) -> bool:
    return bool(value == (field.default if field.default_factory is MISSING else field.default_factory()))
