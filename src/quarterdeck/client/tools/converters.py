"""JSON values → the Python values a handler's types ask for.

``msgspec`` converts. Where it refuses a part of a type (a union of several records without tags), a stand-in takes that
part's place and converts it by itself; of such a union, the first member that fits is used.

Nothing is coerced: ``"5"`` is not a number and ``5`` is not text. An integer is accepted for a ``float``; strings
become dates, UUIDs, enum members and bytes where the type says so; unknown keys are ignored unless the type forbids
them. A Pydantic model follows Pydantic's own rules.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import msgspec

from .checks import Mismatch
from .schema import SCALARS, Property, is_pydantic_model, record_properties, unwrapped

Converter: TypeAlias = Callable[[Any], Any]

_PLACE = re.compile(r" - at `(?:key` in `)?\$\.?(?P<path>.*)`$")
_MISSING = re.compile(r"^Object missing required field `(?P<name>.*)`$")


class ArgumentError(ValueError):
    """Arguments that do not fit. The model reads its text."""

    def __init__(self, problem: Mismatch) -> None:
        self.problem = problem
        place = f"argument {problem.path!r}" if problem.path else "arguments"
        super().__init__(f"{place}: {problem.text}")


def converter(tp: Any) -> Converter:
    """A function that makes a ``tp`` of a JSON value, or raises ``ArgumentError``."""
    return _by_pydantic(tp) if is_pydantic_model(tp) else _by_msgspec(_with_stand_ins(tp))


def keywords_converter(properties: list[Property]) -> Callable[[Any], dict[str, Any]]:
    """For a function called with keywords: the dict has only the given arguments, so that the function's defaults
    apply."""
    return _by_msgspec(_keywords(properties))


class _StandIn(type):
    """The class of types that replace those msgspec refuses. msgspec calls ``make`` for their values."""

    make: Converter

    def __instancecheck__(cls, instance: object) -> bool:
        return True  # msgspec checks what ``make`` returned


def _stand_in(make: Converter) -> _StandIn:
    return _StandIn("StandIn", (), {"make": staticmethod(make)})


def _with_stand_ins(tp: Any) -> Any:
    """The type, with stand-ins for the parts that msgspec refuses."""
    tp, notes = unwrapped(tp)
    if notes:
        tp = Annotated[_with_stand_ins(tp), *notes]
    if _msgspec_takes(tp):
        return tp
    origin, args = typing.get_origin(tp), typing.get_args(tp)
    if origin is typing.Union or origin is types.UnionType:
        return _stand_in(_first_of([converter(member) for member in args]))
    if origin in (list, set, frozenset, tuple, dict):
        return origin[tuple(member if member is ... else _with_stand_ins(member) for member in args)]
    properties = record_properties(tp) if isinstance(tp, type) and not issubclass(tp, msgspec.Struct) else None
    if properties is None:
        raise TypeError(f"values of {tp!r} cannot be made from JSON")
    keywords = _keywords(properties)
    return keywords if typing.is_typeddict(tp) else _stand_in(_record(tp, _by_msgspec(keywords)))


def _keywords(properties: list[Property]) -> Any:
    fields = {}
    for name, tp, required, _ in properties:
        member = _with_stand_ins(tp)
        fields[name] = member if required else typing.NotRequired[member]
    return typing.TypedDict("keywords", fields)  # type: ignore[operator]  # made at run time


def _msgspec_takes(tp: Any) -> bool:
    if isinstance(tp, type) and tp in SCALARS:
        return True
    try:
        msgspec.json.Decoder(tp)
    except TypeError:
        return False
    return True


def _by_msgspec(tp: Any) -> Converter:
    convert = msgspec.convert

    def make(value: Any) -> Any:
        try:
            return convert(value, tp, dec_hook=_make_part)
        except msgspec.ValidationError as error:
            raise ArgumentError(_read_msgspec(error)) from error

    return make


def _make_part(tp: Any, value: Any) -> Any:
    """Called by msgspec for a class it does not know. All others were refused when the schema was built."""
    return tp.make(value) if isinstance(tp, _StandIn) else _by_pydantic(tp)(value)


def _read_msgspec(error: msgspec.ValidationError) -> Mismatch:
    """The place and the problem, from a message such as: Expected `int`, got `str` - at `$.items[...].size`."""
    text, path = str(error), ""
    if place := _PLACE.search(text):
        path, text = place["path"], text[: place.start()]
    if isinstance(error.__cause__, ArgumentError):
        return error.__cause__.problem.under(path)
    if missing := _MISSING.match(text):
        return Mismatch(missing["name"], "required but missing").under(path)
    return Mismatch(path, (text[:1].lower() + text[1:]).replace("`", ""))


def _by_pydantic(tp: Any) -> Converter:
    def make(value: Any) -> Any:
        try:
            return tp.model_validate(value)
        except ValueError as error:
            raise ArgumentError(_read_pydantic(error)) from error

    return make


def _read_pydantic(error: Any) -> Mismatch:
    details = error.errors()
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in details[0]["loc"])
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return Mismatch(path.removeprefix("."), details[0]["msg"] + more)


def _first_of(members: list[Converter]) -> Converter:
    def make(value: Any) -> Any:
        problems = []
        for member in members:
            try:
                return member(value)
            except ArgumentError as error:
                problems.append(str(error))
        raise ArgumentError(Mismatch("", "fits no alternative: " + "; ".join(problems)))

    return make


def _record(construct: Callable[..., Any], keywords: Converter) -> Converter:
    def make(value: Any) -> Any:
        given = keywords(value)
        try:
            return construct(**given)
        except (TypeError, ValueError) as error:  # ``__post_init__`` may refuse, as with msgspec
            raise ArgumentError(Mismatch("", str(error))) from error

    return make
