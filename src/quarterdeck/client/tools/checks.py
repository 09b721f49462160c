"""A JSON schema compiled into one function that says what is wrong with a value.

For tools whose input is described by a JSON schema, a dict of types or a TypedDict: their handlers get the arguments
as JSON gave them, so the arguments are checked, not converted. The keywords below are checked; others (``format``,
``contentEncoding`` …) only inform the model. As JSON Schema has it, ``2.0`` is an integer and ``True`` is no number.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

logger = logging.getLogger(__name__)


class Problem(NamedTuple):
    """What is wrong, and where: a path such as ``items[2].name``, empty for the whole value."""

    path: str
    text: str

    def under(self, step: str) -> Problem:
        """The same problem seen from one level up."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return Problem(f"{step}{joint}{self.path}", self.text)


Check: TypeAlias = Callable[[Any], Problem | None]


def compile_schema(schema: Any) -> Check:
    """Compile a schema (an object or a boolean). Raises ``TypeError`` or ``ValueError`` for one that makes no sense."""
    return _Compiler(schema).compile(schema)


def _accept(_: Any) -> Problem | None:
    return None


def _refuse(_: Any) -> Problem | None:
    return Problem("", "not allowed")


class _Compiler:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._references: dict[str, list[Check]] = {}

    def compile(self, schema: Any) -> Check:
        if isinstance(schema, bool):
            return _accept if schema else _refuse
        if not isinstance(schema, dict):
            raise TypeError(f"a JSON schema is an object or a boolean, not {schema!r}")
        checks = [make(self, schema[word], schema) for word, make in _KEYWORDS.items() if word in schema]
        if len(checks) < 2:
            return checks[0] if checks else _accept

        def check(value: Any) -> Problem | None:
            for each in checks:
                problem = each(value)
                if problem is not None:
                    return problem
            return None

        return check

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
            raise ValueError(f"$ref {target!r} is outside the schema; only references of the form '#/…' are known")
        for step in target[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or key not in node:
                raise ValueError(f"$ref {target!r} leads nowhere")
            node = node[key]
        return node


def kind_of(value: Any) -> str:
    """The JSON name of a value's type."""
    return _KINDS.get(type(value), type(value).__name__)


_KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _type(_: _Compiler, names: str | list[str], __: dict[str, Any]) -> Check:
    wanted = [names] if isinstance(names, str) else list(names)
    if unknown := [name for name in wanted if name not in _TYPES]:
        raise ValueError(f"{unknown[0]!r} is no JSON type; there are {', '.join(_TYPES)}")
    tests = [_TYPES[name] for name in wanted]
    expected = " or ".join(wanted)
    test = tests[0] if len(tests) == 1 else lambda value: any(each(value) for each in tests)

    def check(value: Any) -> Problem | None:
        return None if test(value) else Problem("", f"expected {expected}, got {kind_of(value)}")

    return check


def _same(left: Any, right: Any) -> bool:
    """Equality as JSON has it: ``1`` is ``1.0``, but ``True`` is not ``1``."""
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _enum(_: _Compiler, allowed: list[Any], __: dict[str, Any]) -> Check:
    text = f"expected one of {', '.join(map(repr, allowed))}"

    def check(value: Any) -> Problem | None:
        return None if any(_same(value, each) for each in allowed) else Problem("", f"{text}, got {value!r}")

    return check


def _const(compiler: _Compiler, value: Any, schema: dict[str, Any]) -> Check:
    return _enum(compiler, [value], schema)


def _properties(compiler: _Compiler, properties: dict[str, Any], _: dict[str, Any]) -> Check:
    checks = [(name, compiler.compile(schema)) for name, schema in properties.items()]

    def check(value: Any) -> Problem | None:
        if isinstance(value, dict):
            for name, each in checks:
                if name in value and (problem := each(value[name])) is not None:
                    return problem.under(name)
        return None

    return check


def _required(_: _Compiler, names: list[str], __: dict[str, Any]) -> Check:
    def check(value: Any) -> Problem | None:
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    return Problem(name, "required but missing")
        return None

    return check


def _additional(compiler: _Compiler, rest: Any, schema: dict[str, Any]) -> Check:
    each = compiler.compile(rest)
    known = frozenset(schema.get("properties", ()))
    searches = [search for pattern in schema.get("patternProperties", ()) if (search := _search(pattern)) is not None]

    def check(value: Any) -> Problem | None:
        if isinstance(value, dict):
            for name in value.keys() - known:
                if not any(search(name) for search in searches):
                    problem = each(value[name])
                    if problem is not None:
                        return problem.under(name)
        return None

    return check


def _pattern_properties(compiler: _Compiler, schemas: dict[str, Any], _: dict[str, Any]) -> Check:
    compiled = [(_search(pattern), compiler.compile(schema)) for pattern, schema in schemas.items()]
    checks = [(search, each) for search, each in compiled if search is not None]

    def check(value: Any) -> Problem | None:
        if isinstance(value, dict):
            for name, member in value.items():
                for search, each in checks:
                    if search(name) and (problem := each(member)) is not None:
                        return problem.under(name)
        return None

    return check


def _items(compiler: _Compiler, items: Any, schema: dict[str, Any]) -> Check:
    each = compiler.compile(items)
    start = len(schema.get("prefixItems", ()))

    def check(value: Any) -> Problem | None:
        if isinstance(value, list):
            for index in range(start, len(value)):
                if (problem := each(value[index])) is not None:
                    return problem.under(f"[{index}]")
        return None

    return check


def _prefix_items(compiler: _Compiler, schemas: list[Any], _: dict[str, Any]) -> Check:
    checks = [compiler.compile(schema) for schema in schemas]

    def check(value: Any) -> Problem | None:
        if isinstance(value, list):
            for index, (each, member) in enumerate(zip(checks, value, strict=False)):
                if (problem := each(member)) is not None:
                    return problem.under(f"[{index}]")
        return None

    return check


def _unique(_: _Compiler, wanted: bool, __: dict[str, Any]) -> Check:
    def check(value: Any) -> Problem | None:
        if isinstance(value, list):
            for index, member in enumerate(value):
                if any(_same(member, other) for other in value[:index]):
                    return Problem(f"[{index}]", f"{member!r} occurs twice")
        return None

    return check if wanted else _accept


def _search(pattern: str) -> Callable[[str], Any] | None:
    """Schemas are written for JavaScript's regular expressions; those that Python cannot read inform the model only."""
    try:
        return re.compile(pattern).search
    except re.error as error:
        logger.warning("pattern %r of a tool's schema is not checked: %s", pattern, error)
        return None


def _pattern(_: _Compiler, pattern: str, __: dict[str, Any]) -> Check:
    search = _search(pattern)
    if search is None:
        return _accept

    def check(value: Any) -> Problem | None:
        if isinstance(value, str) and search(value) is None:
            return Problem("", f"{value!r} does not match {pattern!r}")
        return None

    return check


def _bound(applies: type | tuple[type, ...], measure: Callable[[Any], Any], accept: Any, text: str) -> Any:
    """The maker of a check that compares a measure of the value with the keyword's number."""

    def make(_: _Compiler, limit: float, __: dict[str, Any]) -> Check:
        def check(value: Any) -> Problem | None:
            if isinstance(value, applies) and not isinstance(value, bool) and not accept(measure(value), limit):
                return Problem("", text.format(limit))
            return None

        return check

    return make


def _any_of(compiler: _Compiler, schemas: list[Any], _: dict[str, Any]) -> Check:
    checks = [compiler.compile(schema) for schema in schemas]

    def check(value: Any) -> Problem | None:
        problems = []
        for each in checks:
            problem = each(value)
            if problem is None:
                return None
            problems.append(problem)
        deepest = max(problems, key=lambda problem: len(problem.path))
        return deepest if deepest.path else Problem("", "; or ".join(dict.fromkeys(each.text for each in problems)))

    return check


def _one_of(compiler: _Compiler, schemas: list[Any], schema: dict[str, Any]) -> Check:
    checks = [compiler.compile(schema) for schema in schemas]
    any_of = _any_of(compiler, schemas, schema)

    def check(value: Any) -> Problem | None:
        matching = sum(each(value) is None for each in checks)
        if matching > 1:
            return Problem("", f"matches {matching} of the alternatives, of which exactly one may match")
        return any_of(value)

    return check


def _all_of(compiler: _Compiler, schemas: list[Any], _: dict[str, Any]) -> Check:
    checks = [compiler.compile(schema) for schema in schemas]

    def check(value: Any) -> Problem | None:
        return next((problem for each in checks if (problem := each(value)) is not None), None)

    return check


def _not(compiler: _Compiler, schema: Any, _: dict[str, Any]) -> Check:
    each = compiler.compile(schema)

    def check(value: Any) -> Problem | None:
        return None if each(value) is not None else Problem("", f"{value!r} is what it must not be")

    return check


def _is_multiple(value: float, of: float) -> bool:
    quotient = value / of
    return abs(quotient - round(quotient)) < 1e-9


_KEYWORDS: dict[str, Callable[[_Compiler, Any, dict[str, Any]], Check]] = {
    "type": _type,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "enum": _enum,
    "const": _const,
    "prefixItems": _prefix_items,
    "items": _items,
    "uniqueItems": _unique,
    "pattern": _pattern,
    "minimum": _bound((int, float), lambda v: v, lambda v, n: v >= n, "must be at least {}"),
    "maximum": _bound((int, float), lambda v: v, lambda v, n: v <= n, "must be at most {}"),
    "exclusiveMinimum": _bound((int, float), lambda v: v, lambda v, n: v > n, "must be more than {}"),
    "exclusiveMaximum": _bound((int, float), lambda v: v, lambda v, n: v < n, "must be less than {}"),
    "multipleOf": _bound((int, float), lambda v: v, _is_multiple, "must be a multiple of {}"),
    "minLength": _bound(str, len, lambda v, n: v >= n, "must have at least {} characters"),
    "maxLength": _bound(str, len, lambda v, n: v <= n, "must have at most {} characters"),
    "minItems": _bound(list, len, lambda v, n: v >= n, "must have at least {} items"),
    "maxItems": _bound(list, len, lambda v, n: v <= n, "must have at most {} items"),
    "minProperties": _bound(dict, len, lambda v, n: v >= n, "must have at least {} keys"),
    "maxProperties": _bound(dict, len, lambda v, n: v <= n, "must have at most {} keys"),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "$ref": _Compiler.reference,
}
"""In the order they are checked: first what a model can mend most easily."""
