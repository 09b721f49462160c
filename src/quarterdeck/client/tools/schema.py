"""Python types → the JSON schema the model is shown.

A type is written where it occurs: models follow a flat schema better than references. Only a type that contains itself
becomes a ``$ref`` into ``$defs``. Records, unions, choices and descriptions are written here; ``msgspec`` writes the
rest (scalars, containers, dates, UUIDs, bytes, generic structs …).
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple

import msgspec

JsonSchema: typing.TypeAlias = dict[str, Any]

ABSENT: Any = object()
"""No default: the property is required, or its default cannot be shown as JSON."""

_QUALIFIERS = {"Required", "NotRequired", "ReadOnly"}
_EMPTY_FACTORIES: dict[Any, Any] = {list: [], dict: {}, set: [], frozenset: [], tuple: []}
SCALARS: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}
"""Most parameters are one of these. msgspec knows them too, but takes a hundred times as long."""
_META_KEYWORDS = {
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
_LENGTH_KEYWORDS = {"string": ("minLength", "maxLength"), "object": ("minProperties", "maxProperties")}


class Property(NamedTuple):
    """One named member of an object: a parameter, a field, a key."""

    name: str
    type: Any
    required: bool = True
    default: Any = ABSENT


def is_pydantic_model(tp: Any) -> bool:
    """Recognized by its methods, so that Pydantic is never imported for a program that does not use it."""
    return isinstance(tp, type) and hasattr(tp, "model_json_schema") and hasattr(tp, "model_validate")


def type_hints(owner: Any) -> dict[str, Any]:
    """The annotations of a class or function as types, ``Annotated`` kept."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"the type hints of {owner.__qualname__} cannot be resolved ({error}); define their types at module "
            "level, or pass input_schema"
        ) from error


def unwrapped(tp: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type inside ``Annotated``, ``NotRequired``, ``NewType`` and aliases, and what ``Annotated`` says about it."""
    notes: tuple[Any, ...] = ()
    while True:
        origin = typing.get_origin(tp)
        if origin is Annotated:
            tp, notes = tp.__origin__, tp.__metadata__ + notes
        elif getattr(origin, "_name", None) in _QUALIFIERS:
            tp = tp.__args__[0]
        elif isinstance(tp, typing.NewType):
            tp = tp.__supertype__
        elif type(tp).__name__ == "TypeAliasType":  # `type X = …`, Python 3.12 and later
            tp = tp.__value__
        else:
            return tp, notes


def schema_of(tp: Any, *, lenient: bool = False) -> JsonSchema:
    """The schema of a type.

    ``lenient`` follows the official SDK: ``Optional[str]`` is a string, and so is any type without a schema.
    """
    builder = _Builder(lenient=lenient)
    return builder.document(builder.of(tp))


def schema_of_properties(properties: Iterable[Property], *, lenient: bool = False) -> JsonSchema:
    """The schema of an object with these properties. A property whose type is a dict is already a schema."""
    builder = _Builder(lenient=lenient)
    schema = builder.object(properties)
    if lenient:
        schema.setdefault("required", [])
    return builder.document(schema)


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
        tp, notes = unwrapped(tp)
        schema = self._of(tp, typing.get_origin(tp), typing.get_args(tp))
        return _annotated(schema, notes) if notes else schema

    def _of(self, tp: Any, origin: Any, args: tuple[Any, ...]) -> JsonSchema:
        if tp is object:
            return {}
        if origin is typing.Union or origin is types.UnionType:
            return self._union([arg for arg in args if not (self._lenient and arg is types.NoneType)])
        if origin is typing.Literal:
            return _choice(args)
        if args and isinstance(origin, type) and issubclass(origin, collections.abc.Collection):
            return self._container(origin, args)
        if isinstance(tp, type):
            if tp in SCALARS:
                return {"type": SCALARS[tp]}
            if issubclass(tp, enum.Enum):
                return _choice(tuple(member.value for member in tp))
            if is_pydantic_model(tp):
                return self._pydantic(tp)
            if (properties := record_properties(tp)) is not None:
                return self._record(tp, properties)
        return self._by_msgspec(tp)

    def _union(self, members: list[Any]) -> JsonSchema:
        return self.of(members[0]) if len(members) == 1 else {"anyOf": [self.of(member) for member in members]}

    def _container(self, origin: Any, args: tuple[Any, ...]) -> JsonSchema:
        """By msgspec, which asks for the schema of the parts."""
        parts: dict[type, JsonSchema] = {}

        def part(member: Any) -> Any:
            if member is ...:
                return ...
            schema = self.of(member)
            stand_in = type("Part", (), {}) if schema else Any
            if schema:
                parts[stand_in] = schema
            return stand_in

        keys = 1 if issubclass(origin, collections.abc.Mapping) else 0
        schema = self._by_msgspec(origin[(*args[:keys], *map(part, args[keys:]))], parts)
        if "prefixItems" in schema:
            del schema["items"]  # ``maxItems`` says it, and older validators do not know ``false``
        return schema

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
        if issubclass(tp, msgspec.Struct) and tp.__struct_config__.forbid_unknown_fields:
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
        if self._depth == 0:  # the tool itself already has a name and a description
            schema.pop("title", None)
        return schema

    def _by_msgspec(self, tp: Any, parts: Mapping[type, JsonSchema] = types.MappingProxyType({})) -> JsonSchema:
        def schema_of_part(part: type) -> JsonSchema:
            if part not in parts:
                raise NotImplementedError
            return parts[part]

        try:
            (schema,), definitions = msgspec.json.schema_components([tp], schema_hook=schema_of_part)
        except TypeError as error:
            if self._lenient:
                return {"type": "string"}
            name = getattr(tp, "__qualname__", None) or repr(tp)
            raise TypeError(f"{name} has no JSON schema: {str(error).splitlines()[0]}") from error
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
        if origin is not Annotated and getattr(origin, "_name", None) not in _QUALIFIERS:
            break
        hint = hint.__origin__ if origin is Annotated else hint.__args__[0]
    return otherwise


def shown_default(value: Any) -> Any:
    """A default as the schema shows it; ``ABSENT`` if it isn't JSON."""
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
    kinds = {SCALARS.get(type(value)) for value in values}
    if not kinds.isdisjoint({None, "number"}):
        raise TypeError(f"Literal and enum values must be strings, integers, booleans or None, not {list(values)!r}")
    choice: JsonSchema = {"enum": list(values)}
    return {"type": kinds.pop(), **choice} if len(kinds) == 1 else choice


def _annotated(schema: JsonSchema, notes: tuple[Any, ...]) -> JsonSchema:
    """With what ``Annotated`` says: a string is a description; ``msgspec.Meta`` and Pydantic's ``Field`` say more."""
    schema = dict(schema)
    for note in notes:
        if isinstance(note, msgspec.Meta):
            lengths = _LENGTH_KEYWORDS.get(schema.get("type", ""), ("minItems", "maxItems"))
            keywords = {**_META_KEYWORDS, "min_length": lengths[0], "max_length": lengths[1]}
            said = {keyword: getattr(note, attribute) for attribute, keyword in keywords.items()}
            schema.update({keyword: value for keyword, value in said.items() if value is not None})
            schema.update(note.extra_json_schema or {})
        elif isinstance(text := getattr(note, "description", None), str):
            schema["description"] = text
    if texts := [note for note in notes if isinstance(note, str)]:
        schema["description"] = texts[0]
    return schema


def _docstring(tp: type) -> str | None:
    """What the author wrote; dataclasses without a docstring are given their signature as one."""
    text = tp.__dict__.get("__doc__")
    return None if not text or text.startswith(f"{tp.__name__}(") else inspect.cleandoc(text)
