"""What every wire type is made of.

``WireObject``
    A JSON object inside a message: a content block, a usage record, a hook input … Typed by attributes, and it
    still answers like the plain dict it was on the wire: ``event["delta"]["text"]``, ``.get()``, ``in``, iteration
    over the wire's own keys.

``OpenObject``
    A ``WireObject`` that the official SDK hands out as a plain dict. It remembers where it came from, so that keys
    this version does not know are answered too.

``Message``
    One line. Knows the exact bytes it came in (``raw``) and the whole line as a dict (``data``), both made when first
    asked for.

All are outside the garbage collector (``gc=False``): a JSON value has no cycles, and none may be built. An object
therefore refers to its line through ``Lines``, which holds bytes only, never to its message.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextvars import ContextVar
from functools import cache
from typing import Any, ClassVar

import msgspec
from msgspec.structs import force_setattr

from ._json import dumps, loads

_ABSENT: Any = object()
DOES_NOT_FIT = (msgspec.ValidationError, UnicodeEncodeError)
"""What ``msgspec.convert`` raises; the latter for a lone surrogate where a number or a word of a list belongs."""
HIDDEN = "\ue000"
"""Wire names that start so are ours: a private-use character that no key of the protocol starts with."""


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


class _Readers(dict[type, dict[str, Callable[[Any], Any]]]):
    """Struct class → wire key → what reads its slot, past any property that stands before it; filled on first use."""

    def __missing__(self, cls: type[OpenObject]) -> dict[str, Callable[[Any], Any]]:
        slots = {key: getattr(cls, name) for key, name in _NAMES[cls].items()}
        self[cls] = readers = {key: getattr(slot, "_read", slot.__get__) for key, slot in slots.items()}
        tag, tag_field = cls.__struct_config__.tag, cls.__struct_config__.tag_field
        if tag_field is not None and cls.get is WireObject.get:  # else the class knows better, as ``Unknown`` does
            readers[tag_field] = lambda _: tag
        return readers


_READERS = _Readers()


class _Open(dict[type, bool]):
    """Is it a class of open objects? ``isinstance`` takes four times as long where the metaclass is not ``type``."""

    def __missing__(self, cls: type) -> bool:
        self[cls] = answer = issubclass(cls, OpenObject)
        return answer


IS_OPEN = _Open()


@cache
def _defaults(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """Attribute name → default, for the fields that are left out when they have it."""
    fields = msgspec.structs.fields(cls)
    return {field.name: field.default for field in fields if field.default is not msgspec.NODEFAULT}


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


class Lines(msgspec.Struct, gc=False):
    """The lines of one received chunk, split when first asked for; messages share it and hold their index.

    To split them at once would cost more than all else that is done to a line. The chunk may go on behind the last.
    """

    chunk: bytes
    demand: Demand
    start: int = 0
    split: list[bytes] | None = None
    system: list[Message] | None = None
    """Those whose class depends on more than ``type``; they come here as they are made, and are soon taken away."""

    def __getitem__(self, index: int) -> bytes:
        if self.split is None:
            chunk, self.chunk = self.chunk[self.start :], b""
            self.split = chunk.split(b"\n")
            if b"\r" in chunk:
                self.split = [line.removesuffix(b"\r") for line in self.split]
        return self.split[index]


class Demand:
    """What the readers of a stream have shown to need: a decoder starts lazy and follows its consumer."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events = False


being_decoded: ContextVar[Lines | None] = ContextVar("being_decoded", default=None)
"""The chunk at work: messages take it as they are made, which is far cheaper than to tell each afterwards."""


class WireObject(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, eq=False):
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
        if isinstance(other, WireObject):
            return type(self) is type(other) and self.to_dict() == other.to_dict()
        return self.to_dict() == other if isinstance(other, dict) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # its values are lists and dicts

    def __repr__(self) -> str:
        return _repr(self)

    def keys(self) -> KeysView[str]:
        return self.to_dict().keys()

    def values(self) -> ValuesView[Any]:
        return self.to_dict().values()

    def items(self) -> ItemsView[str, Any]:
        return self.to_dict().items()

    def to_dict(self) -> dict[str, Any]:
        """The object as plain dicts and lists, by the names used on the wire."""
        return _fields_as_dict(self)


Mapping.register(WireObject)


class OpenObject(WireObject, frozen=True, kw_only=True):
    """A ``WireObject`` that also answers for keys it has no attribute for, from the line it came in."""

    origin_: Any = msgspec.field(default=None, name=HIDDEN + "origin")
    within_: ClassVar[tuple[str, ...]] = ()
    """Where it is in its origin, for a class that has the origin of what holds it."""

    def _unknown(self, key: str, default: Any) -> Any:
        source = _resolve(self.origin_, self.within_)
        return default if source is None else source.get(key, default)

    def __getitem__(self, key: str) -> Any:
        # Twice per text delta for whoever reads event["delta"]["text"], hence past the properties, and text first.
        try:
            value = _READERS[type(self)][key](self)
        except KeyError:
            return super().__getitem__(key)
        if type(value) is str:
            return value
        if value is None:
            return super().__getitem__(key)
        if not IS_OPEN[type(value)]:
            return getattr(self, _NAMES[type(self)][key])
        if value.origin_ is None and type(origin := self.origin_) is tuple:
            force_setattr(value, "origin_", (*origin, key))
        return value

    def to_dict(self) -> dict[str, Any]:
        source = _resolve(self.origin_, self.within_)
        return _fields_as_dict(self) if source is None else source


def came_from(value: OpenObject, origin: Any) -> None:
    """Tell an object its origin: its dict, or ``(lines, index, *keys)``. Objects are frozen for everyone else."""
    force_setattr(value, "origin_", origin)


def _resolve(origin: Any, within: tuple[str, ...]) -> dict[str, Any] | None:
    if type(origin) is not tuple:
        return origin  # type: ignore[no-any-return]
    lines, index, *path = origin
    value = loads(lines[index])
    for key in (*path, *within):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


class MessageType(msgspec.StructMeta):
    """Lets a message be built the official SDK's way too, where its shape there is not the shape on the wire."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  # a metaclass's method
        line = cls._line_of(args, kwargs)  # type: ignore[attr-defined]
        if line is None:
            return super().__call__(*args, **kwargs)
        message = msgspec.convert(line, cls.built_as_ or cls)  # type: ignore[attr-defined]
        Message.lines_.__set__(message, Lines(dumps(line), Demand()))
        return message


class Message(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, eq=False, kw_only=True, metaclass=MessageType):
    """One line of the conversation, in either direction."""

    lines_: Any = msgspec.field(default_factory=being_decoded.get, name=HIDDEN + "lines")
    index_: int = msgspec.field(default=0, name=HIDDEN + "index")
    built_as_: ClassVar[type[Message] | None] = None
    """The class of those built the official SDK's way, where it is another one."""

    @property
    def raw(self) -> bytes:
        """The exact bytes of the line, without its line ending."""
        if self.lines_ is None:
            return dumps(self.to_dict())
        line: bytes = self.lines_[self.index_]
        return line

    @property
    def data(self) -> dict[str, Any]:
        """Everything the line says, also what has no attribute. Made anew at each call."""
        if self.lines_ is None:
            return self.to_dict()
        data: dict[str, Any] = loads(self.raw)
        return data

    @classmethod
    def _line_of(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The line for arguments as the official SDK takes them; None for arguments by our own fields."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """The typed part only, by the names used on the wire."""
        return _fields_as_dict(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return type(self) is type(other) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _repr(self)


def _repr(value: msgspec.Struct) -> str:
    shown = ((name, getattr(value, name)) for name in wire_names(type(value)).values())
    fields = ", ".join(f"{name}={item!r}" for name, item in shown if item is not None)
    return f"{type(value).__name__}({fields})"
