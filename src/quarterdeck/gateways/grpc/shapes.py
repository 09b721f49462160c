"""How the host's structs look as messages. The ``.proto`` files are written from this, and values are converted by it.

========================  =============================================================================================
in Python                 in a message
========================  =============================================================================================
``str int float bool``    ``string int64 double bool``; ``optional`` where leaving it out means something else
``datetime``              ``google.protobuf.Timestamp``
``Decimal``               ``string``: money is never a float
``Literal``               an enum; its zero is what is left out
a struct                  a message; lists and dicts of them are ``repeated`` and ``map``
``dict[str, Any]``        ``string NAME_json``: what others have shaped stays as it is, number for number
``str | list[dict]``      ``Content``
null, an empty list       the field's name in ``clear``, where left out means something else
========================  =============================================================================================
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from types import ModuleType, NoneType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UnsetType
from msgspec.structs import FieldInfo

from quarterdeck.host import events, requests, resources
from quarterdeck.host.requests import Request
from quarterdeck.host.resources import Approval, Frame, Frames, Resource, Session
from quarterdeck.timeline import _words
from quarterdeck.timeline.events import EventBase


class Kind(Enum):
    """What a single value is."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    TRUTH = "truth"
    BYTES = "bytes"
    MONEY = "money"
    MOMENT = "moment"
    CONTENT = "content"
    EVENT = "event"
    JSON = "json"
    WORD = "word"
    STRUCT = "struct"


class Words(msgspec.Struct, frozen=True):
    """An enum: our words, and the names of the numbers."""

    name: str
    words: tuple[str, ...]

    @property
    def prefix(self) -> str:
        return snake(self.name).upper()

    def constant(self, word: str) -> str:
        return f"{self.prefix}_{snake(word).upper()}"


NO_WORDS = Words("", ())


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a message."""

    attribute: str
    """Of the struct."""
    encoded: str
    """Its name in JSON."""
    name: str
    """In the message."""
    kind: Kind
    many: Literal["", "list", "map"] = ""
    of: Any = None
    """The struct, for ``STRUCT``."""
    words: Words = NO_WORDS
    """The enum, for ``WORD``."""
    optional: bool = False
    clearable: bool = False
    """Null, or an empty list, differs from absent: ``clear`` says so."""


class HostChange(Resource, frozen=True, kw_only=True):
    """A change of a session or an approval. ``hello`` comes first; after ``gap``, fetch the lists again."""

    kind: Literal["hello", "gap", "session", "approval"]
    pos: int
    """The position to continue after."""
    id: str = ""
    session: Session | None = None
    """Unset: it is deleted."""
    approval: Approval | None = None


class Hello(Resource, frozen=True, kw_only=True):
    """How a stream begins."""

    session_id: str
    epoch: str
    last_seq: int
    """The last row of the log at this moment."""
    resumed: bool = False
    """The log continues at the cursor. Otherwise a ``Gap`` follows, unless there was no cursor."""


TYPES: dict[tuple[type, str], Any] = {(Frame, "events"): list[EventBase], (Frames, "gap"): events.Gap | None}
"""Fields whose annotation says less than there is."""
NAMES: dict[tuple[type, str], str] = {(requests.Wait, "for_"): "states"}
"""Fields that are reserved words in most languages."""
MESSAGE_NAMES = {"TextAdded": "TextDelta"}
"""As specification 001 calls it."""
ENUM_NAMES = {("timeline", "raw"): "View"}
CLEAR = "clear"

_SCALARS = {
    str: Kind.TEXT,
    int: Kind.INTEGER,
    float: Kind.NUMBER,
    bool: Kind.TRUTH,
    bytes: Kind.BYTES,
    Decimal: Kind.MONEY,
    datetime: Kind.MOMENT,
}
_ZEROS: dict[Kind, Any] = {
    Kind.TEXT: "",
    Kind.INTEGER: 0,
    Kind.NUMBER: 0.0,
    Kind.TRUTH: False,
    Kind.BYTES: b"",
    Kind.MONEY: None,
}
"""The value of an absent field without presence."""
_CONTENT = {str, list[dict[str, Any]]}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def message_name(struct: type) -> str:
    return MESSAGE_NAMES.get(struct.__name__, struct.__name__)


@cache
def fields_of(struct: type[msgspec.Struct]) -> tuple[Field, ...]:
    """The fields of the message for this struct. ``at`` of an event is the ``Event``'s own."""
    fields = msgspec.structs.fields(struct)
    return tuple(
        _field(struct, field) for field in fields if not (field.name == "at" and issubclass(struct, EventBase))
    )


def can_clear(struct: type[msgspec.Struct]) -> bool:
    return any(field.clearable for field in fields_of(struct))


def _field(struct: type[msgspec.Struct], info: FieldInfo) -> Field:
    annotation = TYPES.get((struct, info.name), info.type)
    choices = list(get_args(annotation)) if _is_union(annotation) else [annotation]
    can_be_null, can_be_unset = NoneType in choices, UnsetType in choices
    choices = [one for one in choices if one not in (NoneType, UnsetType)]
    place = f"{struct.__name__}{camel(info.name)}"
    if set(choices) == _CONTENT:
        kind, many, of, words = Kind.CONTENT, "", None, NO_WORDS
    else:
        (only,) = choices
        kind, many, of, words = _typed(only, place)
    name = NAMES.get((struct, info.name), info.name)
    return Field(
        attribute=info.name,
        encoded=info.encode_name,
        name=f"{name}_json" if kind is Kind.JSON else name,
        kind=kind,
        many=many,  # type: ignore[arg-type]  # one of its words
        of=of,
        words=words,
        optional=not many and kind in _ZEROS and _has_presence(struct, info, kind, nullable=can_be_null),
        clearable=can_be_unset and (can_be_null or many == "list"),
    )


def _has_presence(struct: type[msgspec.Struct], info: FieldInfo, kind: Kind, *, nullable: bool) -> bool:
    """In requests, where absent is not the zero; in answers, where there may be no value."""
    if not issubclass(struct, Request):
        return nullable
    return not info.required and (info.default is NODEFAULT or info.default != _ZEROS[kind] or kind is Kind.MONEY)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) is Union or type(annotation).__name__ == "UnionType"


def _typed(annotation: Any, place: str) -> tuple[Kind, str, Any, Words]:
    """The kind of a value, whether it is repeated, and its element type."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is Any or annotation is dict:
        return Kind.JSON, "", None, NO_WORDS
    if annotation in _SCALARS:
        return _SCALARS[annotation], "", None, NO_WORDS
    if origin is Literal:
        return Kind.WORD, "", None, Words(_enum_name(parts, place), parts)
    if origin in (list, dict):
        kind, many, of, words = _typed(parts[-1], place)
        if kind is Kind.JSON or many:  # a list of values without a shape has none either
            return Kind.JSON, "", None, NO_WORDS
        return kind, "list" if origin is list else "map", of, words
    if annotation is EventBase:
        return Kind.EVENT, "", None, NO_WORDS
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return Kind.STRUCT, "", annotation, NO_WORDS
    raise TypeError(f"{place}: {annotation} has no form in a message")


@cache
def _aliases() -> dict[tuple[str, ...], str]:
    """Words that have a name in the code."""
    modules: tuple[ModuleType, ...] = (_words, events, requests, resources)
    named = {
        get_args(value): name
        for module in modules
        for name, value in vars(module).items()
        if get_origin(value) is Literal
    }
    return named | ENUM_NAMES


def _enum_name(words: tuple[str, ...], place: str) -> str:
    return _aliases().get(words, place)
