"""Python types and the JSON schemas the model is shown for them."""

from __future__ import annotations

import datetime
import enum
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict, Union

import msgspec
import pydantic
import pytest

from quarterdeck.client.tools import SdkMcpTool, ToolContext, ToolServer, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point(TypedDict):
    """A place."""

    x: Annotated[float, "to the right"]
    y: float
    label: NotRequired[str]


class Loose(TypedDict, total=False):
    a: int


@dataclass
class Size:
    width: int
    height: int = 2
    tags: list[str] = field(default_factory=list)


@dataclass
class Node:
    name: str
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None


class Shape(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    line_width: Annotated[int, msgspec.Meta(ge=1, le=9)]
    fill: Colour = Colour.RED


class Cat(msgspec.Struct, tag="cat"):
    lives: int


class Box(pydantic.BaseModel):
    depth: int = pydantic.Field(description="how deep")


UNSHOWN = object()
"""A default that JSON cannot say."""

UserId = NewType("UserId", int)

BOX = {
    "type": "object",
    "title": "Box",
    "properties": {"depth": {"type": "integer", "title": "Depth", "description": "how deep"}},
    "required": ["depth"],
}
SIZE = {
    "type": "object",
    "properties": {
        "width": {"type": "integer"},
        "height": {"type": "integer", "default": 2},
        "tags": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    "required": ["width"],
}
POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "number", "description": "to the right"},
        "y": {"type": "number"},
        "label": {"type": "string"},
    },
    "required": ["x", "y"],
}

TYPES: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (object, {}),
    (UserId, {"type": "integer"}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal[1, "a", None], {"enum": [1, "a", None]}),
    (Colour, {"type": "string", "enum": ["red", "blue"]}),
    (Level, {"type": "integer", "enum": [1, 2]}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045  # both spellings are in use
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
    (Colour | None, {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}]}),
    (list, {"type": "array"}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
    (set, {"type": "array", "uniqueItems": True}),
    (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
    ),
    (dict, {"type": "object"}),
    (dict[str, Any], {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (
        Mapping[str, list[bool]],
        {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "boolean"}}},
    ),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[int, pydantic.Field(description="how many")], {"type": "integer", "description": "how many"}),
    (
        Annotated[str, msgspec.Meta(min_length=1, max_length=5, pattern="^a")],
        {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^a"},
    ),
    (
        Annotated[list[int], msgspec.Meta(min_length=1, description="some")],
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "description": "some"},
    ),
    (
        Annotated[dict[str, int], msgspec.Meta(max_length=3)],
        {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 3},
    ),
    (
        Annotated[float, msgspec.Meta(gt=0, lt=1, extra_json_schema={"format": "ratio"})],
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "format": "ratio"},
    ),
    (bytes, {"type": "string", "contentEncoding": "base64"}),
    (uuid.UUID, {"type": "string", "format": "uuid"}),
    (datetime.date, {"type": "string", "format": "date"}),
    (Point, {**POINT, "description": "A place."}),
    (Loose, {"type": "object", "properties": {"a": {"type": "integer"}}}),
    (Size, SIZE),
    (list[Size], {"type": "array", "items": SIZE}),
    (dict[str, Size | None], {"type": "object", "additionalProperties": {"anyOf": [SIZE, {"type": "null"}]}}),
    (Size | Loose, {"anyOf": [SIZE, {"type": "object", "properties": {"a": {"type": "integer"}}}]}),
    (
        Shape,
        {
            "type": "object",
            "properties": {
                "lineWidth": {"type": "integer", "minimum": 1, "maximum": 9},
                "fill": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            },
            "required": ["lineWidth"],
            "additionalProperties": False,
        },
    ),
    (
        Cat,
        {
            "type": "object",
            "properties": {"type": {"enum": ["cat"]}, "lives": {"type": "integer"}},
            "required": ["type", "lives"],
        },
    ),
]


def input_schema(definition: SdkMcpTool[Any]) -> dict[str, Any]:
    (listed,) = ToolServer("lab", tools=[definition]).list_result()["tools"]
    schema: dict[str, Any] = listed["inputSchema"]
    return schema


def without_null(schema: Any) -> Any:
    """The schema as the official forms show it: what may be missing or null is shown as what it is otherwise."""
    if isinstance(schema, list):
        return [without_null(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("anyOf", [])[1:] == [{"type": "null"}]:
        return without_null(schema["anyOf"][0])
    return {key: without_null(value) for key, value in schema.items()}


async def ignore(args: Any) -> None:
    return None


def of(form: Any) -> dict[str, Any]:
    return input_schema(tool("t", "d", form)(ignore))


@pytest.mark.parametrize(("tp", "schema"), TYPES, ids=lambda value: str(value)[:60])
def test_a_parameter_is_shown_by_its_type(tp: Any, schema: dict[str, Any]) -> None:
    @dataclass
    class Holder:
        value: int

    Holder.__annotations__["value"] = tp
    Holder.__dataclass_fields__["value"].type = tp

    async def handler(value):  # type: ignore[no-untyped-def]
        return None

    handler.__annotations__["value"] = tp
    wanted = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    assert of({"value": tp}) == (wanted if '"null"' not in json.dumps(schema) or tp is None else without_null(wanted))
    assert of(Holder) == wanted
    assert input_schema(tool(handler)) == wanted


def test_all_parameters_of_a_dict_are_required_but_those_marked() -> None:
    assert of({"a": float, "b": NotRequired[int]}) == {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "integer"}},
        "required": ["a"],
    }


def test_an_empty_dict_means_no_parameters() -> None:
    assert of({}) == {"type": "object", "properties": {}, "required": []}


def test_a_dict_may_hold_property_schemas() -> None:
    assert of({"a": {"type": "number", "minimum": 0}, "b": str}) == {
        "type": "object",
        "properties": {"a": {"type": "number", "minimum": 0}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "object"},
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "format": "whatever"},
    ],
)
def test_a_json_schema_is_shown_as_it_is(schema: dict[str, Any]) -> None:
    assert of(schema) == schema


def test_a_json_schema_without_a_type_is_given_the_one_mcp_requires() -> None:
    assert of({"properties": {"a": {}}}) == {"type": "object", "properties": {"a": {}}}


def test_a_dict_with_a_parameter_called_type_is_no_json_schema() -> None:
    assert of({"type": str}) == {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}


def test_an_annotation_describes_a_record_better_than_its_docstring() -> None:
    assert of({"start": Annotated[Point, "where it begins"]})["properties"]["start"]["description"] == "where it begins"


def test_a_typeddict_is_shown_whole() -> None:
    assert of(Point) == POINT


def test_a_type_that_contains_itself_becomes_a_reference() -> None:
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}, "default": []},
            "parent": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": None},
        },
        "required": ["name"],
    }
    assert of(Node) == {**node, "$defs": {"Node": node}}


def test_a_pydantic_model_shows_its_own_schema() -> None:
    class Crate(pydantic.BaseModel):
        box: Box
        boxes: list[Box] = []

    assert of(Crate) == {
        "type": "object",
        "properties": {
            "box": {"$ref": "#/$defs/Box"},
            "boxes": {"type": "array", "items": {"$ref": "#/$defs/Box"}, "title": "Boxes", "default": []},
        },
        "required": ["box"],
        "$defs": {"Box": BOX},
    }


def test_a_pydantic_model_may_be_a_parameter() -> None:
    assert of({"box": Box})["properties"] == {"box": BOX}


def test_a_functions_parameters_are_shown_with_their_defaults() -> None:
    @tool
    async def draw(
        shape: Literal["dot", "line"],
        size: Annotated[int, "in pixels"] = 3,
        colour: Colour = Colour.BLUE,
        context: ToolContext | None = None,
        *,
        note: str | None = None,
        anything: Any = UNSHOWN,
    ) -> None:
        """Draw something."""

    server = ToolServer("lab", tools=[draw])
    assert server.list_result() == {
        "tools": [
            {
                "name": "draw",
                "description": "Draw something.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "shape": {"type": "string", "enum": ["dot", "line"]},
                        "size": {"type": "integer", "description": "in pixels", "default": 3},
                        "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
                        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                        "anything": {},
                    },
                    "required": ["shape"],
                },
            }
        ]
    }


class Opaque:
    pass


def test_the_official_forms_show_an_unknown_type_as_a_string() -> None:
    assert of({"a": Opaque})["properties"] == {"a": {"type": "string"}}


def test_a_class_without_fields_shows_no_parameters() -> None:
    assert of(Opaque) == {"type": "object", "properties": {}}


def takes_opaque(thing: Opaque) -> None: ...
def takes_many(*things: int) -> None: ...
def takes_unknown(thing: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def takes_ratio(thing: Literal[0.5]) -> None: ...  # type: ignore[valid-type]


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (tool(takes_opaque), "tool 'takes_opaque': thing: Opaque has no JSON schema"),
        (
            tool(takes_many),
            "tool 'takes_many': parameter *things: 'int': positional-only and variadic parameters are not supported",
        ),
        (tool(takes_unknown), "name 'Missing' is not defined"),
        (tool(takes_ratio), "thing: Literal and enum values must be strings, integers, booleans or None"),
        (tool("t", "d", 5)(ignore), "tool 't': input_schema takes a dict of types"),  # type: ignore[call-overload]
        (tool("t", "d", {"type": "objekt"})(ignore), "tool 't': 'objekt' is not a JSON type"),
        (tool("t", "d", {"$ref": "#/$defs/x"})(ignore), "tool 't': $ref '#/$defs/x' does not exist"),
        (tool("t", "d", {"$ref": "other.json"})(ignore), "tool 't': $ref 'other.json' is outside the schema"),
        (tool("t", "d", {}, annotations=7)(ignore), "tool 't': annotations takes ToolAnnotations or a dict"),
        (tool("t", "d", {}, output_schema=int)(ignore), "output_schema must describe a JSON object"),
    ],
)
def test_a_bad_definition_names_the_tool_and_what_it_takes(definition: SdkMcpTool[Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        ToolServer("lab", tools=[definition])
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"tool {definition.name!r}: ")
