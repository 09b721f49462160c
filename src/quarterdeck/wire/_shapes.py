"""What blocks, events and messages share beyond ``_base``.

``Tagged``   an object identified by its ``type``; ``Unknown`` is one whose ``type`` we do not know.
``constant`` a default that is written to the wire too (a plain default is left out when encoding).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import msgspec

from ._base import HIDDEN, WireObject

UNKNOWN_TAG = HIDDEN + "unknown"
"""The ``type`` under which the decoder hands an unknown piece to its union."""

Number = int | float
"""A measured quantity (milliseconds, dollars, fractions): JavaScript writes it with or without a fraction."""

if TYPE_CHECKING:
    from . import _message_dicts

    T = TypeVar("T")
    Word: TypeAlias = Annotated[T, "one of these"]

    ModelUsageDict: TypeAlias = _message_dicts.ModelUsage
    OriginDict: TypeAlias = _message_dicts.MessageOrigin
    TaskUsageDict: TypeAlias = _message_dicts.TaskUsage
else:  # decoded as any dict: as typed dicts they would lose the keys that these do not name
    OriginDict = ModelUsageDict = TaskUsageDict = dict[str, Any]

    class Word:
        """A word that type checkers know a list of. Decoded as any string: a new word is news, not an error."""

        __class_getitem__ = classmethod(lambda cls, words: str)


class Tagged(WireObject):
    """One alternative of a union that the wire distinguishes by ``type``."""

    @property
    def type(self) -> str | None:
        """The ``type`` on the wire."""
        tag = self.__struct_config__.tag
        return tag if isinstance(tag, str) else None


class Unknown(Tagged):
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


def converter(name: str, shape: Any) -> Callable[[Any], Any]:
    """``msgspec.convert`` to a shape that is no class, such as a union.

    ``msgspec`` inspects such a shape again for each value (5 µs for the events of a stream), but a class only once. So
    the shape is the only field of a class, made on first use; ``name`` is how an error calls the value.
    """

    @cache
    def holder() -> type[msgspec.Struct]:
        return msgspec.defstruct(f"{name.title()}Holder", [(name, shape)], gc=False)

    return lambda value: getattr(msgspec.convert({name: value}, holder()), name)


def constant(value: Any) -> Any:
    """A default for a field that the CLI always writes, so that a message built here has the key as well."""
    return msgspec.field(default_factory=lambda: value)


EMPTY_LIST: Any = msgspec.field(default_factory=lambda: [])  # noqa: PIE807  # ``list`` itself would be left out if empty
"""``constant`` for a list: a new empty one each time."""
