"""How a tool's handler is called: the schema of its arguments, and what is made of them."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

from .checks import Check, compile_schema
from .context import ToolContext
from .converters import ArgumentError, Converter, converter, keywords_converter
from .schema import (
    ABSENT,
    JsonSchema,
    Property,
    is_pydantic_model,
    record_properties,
    schema_of,
    schema_of_properties,
    shown_default,
    type_hints,
)

_SCHEMA_WORDS = {"$ref": str, "$schema": str, "properties": dict, "anyOf": list, "oneOf": list, "allOf": list}


class Arguments(NamedTuple):
    """What the model is shown, and how its arguments become what the handler takes."""

    schema: JsonSchema
    convert: Converter
    """Raises ``ArgumentError``."""
    as_keywords: bool
    context_parameter: str | None


def compile_arguments(input_schema: Any, handler: Callable[..., Any]) -> Arguments:
    """Decide it once, when the tool is added to a server. Raises ``TypeError``/``ValueError`` for a bad definition."""
    if input_schema is None:
        properties, context = _parameters(handler)
        return Arguments(schema_of_properties(properties), keywords_converter(properties), True, context)
    context = _context_parameter(handler)
    if isinstance(input_schema, dict):
        schema = input_schema if is_json_schema(input_schema) else _schema_of_dict(input_schema)
        return Arguments({"type": "object", **schema}, _checker(compile_schema(schema)), False, context)
    if typing.is_typeddict(input_schema):
        schema = schema_of(input_schema, lenient=True)
        return Arguments(schema, _checker(compile_schema(schema)), False, context)
    if is_pydantic_model(input_schema) or (isinstance(input_schema, type) and record_properties(input_schema)):
        return Arguments(schema_of(input_schema), converter(input_schema), False, context)
    if isinstance(input_schema, type):
        # A class that says nothing about its fields; the official SDK shows no parameters for it either.
        return Arguments({"type": "object", "properties": {}}, _unchanged, False, context)
    raise TypeError(
        "input_schema takes a dict of types, a JSON schema, a TypedDict, dataclass, msgspec.Struct or Pydantic model, "
        f"not {input_schema!r}"
    )


def is_json_schema(form: dict[str, Any]) -> bool:
    """A JSON schema, rather than a dict of parameter names and their types."""
    if isinstance(form.get("type"), str):
        return True
    return any(isinstance(form.get(word), kind) for word, kind in _SCHEMA_WORDS.items())


def output_schema_of(form: Any) -> JsonSchema:
    """The schema of a structured result."""
    if isinstance(form, dict):
        return form if is_json_schema(form) else _schema_of_dict(form)
    schema = schema_of(form)
    if schema.get("type") != "object":
        raise TypeError(f"output_schema must describe a JSON object, not {form!r}")
    return schema


def _schema_of_dict(form: dict[str, Any]) -> JsonSchema:
    """All are required, as in the official SDK; ``NotRequired[...]`` makes one optional."""
    properties = [
        Property(name, hint, required=typing.get_origin(hint) is not typing.NotRequired) for name, hint in form.items()
    ]
    return schema_of_properties(properties, lenient=True)


def _checker(check: Check) -> Converter:
    def convert(arguments: Any) -> Any:
        problem = check(arguments)
        if problem is not None:
            raise ArgumentError(problem)
        return arguments

    return convert


def _unchanged(arguments: Any) -> Any:
    return arguments


def _parameters(handler: Callable[..., Any]) -> tuple[list[Property], str | None]:
    hints = type_hints(_function_of(handler))
    properties, context = [], None
    for name, parameter in inspect.signature(handler).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"parameter {parameter}: positional-only and variadic parameters are not supported")
        if _is_context(hints.get(name)):
            context = name
            continue
        required = parameter.default is parameter.empty
        default = ABSENT if required else shown_default(parameter.default)
        properties.append(Property(name, hints.get(name, Any), required, default))
    return properties, context


def _context_parameter(handler: Callable[..., Any]) -> str | None:
    """Looked for leniently: a program written for the official SDK may have hints that cannot be resolved."""
    try:
        parameters = inspect.signature(handler).parameters
    except (TypeError, ValueError):
        return None  # some callables written in C have no signature
    try:
        hints = type_hints(_function_of(handler))
    except TypeError:
        hints = {}
    for name, parameter in parameters.items():
        if _is_context(hints.get(name, parameter.annotation)):
            return name
    return None


def _is_context(hint: Any) -> bool:
    if isinstance(hint, str):
        return hint.rpartition(".")[2] == ToolContext.__name__
    return hint is ToolContext or ToolContext in typing.get_args(hint)


def _function_of(handler: Any) -> Any:
    """Where the hints are: below ``functools.partial``, and in ``__call__`` of other objects."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    return handler if inspect.isroutine(handler) else type(handler).__call__
