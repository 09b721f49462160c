"""JSON values → the Python values a handler's types ask for.

``msgspec`` does it, compiled, for nearly every type. What it refuses (a union of several records without tags) is
walked here, down to the parts it takes; of such a union the first member that fits is taken.

Nothing is coerced: ``"5"`` is no number and ``5`` no text. An integer is taken where a ``float`` is asked for; strings
become dates, UUIDs, enum members and bytes where the type says so; unknown keys are ignored unless the type forbids
them. A Pydantic model follows Pydantic's own rules.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from .checks import Problem, kind_of
from .schema import Property, is_pydantic_model, record_properties

Converter: TypeAlias = Callable[[Any], Any]

_PLACE = re.compile(r" - at `(?:key` in `)?\$\.?(?P<path>.*)`$")
_MISSING = re.compile(r"^Object missing required field `(?P<name>.*)`$")


class ArgumentError(ValueError):
    """Arguments that do not fit; its text is for the model."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        place = f"argument {problem.path!r}" if problem.path else "arguments"
        super().__init__(f"{place}: {problem.text}")


def converter(tp: Any) -> Converter:
    """A function that makes a ``tp`` of a JSON value, or raises ``ArgumentError``."""
    if is_pydantic_model(tp):
        return _by_pydantic(tp)
    if _msgspec_takes(tp):
        return _by_msgspec(tp)
    origin, args = typing.get_origin(tp), typing.get_args(tp)
    if origin is typing.Annotated or getattr(origin, "_name", None) in {"Required", "NotRequired"}:
        return converter(args[0])
    if origin is typing.Union or origin is types.UnionType:
        return _first_of([converter(member) for member in args])
    if origin in (list, set, frozenset) or (origin is tuple and args[1:] == (Ellipsis,)):
        return _each(origin, converter(args[0]))
    if origin is dict:
        return _values(converter(args[1]))
    properties = record_properties(tp) if isinstance(tp, type) and not issubclass(tp, msgspec.Struct) else None
    if properties is None:
        raise TypeError(f"values of {tp!r} cannot be made from JSON")
    return _record(tp, properties)


def keywords_converter(properties: list[Property]) -> Callable[[Any], dict[str, Any]]:
    """For a function called with keywords: only what was given is in the dict, so its own defaults apply."""
    fields = {name: tp if required else typing.NotRequired[tp] for name, tp, required, _ in properties}
    keywords = typing.TypedDict("keywords", fields)  # type: ignore[misc]  # made at run time
    if _msgspec_takes(keywords):
        return _by_msgspec(keywords)
    return _record(dict, properties)


def _msgspec_takes(tp: Any) -> bool:
    try:
        msgspec.json.Decoder(tp)
    except TypeError:
        return False
    return True


def _make_foreign(tp: Any, value: Any) -> Any:
    """Called by msgspec for a class it does not know; schemas of other foreign classes are refused before."""
    return tp.model_validate(value)


def _by_msgspec(tp: Any) -> Converter:
    convert = msgspec.convert

    def make(value: Any) -> Any:
        try:
            return convert(value, tp, dec_hook=_make_foreign)
        except msgspec.ValidationError as error:
            raise ArgumentError(_read_msgspec(str(error))) from error

    return make


def _read_msgspec(text: str) -> Problem:
    """The place and the problem, out of a sentence such as: Expected `int`, got `str` - at `$.items[...].size`."""
    path = ""
    if place := _PLACE.search(text):
        path, text = place["path"], text[: place.start()]
    if missing := _MISSING.match(text):
        return Problem(f"{path}.{missing['name']}".removeprefix("."), "required but missing")
    return Problem(path, (text[:1].lower() + text[1:]).replace("`", ""))


def _by_pydantic(tp: Any) -> Converter:
    def make(value: Any) -> Any:
        try:
            return tp.model_validate(value)
        except ValueError as error:
            raise ArgumentError(_read_pydantic(error)) from error

    return make


def _read_pydantic(error: Any) -> Problem:
    details = error.errors()
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in details[0]["loc"])
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return Problem(path.removeprefix("."), details[0]["msg"] + more)


def _first_of(members: list[Converter]) -> Converter:
    def make(value: Any) -> Any:
        problems = []
        for member in members:
            try:
                return member(value)
            except ArgumentError as error:
                problems.append(str(error))
        raise ArgumentError(Problem("", "fits no alternative: " + "; ".join(problems)))

    return make


def _each(container: type, member: Converter) -> Converter:
    def make(value: Any) -> Any:
        if not isinstance(value, list):
            raise ArgumentError(Problem("", f"expected array, got {kind_of(value)}"))
        return container([_under(f"[{index}]", member, item) for index, item in enumerate(value)])

    return make


def _values(member: Converter) -> Converter:
    def make(value: Any) -> Any:
        if not isinstance(value, dict):
            raise ArgumentError(Problem("", f"expected object, got {kind_of(value)}"))
        return {key: _under(key, member, item) for key, item in value.items()}

    return make


def _record(tp: Any, properties: list[Property]) -> Converter:
    """A dataclass, or a dict of those keys that were given."""
    members: Mapping[str, Converter] = {name: converter(hint) for name, hint, _, _ in properties}
    required = [name for name, _, is_required, _ in properties if is_required]
    construct: Any = tp if dataclasses.is_dataclass(tp) else dict

    def make(value: Any) -> Any:
        if not isinstance(value, dict):
            raise ArgumentError(Problem("", f"expected object, got {kind_of(value)}"))
        for name in required:
            if name not in value:
                raise ArgumentError(Problem(name, "required but missing"))
        given = {name: _under(name, member, value[name]) for name, member in members.items() if name in value}
        try:
            return construct(**given)
        except (TypeError, ValueError) as error:  # __post_init__ may refuse, as with msgspec
            raise ArgumentError(Problem("", str(error))) from error

    return make


def _under(step: str, member: Converter, value: Any) -> Any:
    try:
        return member(value)
    except ArgumentError as error:
        raise ArgumentError(error.problem.under(step)) from error
