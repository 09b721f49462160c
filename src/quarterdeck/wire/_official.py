"""Structs that behave like the dataclasses of the official SDK.

Programs written for that SDK print messages, compare them, copy and pickle them, unpack them by position in ``match``,
set attributes on them, and pass them to ``dataclasses.asdict``, ``replace`` and ``fields``. A ``Record`` is a struct,
for speed, and answers for all of that. Nothing here is computed until it is asked for.

``official`` names the fields of the class of that name in the official SDK, in its order. Everything else a class has
(``raw``, fields that SDK does not know) stays out of ``repr``, ``==``, ``vars`` and ``fields``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec
from msgspec.structs import force_setattr

if TYPE_CHECKING:
    import dataclasses
    import inspect

HIDDEN = "\ue000"
"""Wire names that start with it are ours: a private-use character that no key of the protocol starts with."""

_R = TypeVar("_R", bound="Record")


class RecordType(msgspec.StructMeta):
    if not TYPE_CHECKING:  # they take the order of the fields

        @property
        def __match_args__(cls) -> tuple[str, ...]:  # noqa: N805
            return _shown(cls)[: len(cls.official_fields) or None]

    @property
    def __signature__(cls) -> inspect.Signature:  # noqa: N805
        return _signature(cls)


class _Fields:
    """``__dataclass_fields__``, made for a class when it is first asked for."""

    def __get__(self, instance: Any, owner: type[Record]) -> dict[str, dataclasses.Field[Any]]:
        return _dataclass_fields(owner)


class _Params:
    """What ``pprint`` asks of a dataclass."""

    repr = True


class Added:
    """An attribute that a program has added to a record. With a ``__getattr__`` in its place, reading any attribute of
    any record would take five times as long."""

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def to(cls, owner: type[Record], name: str) -> None:
        type.__setattr__(owner, name, cls(name))

    def __get__(self, record: Any, owner: type[Record]) -> Any:
        more = None if record is None else record.more_
        if more is None or self.name not in more:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}")
        return more[self.name]

    def __set__(self, record: Any, value: Any) -> None:
        self.set(record, self.name, value)

    @staticmethod
    def set(record: Any, name: str, value: Any) -> None:
        if record.more_ is None:
            force_setattr(record, "more_", {})
        record.more_[name] = value


class Record(msgspec.Struct, gc=False, omit_defaults=True, eq=False, kw_only=True, metaclass=RecordType):
    """A struct that behaves like a dataclass."""

    official_class: ClassVar[type[Record] | None] = None
    """The class whose fields ``official`` named; subclasses share its fields, and are equal if those are."""
    official_fields: ClassVar[tuple[str, ...]] = ()
    official_defaults: ClassVar[dict[str, Any]] = {}
    added_fields: ClassVar[tuple[str, ...]] = ()
    """Fields of ours that count like those of the official class, and are shown once they are set."""

    __dataclass_fields__: ClassVar[Any] = _Fields()
    __dataclass_params__: ClassVar[Any] = _Params()

    more_: dict[str, Any] | None = msgspec.field(default=None, name=HIDDEN + "more")
    """Attributes that a program has added."""

    if not TYPE_CHECKING:  # or a misspelt attribute would be right for type checkers

        def __setattr__(self, name: str, value: Any) -> None:
            try:
                force_setattr(self, name, value)
            except AttributeError:
                known = getattr(type(self), name, None)
                if isinstance(known, property):
                    raise
                if known is None:
                    Added.to(type(self), name)
                Added.set(self, name, value)

        def __delattr__(self, name: str) -> None:
            if self.more_ is None or self.more_.pop(name, self) is self:
                raise AttributeError(name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        fields = {name: getattr(self, name) for name in _shown(type(self))}
        return fields if self.more_ is None else fields | self.more_

    def __eq__(self, other: object) -> bool:
        cls = type(self)
        kin = cls.official_class is not None and getattr(other, "official_class", None) is cls.official_class
        if type(other) is not cls and not kin:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _shown(cls))

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = None  # type: ignore[assignment]  # its fields can be changed

    @recursive_repr("...")
    def __repr__(self) -> str:
        shown = ((name, getattr(self, name)) for name in _shown(type(self)))
        always = self.official_fields
        fields = ", ".join(f"{name}={value!r}" for name, value in shown if value is not None or name in always)
        return f"{type(self).__qualname__}({fields})"

    def __reduce__(self) -> Any:
        fields = {name: getattr(self, name) for name in type(self).__struct_fields__}
        return _rebuilt, (type(self), fields)


def __create_fn__(record: Record) -> str:  # noqa: N807
    """This name tells ``pprint`` that a dataclass has no custom ``__repr__``, so that it lays out the fields."""
    return Record.__repr__(record)


Record.__repr__.__wrapped__ = __create_fn__  # type: ignore[attr-defined]


def _rebuilt(cls: type[Record], fields: dict[str, Any]) -> Record:
    for name in fields["more_"] or ():
        if not isinstance(vars(cls).get(name), Added):
            Added.to(cls, name)
    return msgspec.StructMeta.__call__(cls, **fields)  # type: ignore[no-any-return]


def official(required: str, optional: str = "", *, added: str = "", **defaults: Any) -> Callable[[type[_R]], type[_R]]:
    """Class decorator: the official SDK's fields. Optional ones are None there, or what ``defaults`` makes.

    ``added``: fields of ours that are None unless they are set.
    """
    names = tuple(f"{required} {optional}".split())

    def decorate(cls: type[_R]) -> type[_R]:
        cls.official_class, cls.official_fields, cls.added_fields = cls, names, tuple(added.split())
        cls.official_defaults = {name: defaults.get(name) for name in optional.split()}
        return cls

    return decorate


def named(cls: type[Record], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name; by position they are the official fields."""
    if not args:
        return kwargs
    names = _shown(cls)
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}() takes {len(names)} positional arguments but {len(args)} were given")
    given = dict(zip(names, args, strict=False))
    if twice := given.keys() & kwargs.keys():
        raise TypeError(f"{cls.__name__}() got multiple values for argument {min(twice)!r}")
    return given | kwargs


def check_required(cls: type[Record], kwargs: dict[str, Any]) -> None:
    missing = [name for name in cls.official_fields if name not in kwargs and name not in cls.official_defaults]
    if missing:
        raise TypeError(f"{cls.__name__}() missing required arguments: {', '.join(map(repr, missing))}")


@cache
def _shown(cls: type[Record]) -> tuple[str, ...]:
    """The fields of the official class; of a class that is ours alone, those on the wire."""
    if cls.official_class is not None:
        return cls.official_fields + cls.added_fields
    pairs = zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True)
    return tuple(name for key, name in pairs if not key.startswith(HIDDEN))


@cache
def _dataclass_fields(cls: type[Record]) -> dict[str, dataclasses.Field[Any]]:
    import dataclasses  # few programs ask

    annotations: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        annotations |= getattr(base, "__annotations__", {})
    made = {field.name: field for field in msgspec.structs.fields(cls)}
    fields: list[Any] = []
    for name in _shown(cls):
        default: Any = dataclasses.field(kw_only=cls.official_class is None)
        if name in cls.official_defaults:
            value = cls.official_defaults[name]
            default = dataclasses.field(default_factory=value) if callable(value) else dataclasses.field(default=value)
        elif name in cls.added_fields or (cls.official_class is None and not made[name].required):
            default = dataclasses.field(default=None, kw_only=True)
        fields.append((name, annotations.get(name, Any), default))
    made_up: Any = dataclasses.make_dataclass(cls.__name__, fields)
    return made_up.__dataclass_fields__  # type: ignore[no-any-return]


@cache
def _signature(cls: type[Record]) -> inspect.Signature:
    """For ``inspect.signature``: the official parameters; of a class that is ours alone, its fields on the wire."""
    import inspect

    fields = _dataclass_fields(cls).values()
    return inspect.Signature(
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_default(field),
                annotation=field.type,
            )
            for field in fields
        ]
    )


def _default(field: dataclasses.Field[Any]) -> Any:
    import dataclasses
    import inspect

    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
