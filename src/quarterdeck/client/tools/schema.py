"""Python types → the JSON schema the model is shown.

A type that occurs once is written where it occurs: models follow a flat schema better than references. Only a type that
contains itself becomes a ``$ref`` into ``$defs``. ``msgspec`` writes the schema of everything that is not a container
or a record (dates, UUIDs, bytes, decimals, generic structs …).
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

JsonSchema: typing.TypeAlias = dict[str, Any]

ABSENT: Any = object()
"""No default: the property is required, or its default cannot be shown as JSON."""

_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}
_ARRAYS = {list, tuple, collections.abc.Collection, collections.abc.Sequence, collections.abc.MutableSequence}
_SETS = {set, frozenset, collections.abc.Set, collections.abc.MutableSet}
_MAPPINGS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}
_QUALIFIERS = {"Required", "NotRequired", "ReadOnly"}
_EMPTY_FACTORIES: dict[Any, Any] = {list: [], dict: {}, set: [], frozenset: [], tuple: []}
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
    "title": "title",
    "description": "description",
    "examples": "examples",
}
_LENGTHS = {"string": ("minLength", "maxLength"), "object": ("minProperties", "maxProperties")}


class Property(NamedTuple):
    """One named member of an object: a parameter, a field, a key."""

    name: str
    type: Any
    required: bool = True
    default: Any = ABSENT


def is_pydantic_model(tp: Any) -> bool:
    """Known by its methods, so that Pydantic is never imported for a program that does not use it."""
    return isinstance(tp, type) and hasattr(tp, "model_json_schema") and hasattr(tp, "model_validate")


def type_hints(owner: Any) -> dict[str, Any]:
    """The annotations of a class or function as types, ``Annotated`` kept."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"the type hints of {owner.__qualname__} cannot be resolved ({error}); "
            "define the types it names at module level, or give input_schema"
        ) from error


def schema_of(tp: Any, *, lenient: bool = False) -> JsonSchema:
    """The schema of a type. ``lenient``: what has no schema is shown as a string, as the official SDK does."""
    builder = _Builder(lenient=lenient)
    return builder.document(builder.of(tp))


def schema_of_properties(properties: Iterable[Property], *, lenient: bool = False) -> JsonSchema:
    """The schema of an object with these properties. A property whose type is a dict is a schema already."""
    builder = _Builder(lenient=lenient)
    return builder.document(builder.object(properties))


class _Builder:
    def __init__(self, *, lenient: bool) -> None:
        self._lenient = lenient
        self._depth = 0
        self._open: list[Any] = []
        self._recursive: list[Any] = []
        self._definitions: dict[str, JsonSchema] = {}

    def document(self, root: JsonSchema) -> JsonSchema:
        """The root in full, for a tool's schema must say ``type: object`` at the top, with the definitions it needs."""
        prefix, _, name = root.get("$ref", "").rpartition("/")
        if prefix == "#/$defs":
            root = self._definitions[name]
        return {**root, "$defs": self._definitions} if self._definitions else root

    def of(self, tp: Any) -> JsonSchema:
        if tp is Any or tp is object or isinstance(tp, typing.TypeVar):
            return {}
        if tp is None:
            return {"type": "null"}
        if isinstance(tp, typing.NewType):
            return self.of(tp.__supertype__)
        if type(tp).__name__ == "TypeAliasType":  # `type X = …`, Python 3.12 and later
            return self.of(tp.__value__)
        if isinstance(tp, collections.abc.Hashable) and tp in _SCALARS:
            return {"type": _SCALARS[tp]}
        origin = typing.get_origin(tp)
        if origin is not None:
            composed = self._composed(tp, origin, typing.get_args(tp))
            if composed is not None:
                return composed
        if isinstance(tp, type):
            named = self._named(tp)
            if named is not None:
                return named
        return self._by_msgspec(tp)

    def _composed(self, tp: Any, origin: Any, args: tuple[Any, ...]) -> JsonSchema | None:
        """The schema of a type with arguments; None if it is none of those known here."""
        if origin is typing.Annotated:
            return _constrained(self.of(args[0]), args[1:])
        if getattr(origin, "_name", None) in _QUALIFIERS:
            return self.of(args[0])
        if origin is typing.Union or origin is types.UnionType:
            return {"anyOf": [self.of(member) for member in args]}
        if origin is typing.Literal:
            return _choice(args)
        if origin is tuple:
            return self._tuple(args)
        if origin in _ARRAYS:
            return {"type": "array", "items": self.of(args[0])}
        if origin in _SETS:
            return {"type": "array", "items": self.of(args[0]), "uniqueItems": True}
        if origin in _MAPPINGS:
            values = self.of(args[1])
            return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
        return None

    def _tuple(self, args: tuple[Any, ...]) -> JsonSchema:
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", "items": self.of(args[0])}
        items = [self.of(member) for member in args]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _named(self, tp: type) -> JsonSchema | None:
        """The schema of a class; None if it is none of those known here."""
        if tp in _ARRAYS:
            return {"type": "array"}
        if tp in _SETS:
            return {"type": "array", "uniqueItems": True}
        if tp in _MAPPINGS:
            return {"type": "object"}
        if issubclass(tp, enum.Enum):
            return _choice(tuple(member.value for member in tp))
        if is_pydantic_model(tp):
            return self._pydantic(tp)
        properties = record_properties(tp)
        return None if properties is None else self._record(tp, properties)

    def _record(self, tp: type, properties: list[Property]) -> JsonSchema:
        reference = {"$ref": f"#/$defs/{tp.__name__}"}
        if tp in self._open:
            self._recursive.append(tp)
            return reference
        nested = self._depth > 0
        self._open.append(tp)
        try:
            schema = self.object(properties)
        finally:
            self._open.pop()
        if _forbids_unknown(tp):
            schema["additionalProperties"] = False
        if nested and (text := _docstring(tp)):
            schema["description"] = text
        if tp not in self._recursive:
            return schema
        self._define(tp.__name__, schema)
        return reference

    def object(self, properties: Iterable[Property]) -> JsonSchema:
        shown: dict[str, JsonSchema] = {}
        required = []
        self._depth += 1
        for name, tp, is_required, default in properties:
            try:
                schema = dict(tp) if isinstance(tp, dict) else self.of(tp)
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from error
            if default is not ABSENT:
                schema = {**schema, "default": default}
            shown[name] = schema
            if is_required:
                required.append(name)
        self._depth -= 1
        built: JsonSchema = {"type": "object", "properties": shown}
        return {**built, "required": required} if required else built

    def _pydantic(self, tp: Any) -> JsonSchema:
        schema: JsonSchema = tp.model_json_schema()
        for name, definition in schema.pop("$defs", {}).items():
            self._define(name, definition)
        if self._depth == 0:  # the tool itself is named and described already
            schema.pop("title", None)
        return schema

    def _by_msgspec(self, tp: Any) -> JsonSchema:
        try:
            (schema,), definitions = msgspec.json.schema_components([tp], ref_template="#/$defs/{name}")
        except TypeError as error:
            if self._lenient:
                return {"type": "string"}
            raise TypeError(f"{_type_name(tp)} has no JSON schema: {str(error).splitlines()[0]}") from error
        for name, definition in definitions.items():
            self._define(name, definition)
        return schema

    def _define(self, name: str, schema: JsonSchema) -> None:
        if self._definitions.setdefault(name, schema) != schema:
            raise TypeError(f"two different types are called {name}; rename one of them")


def record_properties(tp: type) -> list[Property] | None:
    """The members of a TypedDict, dataclass or struct; None for any other class."""
    if typing.is_typeddict(tp):
        required: frozenset[str] = tp.__required_keys__  # type: ignore[attr-defined]
        return [Property(name, hint, _is_required(hint, name in required)) for name, hint in type_hints(tp).items()]
    if dataclasses.is_dataclass(tp):
        hints = type_hints(tp)
        return [
            _with_default(item.name, hints[item.name], item.default, item.default_factory, dataclasses.MISSING)
            for item in dataclasses.fields(tp)
            if item.init
        ]
    if issubclass(tp, msgspec.Struct) and not tp.__struct_config__.array_like:
        config = tp.__struct_config__
        tag = [Property(config.tag_field, {"enum": [config.tag]})] if config.tag_field is not None else []
        return tag + [
            _with_default(item.encode_name, item.type, item.default, item.default_factory, msgspec.NODEFAULT)
            for item in msgspec.structs.fields(tp)
        ]
    return None


def _is_required(hint: Any, otherwise: bool) -> bool:
    """``__required_keys__`` alone is wrong where annotations are strings: ``NotRequired`` was not seen in them."""
    while (origin := typing.get_origin(hint)) is not None:
        if origin is typing.Required or origin is typing.NotRequired:
            return origin is typing.Required
        if origin is not typing.Annotated and getattr(origin, "_name", None) not in _QUALIFIERS:
            break
        hint = typing.get_args(hint)[0]
    return otherwise


def shown_default(value: Any) -> Any:
    """A default as the schema shows it; ``ABSENT`` if JSON cannot say it."""
    try:
        return msgspec.to_builtins(value.model_dump() if hasattr(value, "model_dump") else value)
    except (TypeError, ValueError):
        return ABSENT


def _with_default(name: str, hint: Any, default: Any, factory: Any, nothing: Any) -> Property:
    if default is not nothing:
        return Property(name, hint, required=False, default=shown_default(default))
    if factory is not nothing:
        return Property(name, hint, required=False, default=_EMPTY_FACTORIES.get(factory, ABSENT))
    return Property(name, hint)


def _choice(values: tuple[Any, ...]) -> JsonSchema:
    kinds = {_SCALARS.get(type(value)) for value in values}
    if None in kinds or "number" in kinds:
        raise TypeError(f"only strings, integers, booleans and None can be chosen from, not {list(values)!r}")
    choice: JsonSchema = {"enum": list(values)}
    return {"type": kinds.pop(), **choice} if len(kinds) == 1 else choice


def _constrained(schema: JsonSchema, annotations: tuple[Any, ...]) -> JsonSchema:
    """With what ``Annotated`` says: a string is a description; ``msgspec.Meta`` and Pydantic's ``Field`` say more."""
    schema = dict(schema)
    for note in annotations:
        if isinstance(note, str):
            schema.setdefault("description", note)
        elif isinstance(note, msgspec.Meta):
            for attribute, keyword in _BOUNDS.items():
                if (value := getattr(note, attribute)) is not None:
                    schema[keyword] = value
            lengths = _LENGTHS.get(schema.get("type", ""), ("minItems", "maxItems"))
            for value, keyword in zip((note.min_length, note.max_length), lengths, strict=True):
                if value is not None:
                    schema[keyword] = value
            schema.update(note.extra_json_schema or {})
        elif isinstance(text := getattr(note, "description", None), str):
            schema["description"] = text
    return schema


def _forbids_unknown(tp: type) -> bool:
    return issubclass(tp, msgspec.Struct) and tp.__struct_config__.forbid_unknown_fields


def _docstring(tp: type) -> str | None:
    """What the author wrote; dataclasses without a docstring are given their signature as one."""
    text = tp.__dict__.get("__doc__")
    return None if not text or text.startswith(f"{tp.__name__}(") else inspect.cleandoc(text)


def _type_name(tp: Any) -> str:
    return getattr(tp, "__qualname__", None) or repr(tp)
