"""JSON schemas compiled into checks."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from quarterdeck.client.tools.checks import Mismatch, compile_schema

TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["name"],
}

GOOD: list[tuple[Any, Any]] = [
    (True, 5),
    ({}, None),
    ({"type": "string"}, "a"),
    ({"type": "integer"}, 2.0),
    ({"type": "number"}, 2),
    ({"type": ["string", "null"]}, None),
    ({"type": "object"}, {}),
    ({"enum": [1, "a", None]}, 1.0),
    ({"const": {"a": [1]}}, {"a": [1]}),
    ({"required": ["a"]}, "only objects have keys"),
    ({"properties": {"a": {"type": "string"}}}, {"b": 1}),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}),
    ({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False}, {"x-a": "b"}),
    ({"additionalProperties": {"type": "integer"}}, {"a": 1}),
    ({"items": {"type": "integer"}}, [1, 2]),
    ({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, [1, "a", "b"]),
    ({"uniqueItems": True}, [1, True, "1"]),
    ({"uniqueItems": False}, [1, 1]),
    ({"pattern": "b+"}, "abc"),
    ({"pattern": "b+"}, 5),
    ({"minimum": 1, "maximum": 3}, 3),
    ({"minimum": 1}, False),
    ({"multipleOf": 0.1}, 0.3),
    ({"minLength": 1, "maxLength": 2}, "ab"),
    ({"minItems": 1, "maxItems": 2}, [1]),
    ({"minProperties": 1, "maxProperties": 1}, {"a": 1}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "a"),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 1),
    ({"not": {"type": "string"}}, 1),
    ({"format": "email", "x-unknown": 5}, "nobody checks this"),
    ({"$ref": "#/$defs/tree", "$defs": {"tree": TREE}}, {"name": "a", "children": [{"name": "b"}]}),
    ({"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"type": "null"}}}, None),
]

BAD: list[tuple[Any, Any, Mismatch]] = [
    (False, 5, Mismatch("", "not allowed")),
    ({"type": "string"}, 5, Mismatch("", "expected string, got integer")),
    ({"type": "integer"}, True, Mismatch("", "expected integer, got boolean")),
    ({"type": "integer"}, 2.5, Mismatch("", "expected integer, got number")),
    ({"type": "number"}, True, Mismatch("", "expected number, got boolean")),
    ({"type": "array"}, {}, Mismatch("", "expected array, got object")),
    ({"type": "boolean"}, None, Mismatch("", "expected boolean, got null")),
    ({"type": ["string", "null"]}, [], Mismatch("", "expected string or null, got array")),
    ({"enum": ["a", "b"]}, "c", Mismatch("", "expected one of 'a', 'b', got 'c'")),
    ({"enum": [1]}, True, Mismatch("", "expected one of 1, got True")),
    ({"const": "x"}, "y", Mismatch("", "expected one of 'x', got 'y'")),
    ({"required": ["a", "b"]}, {"a": 1}, Mismatch("b", "required but missing")),
    ({"properties": {"a": {"type": "string"}}}, {"a": 1}, Mismatch("a", "expected string, got integer")),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"z": 1}, Mismatch("z", "not allowed")),
    ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": 1}, Mismatch("x-a", "expected string, got integer")),
    ({"additionalProperties": {"type": "integer"}}, {"a": "b"}, Mismatch("a", "expected integer, got string")),
    ({"items": {"type": "integer"}}, [1, "2"], Mismatch("[1]", "expected integer, got string")),
    ({"prefixItems": [{"type": "integer"}]}, ["a"], Mismatch("[0]", "expected integer, got string")),
    ({"prefixItems": [{}], "items": False}, [1, 2], Mismatch("[1]", "not allowed")),
    ({"uniqueItems": True}, ["a", "b", "a"], Mismatch("[2]", "'a' occurs twice")),
    ({"pattern": "^b"}, "abc", Mismatch("", "'abc' does not match '^b'")),
    ({"minimum": 1}, 0, Mismatch("", "must be at least 1")),
    ({"maximum": 1}, 1.5, Mismatch("", "must be at most 1")),
    ({"exclusiveMinimum": 1}, 1, Mismatch("", "must be more than 1")),
    ({"exclusiveMaximum": 1}, 1, Mismatch("", "must be less than 1")),
    ({"multipleOf": 5}, 7, Mismatch("", "must be a multiple of 5")),
    ({"minLength": 2}, "a", Mismatch("", "must have at least 2 characters")),
    ({"maxLength": 2}, "abc", Mismatch("", "must have at most 2 characters")),
    ({"minItems": 1}, [], Mismatch("", "must have at least 1 items")),
    ({"maxItems": 1}, [1, 2], Mismatch("", "must have at most 1 items")),
    ({"minProperties": 1}, {}, Mismatch("", "must have at least 1 keys")),
    ({"maxProperties": 0}, {"a": 1}, Mismatch("", "must have at most 0 keys")),
    (
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        5,
        Mismatch("", "expected string, got integer; or expected null, got integer"),
    ),
    (
        {"anyOf": [{"type": "null"}, {"properties": {"name": {"type": "string"}}}]},
        {"name": 5},
        Mismatch("name", "expected string, got integer"),
    ),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
        3,
        Mismatch("", "matches 2 of the alternatives, but must match exactly one"),
    ),
    ({"oneOf": [{"type": "string"}]}, 3, Mismatch("", "expected string, got integer")),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, Mismatch("", "must be at most 2")),
    ({"not": {"type": "string"}}, "a", Mismatch("", "'a' is not allowed")),
    (
        {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}},
        {"name": "a", "children": [{"name": "b", "children": [{}]}]},
        Mismatch("children[0].children[0].name", "required but missing"),
    ),
]


@pytest.mark.parametrize(("schema", "value"), GOOD)
def test_a_value_that_fits_is_accepted(schema: Any, value: Any) -> None:
    assert compile_schema(schema)(value) is None


@pytest.mark.parametrize(("schema", "value", "problem"), BAD)
def test_a_value_that_does_not_fit_is_refused_with_place_and_reason(schema: Any, value: Any, problem: Mismatch) -> None:
    assert compile_schema(schema)(value) == problem


@pytest.mark.parametrize("schema", [{"pattern": r"^\p{L}+$"}, {"patternProperties": {r"\p{L}": False}}])
def test_a_pattern_only_javascript_can_read_is_not_checked(schema: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check = compile_schema(schema)
    assert check("1") is None
    assert check({"a": 1}) is None
    assert "is not checked" in caplog.text


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="a JSON schema must be an object or a boolean, not 'string'"):
        compile_schema({"properties": {"a": "string"}})
