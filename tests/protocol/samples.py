"""A smallest valid value for any wire type: required fields filled by their type."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect


def sample(cls: Any) -> Any:
    """An instance of a wire type with every required field set."""
    return msgspec.convert(_value(inspect.type_info(cls)), cls)


def _value(kind: inspect.Type) -> Any:  # one branch a kind
    match kind:
        case inspect.StructType():
            tag = {kind.tag_field: kind.tag} if kind.tag_field else {}
            return tag | {field.encode_name: _value(field.type) for field in kind.fields if field.required}
        case inspect.UnionType():
            return _value(kind.types[0])
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.StrType():
            return "x"
        case inspect.BoolType():
            return True
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.ListType():
            return [_value(kind.item_type)]
        case inspect.DictType():
            return {"k": _value(kind.value_type)}
        case inspect.NoneType():
            return None
        case _:
            return {"any": 1}
