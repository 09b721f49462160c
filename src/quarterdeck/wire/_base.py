"""What every wire type is made of.

``WireObject``
    A JSON object inside a message: a content block, a usage record, a hook input … Typed by attributes, and it
    still answers like the plain dict it was on the wire: ``block["text"]``, ``.get()``, ``in``, iteration over the
    wire's own keys.

``OpenObject``
    A ``WireObject`` that remembers the dict it was made from, so that it answers for keys this version does not know.

``Message``
    One line. Knows the exact bytes it came in (``raw``), and the whole line as a dict (``data``), which is made when
    first asked for.

All are outside the garbage collector (``gc=False``): a JSON value has no cycles.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec.structs import force_setattr

from ._json import dumps, loads
from ._official import HIDDEN as HIDDEN
from ._official import Record, RecordType, named

_ABSENT: Any = object()
DOES_NOT_FIT = (msgspec.ValidationError, UnicodeEncodeError)
"""What ``msgspec.convert`` raises; the latter for a lone surrogate in place of a number or an enum word."""


class _Names(dict[type, dict[str, str]]):
    """Struct class → wire key → attribute name, for the fields that are on the wire; filled on first use."""

    def __missing__(self, cls: type[msgspec.Struct]) -> dict[str, str]:
        pairs = zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True)
        self[cls] = names = {key: name for key, name in pairs if not key.startswith(HIDDEN)}
        return names


_NAMES = _Names()


def wire_names(cls: type[msgspec.Struct]) -> dict[str, str]:
    """Wire key → attribute name, for the fields of ``cls`` that are on the wire."""
    return _NAMES[cls]


@cache
def _defaults(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """Attribute name → default, for the fields that are left out when they have it.

    Those without a default, or with a default factory, have a ``msgspec`` marker here that is no field's value.
    """
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    return dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))


def plain(value: Any) -> Any:
    """A value made of wire types as plain dicts and lists, by the names used on the wire."""
    if isinstance(value, msgspec.Struct):
        return value.to_dict() if hasattr(value, "to_dict") else _fields_as_dict(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _fields_as_dict(value: msgspec.Struct) -> dict[str, Any]:
    config, defaults = value.__struct_config__, _defaults(type(value))
    fields: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for key, name in _NAMES[type(value)].items():
        item = getattr(value, name)
        if item is not msgspec.UNSET and (name not in defaults or item is not defaults[name]):
            fields[key] = plain(item)
    return fields


system_messages: ContextVar[list[Message] | None] = ContextVar("system_messages", default=None)
"""Of the chunk at work: ``system`` messages come here as they are made, because their class depends on more than
``type``."""


class WireObject(Record):
    """A typed JSON object that also reads like a dict, by the names used on the wire."""

    def __getitem__(self, key: str) -> Any:
        value = self.get(key, _ABSENT)
        if value is _ABSENT:
            raise KeyError(key)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        name = _NAMES[type(self)].get(key)
        if name is None:
            config = self.__struct_config__
            return config.tag if key == config.tag_field else self._unknown(key, default)
        value = getattr(self, name)
        if value is None or value is msgspec.UNSET:
            return self._unknown(key, default)  # null on the wire, or absent
        return value

    def _unknown(self, key: str, default: Any) -> Any:
        """The value of a key that has no attribute, or whose attribute is None."""
        return default

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key, _ABSENT) is not _ABSENT

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dict):
            return self.to_dict() == other
        if self.official_class is not None:
            return super().__eq__(other)
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    __hash__ = None

    def keys(self) -> KeysView[str]:
        return self.to_dict().keys()

    def values(self) -> ValuesView[Any]:
        return self.to_dict().values()

    def items(self) -> ItemsView[str, Any]:
        return self.to_dict().items()

    def to_dict(self) -> dict[str, Any]:
        """The object as plain dicts and lists, by the names used on the wire."""
        return _fields_as_dict(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """The typed form of a dict that a message holds. Optional fields of an unexpected shape are left out.

        Raises ``ValueError`` where a required one is missing.
        """
        from ._degrade import leaving_out

        typed = leaving_out(dict(data), cls)
        if isinstance(typed, str):
            raise ValueError(f"not a {cls.__name__}: {typed}")
        if isinstance(typed, OpenObject):
            typed.origin_ = dict(data)
        return typed  # type: ignore[no-any-return]


Mapping.register(WireObject)


class OpenObject(WireObject, kw_only=True):
    """A ``WireObject`` that also answers for keys it has no attribute for, from the dict it was made from."""

    origin_: dict[str, Any] | None = msgspec.field(default=None, name=HIDDEN + "origin")

    def _unknown(self, key: str, default: Any) -> Any:
        return default if self.origin_ is None else self.origin_.get(key, default)

    def to_dict(self) -> dict[str, Any]:
        return _fields_as_dict(self) if self.origin_ is None else self.origin_


class MessageType(RecordType):
    """Lets a message be built the official SDK's way too, where its shape there is not the shape on the wire."""

    if not TYPE_CHECKING:  # type checkers think that such classes have an ``__init__``

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  # a metaclass's method
            given = named(cls, args, kwargs)
            built = cls._built(given)
            return cls.plainly_built(**given) if built is None else built

    def plainly_built(cls, **fields: Any) -> Any:  # noqa: N805
        """The message for arguments by our own fields."""
        return super().__call__(**fields)


class Message(Record, kw_only=True, metaclass=MessageType):
    """One line of the conversation, in either direction."""

    line_: Any = msgspec.field(default=None, name=HIDDEN + "line")
    """The received line; with its line ending until ``raw`` is read."""
    data_: Any = msgspec.field(default=None, name=HIDDEN + "data")

    @property
    def raw(self) -> bytes:
        """The exact bytes of the line, without its line ending."""
        line: bytes | None = self.line_
        if line is None:
            return dumps(self.to_dict())
        if line.endswith(b"\n"):
            line = without_ending(line)
            force_setattr(self, "line_", line)
        return line

    @property
    def data(self) -> dict[str, Any]:
        """Everything on the line, including keys without an attribute: the same dict each time."""
        data: dict[str, Any] | None = self.data_
        if data is None:
            data = self.to_dict() if self.line_ is None else loads(self.raw)
            force_setattr(self, "data_", data)
        return data

    @data.setter
    def data(self, data: dict[str, Any]) -> None:
        force_setattr(self, "data_", data)

    @classmethod
    def _built(cls, given: dict[str, Any]) -> Message | None:
        """The message for arguments as the official SDK takes them; None for arguments by our own fields."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """The typed part only, by the names used on the wire."""
        return _fields_as_dict(self)

    def __eq__(self, other: object) -> bool:
        if self.official_class is not None:
            return super().__eq__(other)
        return self.data == other.data if type(other) is type(self) else NotImplemented

    __hash__ = None


def without_ending(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")
