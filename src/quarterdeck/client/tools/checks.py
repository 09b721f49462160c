"""A JSON schema compiled into one function that says what is wrong with a value.

For tools whose input is described by a JSON schema, a dict of types or a TypedDict: their handlers get the arguments
as JSON gave them, so the arguments are checked, not converted, and ``msgspec`` has no part in it. The keywords in
``_KEYWORDS`` are checked; others (``format``, ``contentEncoding`` …) only inform the model. As JSON Schema has it,
``2.0`` is an integer and ``True`` is not a number.
"""

from __future__ import annotations

import functools
import logging
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

logger = logging.getLogger(__name__)


class Mismatch(NamedTuple):
    """What is wrong, and where: a path such as ``items[2].name``, empty for the whole value."""

    path: str
    text: str

    def under(self, step: str) -> Mismatch:
        """The same problem seen from one level up."""
        joint = "." if step and self.path and not self.path.startswith("[") else ""
        return Mismatch(f"{step}{joint}{self.path}", self.text)


Check: TypeAlias = Callable[[Any], Mismatch | None]
Test: TypeAlias = Callable[[Any], Any]


def compile_schema(schema: Any) -> Check:
    """Compile a schema (an object or a boolean). Raises ``TypeError`` or ``ValueError`` if it is invalid."""
    return _Compiler(schema).compile(schema)


class _Compiler:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._references: dict[str, list[Check]] = {}

    def compile(self, schema: Any) -> Check:
        if isinstance(schema, bool):
            return _accept if schema else _refuse
        if not isinstance(schema, dict):
            raise TypeError(f"a JSON schema must be an object or a boolean, not {schema!r}")
        return _all([make(self, schema[word], schema) for word, make in _KEYWORDS.items() if word in schema])

    def reference(self, target: str, _: dict[str, Any]) -> Check:
        """Compiled once, into a slot that is known before it is filled: a definition may refer to itself."""
        slot = self._references.get(target)
        if slot is None:
            slot = self._references[target] = []
            slot.append(self.compile(self._resolve(target)))
        return lambda value: slot[0](value)

    def _resolve(self, target: str) -> Any:
        node = self._root
        if not target.startswith("#"):
            raise ValueError(f"$ref {target!r} is outside the schema; only references of the form '#/…' are supported")
        for step in target[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or key not in node:
                raise ValueError(f"$ref {target!r} does not exist")
            node = node[key]
        return node


def _accept(_: Any) -> Mismatch | None:
    return None


def _refuse(_: Any) -> Mismatch | None:
    return Mismatch("", "not allowed")


def _all(checks: list[Check]) -> Check:
    if len(checks) < 2:
        return checks[0] if checks else _accept

    def check(value: Any) -> Mismatch | None:
        for each in checks:
            problem = each(value)
            if problem is not None:
                return problem
        return None

    return check


def _passes(test: Test, text: Callable[[Any], str]) -> Check:
    """A check of the value as a whole."""
    return lambda value: None if test(value) else Mismatch("", text(value))


def _members(pick: Callable[[Any], Iterable[tuple[str, Check, Any]]], kind: type) -> Check:
    """A check of the members that ``pick`` finds in an object or an array: (step, check, member).

    ``properties`` and ``items`` have loops of their own: most calls pass through them, and a generator costs more.
    """

    def check(value: Any) -> Mismatch | None:
        if isinstance(value, kind):
            for step, each, member in pick(value):
                problem = each(member)
                if problem is not None:
                    return problem.under(step)
        return None

    return check


# Types and values

_KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def _type(_: _Compiler, names: str | list[str], __: dict[str, Any]) -> Check:
    wanted = [names] if isinstance(names, str) else list(names)
    if unknown := [name for name in wanted if name not in _KINDS.values()]:
        raise ValueError(f"{unknown[0]!r} is not a JSON type; use one of {', '.join(_KINDS.values())}")
    fitting = frozenset(tp for tp, kind in _KINDS.items() if kind in wanted or (tp is int and "number" in wanted))
    whole_floats = "integer" in wanted
    expected = " or ".join(wanted)

    def check(value: Any) -> Mismatch | None:
        if type(value) in fitting or (whole_floats and type(value) is float and value.is_integer()):
            return None
        return Mismatch("", f"expected {expected}, got {_KINDS.get(type(value), type(value).__name__)}")

    return check


def _same(left: Any, right: Any) -> bool:
    """Equality as JSON has it: ``1`` is ``1.0``, but ``True`` is not ``1``."""
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _enum(_: _Compiler, allowed: list[Any], __: dict[str, Any]) -> Check:
    expected = ", ".join(map(repr, allowed))
    return _passes(
        lambda value: any(_same(value, each) for each in allowed),
        lambda value: f"expected one of {expected}, got {value!r}",
    )


def _pattern(_: _Compiler, pattern: str, __: dict[str, Any]) -> Check:
    search = _search(pattern)
    return _passes(
        lambda value: not isinstance(value, str) or search(value),
        lambda value: f"{value!r} does not match {pattern!r}",
    )


def _search(pattern: str, *, unreadable: bool = True) -> Test:
    """Schemas use JavaScript's regular expressions; those that Python cannot parse only inform the model."""
    try:
        return re.compile(pattern).search
    except re.error as error:
        logger.warning("pattern %r of a tool's schema is not checked: %s", pattern, error)
        return lambda _: unreadable


def _is_multiple(value: float, of: float) -> bool:
    quotient = value / of
    return abs(quotient - round(quotient)) < 1e-9


def _bound(applies: type | tuple[type, ...], measure: Test, accept: Callable[[Any, Any], bool], text: str) -> Any:
    """The maker of a check that compares a measure of the value with the keyword's number."""

    def make(_: _Compiler, limit: float, __: dict[str, Any]) -> Check:
        def check(value: Any) -> Mismatch | None:
            if isinstance(value, applies) and not isinstance(value, bool) and not accept(measure(value), limit):
                return Mismatch("", text.format(limit))
            return None

        return check

    return make


def _number(accept: Callable[[Any, Any], bool], text: str) -> Any:
    return _bound((int, float), lambda value: value, accept, text)


# Objects and arrays


def _required(_: _Compiler, names: list[str], __: dict[str, Any]) -> Check:
    def check(value: Any) -> Mismatch | None:
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    return Mismatch(name, "required but missing")
        return None

    return check


def _properties(compiler: _Compiler, properties: dict[str, Any], _: dict[str, Any]) -> Check:
    checks = [(name, compiler.compile(schema)) for name, schema in properties.items()]

    def check(value: Any) -> Mismatch | None:
        if isinstance(value, dict):
            for name, each in checks:
                if name in value and (problem := each(value[name])) is not None:
                    return problem.under(name)
        return None

    return check


def _pattern_properties(compiler: _Compiler, schemas: dict[str, Any], _: dict[str, Any]) -> Check:
    checks = [(_search(pattern, unreadable=False), compiler.compile(schema)) for pattern, schema in schemas.items()]
    return _members(
        lambda value: ((name, each, value[name]) for name in value for search, each in checks if search(name)), dict
    )


def _additional(compiler: _Compiler, rest: Any, schema: dict[str, Any]) -> Check:
    each = compiler.compile(rest)
    known = frozenset(schema.get("properties", ()))
    searches = [_search(pattern, unreadable=False) for pattern in schema.get("patternProperties", ())]
    return _members(
        lambda value: (
            (name, each, value[name]) for name in value.keys() - known if not any(search(name) for search in searches)
        ),
        dict,
    )


def _items(compiler: _Compiler, items: Any, schema: dict[str, Any]) -> Check:
    each = compiler.compile(items)
    start = len(schema.get("prefixItems", ()))

    def check(value: Any) -> Mismatch | None:
        if isinstance(value, list):
            for index in range(start, len(value)):
                if (problem := each(value[index])) is not None:
                    return problem.under(f"[{index}]")
        return None

    return check


def _prefix_items(compiler: _Compiler, schemas: list[Any], _: dict[str, Any]) -> Check:
    checks = [(f"[{at}]", compiler.compile(schema)) for at, schema in enumerate(schemas)]
    return _members(
        lambda value: ((step, each, member) for (step, each), member in zip(checks, value, strict=False)), list
    )


def _unique(_: _Compiler, wanted: bool, __: dict[str, Any]) -> Check:
    def check(value: Any) -> Mismatch | None:
        if wanted and isinstance(value, list):
            for index, member in enumerate(value):
                if any(_same(member, other) for other in value[:index]):
                    return Mismatch(f"[{index}]", f"{member!r} occurs twice")
        return None

    return check


# Combinations


def _any_of(compiler: _Compiler, schemas: list[Any], _: dict[str, Any], *, at_most: int | None = None) -> Check:
    checks = [compiler.compile(schema) for schema in schemas]

    def check(value: Any) -> Mismatch | None:
        problems = [problem for each in checks if (problem := each(value)) is not None]
        fitting = len(checks) - len(problems)
        if fitting:
            if at_most is None or fitting <= at_most:
                return None
            return Mismatch("", f"matches {fitting} of the alternatives, but must match exactly one")
        deepest = max(problems, key=lambda problem: len(problem.path))
        return deepest if deepest.path else Mismatch("", "; or ".join(dict.fromkeys(each.text for each in problems)))

    return check


def _not(compiler: _Compiler, schema: Any, _: dict[str, Any]) -> Check:
    each = compiler.compile(schema)
    return _passes(lambda value: each(value) is not None, lambda value: f"{value!r} is not allowed")


_KEYWORDS: dict[str, Callable[[_Compiler, Any, dict[str, Any]], Check]] = {
    "type": _type,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "enum": _enum,
    "const": lambda compiler, value, schema: _enum(compiler, [value], schema),
    "prefixItems": _prefix_items,
    "items": _items,
    "uniqueItems": _unique,
    "pattern": _pattern,
    "minimum": _number(operator.ge, "must be at least {}"),
    "maximum": _number(operator.le, "must be at most {}"),
    "exclusiveMinimum": _number(operator.gt, "must be more than {}"),
    "exclusiveMaximum": _number(operator.lt, "must be less than {}"),
    "multipleOf": _number(_is_multiple, "must be a multiple of {}"),
    "minLength": _bound(str, len, operator.ge, "must have at least {} characters"),
    "maxLength": _bound(str, len, operator.le, "must have at most {} characters"),
    "minItems": _bound(list, len, operator.ge, "must have at least {} items"),
    "maxItems": _bound(list, len, operator.le, "must have at most {} items"),
    "minProperties": _bound(dict, len, operator.ge, "must have at least {} keys"),
    "maxProperties": _bound(dict, len, operator.le, "must have at most {} keys"),
    "allOf": lambda compiler, schemas, _: _all([compiler.compile(schema) for schema in schemas]),
    "anyOf": _any_of,
    "oneOf": functools.partial(_any_of, at_most=1),
    "not": _not,
    "$ref": _Compiler.reference,
}
"""In the order they are checked: first what a model can mend most easily."""
