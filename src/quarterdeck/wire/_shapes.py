"""What blocks, events and messages share beyond ``_base``.

``Tagged``   an open object told apart by its ``type``; ``Unknown`` stands for one whose ``type`` we do not know.
``constant`` a default that is written to the wire too (a plain default is left out when encoding).
``located``  makes attributes tell the open objects they hold where they came from, when first read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from ._base import HIDDEN, IS_OPEN, Message, OpenObject, came_from

UNKNOWN_TAG = HIDDEN + "unknown"
"""The ``type`` under which the decoder hands an unknown piece to its union."""

Number = int | float
"""A measured quantity (milliseconds, dollars, fractions): JavaScript writes it with or without a fraction."""

_S = TypeVar("_S", bound=msgspec.Struct)


class Tagged(OpenObject, frozen=True):
    """One alternative of a union that the wire tells apart by ``type``."""

    @property
    def type(self) -> str | None:
        """The ``type`` on the wire."""
        tag = self.__struct_config__.tag
        return tag if isinstance(tag, str) else None


class Unknown(Tagged, frozen=True):
    """Something this version cannot type. Reads like the dict it was; ``reason`` says why it was not typed."""

    data: dict[str, Any]
    reason: str = ""

    @property
    def type(self) -> str | None:
        kind = self.data.get("type")
        return kind if isinstance(kind, str) else None

    def get(self, key: str, default: Any = None) -> Any:
        return self.data.get(key, default)

    def to_dict(self) -> dict[str, Any]:
        return self.data


def constant(value: Any) -> Any:
    """A default for a field that the CLI always writes, so that a message built here has the key as well."""
    return msgspec.field(default_factory=lambda: value)


EMPTY_LIST: Any = msgspec.field(default_factory=lambda: [])  # noqa: PIE807  # ``list`` itself would be left out if empty
"""``constant`` for a list: a new empty one each time."""


def located(*names: str) -> Callable[[type[_S]], type[_S]]:
    """Class decorator: reading one of these fields tells the open object in it (or those in its dict) its origin.

    Attribute access then answers for unknown keys just as ``message["key"]`` access does.
    """

    def decorate(cls: type[_S]) -> type[_S]:
        keys = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
        for name in names:
            setattr(cls, name, _Located(getattr(cls, name).__get__, keys[name]))
        return cls

    return decorate


class _Located:
    """Stands before a field's slot. The slot itself is what ``msgspec`` reads and writes, so only Python sees this."""

    __slots__ = ("_key", "_read")

    def __init__(self, read: Callable[[Any], Any], key: str) -> None:
        self._read = read
        self._key = key

    def __get__(self, holder: Any, owner: type | None = None) -> Any:
        if holder is None:
            return self
        value = self._read(holder)
        if IS_OPEN[type(value)]:
            if value.origin_ is None:
                if type(origin := getattr(holder, "origin_", None)) is tuple:  # twice per text delta: without a call
                    force_setattr(value, "origin_", (*origin, self._key))
                else:
                    tell_origin(holder, value, self._key)
        elif isinstance(value, dict):
            for key, item in value.items():
                tell_origin(holder, item, self._key, key)
        return value


def tell_origin(holder: Message | OpenObject, value: OpenObject, *path: str) -> None:
    """Tell ``value`` that it is at ``path`` in ``holder``, if that came in a line and ``value`` was not told yet."""
    if value.origin_ is not None:
        return
    if isinstance(holder, Message):
        if holder.lines_ is not None:
            came_from(value, (holder.lines_, holder.index_, *path))
    elif type(holder.origin_) is tuple:
        came_from(value, (*holder.origin_, *path))
