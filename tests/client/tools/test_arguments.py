"""What handlers get, and what the model is told when its arguments do not fit."""

from __future__ import annotations

import datetime
import enum
import functools
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pydantic
import pytest

from client.tools.calling import call, error_of
from quarterdeck.client.tools import SdkMcpTool, ToolContext, tool


class Colour(enum.Enum):
    RED = "red"


class Point(TypedDict):
    x: float
    colour: NotRequired[Colour]


@dataclass
class Circle:
    radius: float


@dataclass
class Square:
    side: int

    def __post_init__(self) -> None:
        if self.side < 0:
            raise ValueError("a side is not negative")


@dataclass
class Drawing:
    shapes: list[Circle | Square]
    title: str = "untitled"


@dataclass
class Order:
    item: str
    count: Annotated[int, msgspec.Meta(ge=1)] = 1
    when: datetime.date | None = None
    parts: list[Circle] = field(default_factory=list)


class Query(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    max_rows: int
    kind: Literal["a", "b"] = "a"


class Person(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(ge=0, default=1)


class Seen:
    """A tool that keeps what its handler got."""

    def __init__(self, form: Any) -> None:
        async def handler(args: Any) -> None:
            self.value = args

        self.tool = tool("t", "d", form)(handler)

    def __call__(self, arguments: dict[str, Any]) -> Any:
        assert call(self.tool, arguments) == {"content": []}
        return self.value


def got(function: Any, arguments: dict[str, Any]) -> Any:
    """What the function, which returns its parameters, got."""
    kept = []

    @functools.wraps(function)
    def keep(**keywords: Any) -> None:
        kept.append(function(**keywords))

    assert call(tool(keep), arguments) == {"content": []}
    return kept[0]


@pytest.mark.parametrize(
    "form",
    [
        {"x": float, "colour": NotRequired[Colour]},
        Point,
        {"type": "object", "properties": {"x": {"type": "number"}, "colour": {"enum": ["red"]}}, "required": ["x"]},
    ],
)
def test_a_dict_form_gives_the_arguments_as_json_had_them(form: Any) -> None:
    seen = Seen(form)
    arguments = seen({"x": 2, "colour": "red", "extra": None})
    assert arguments == {"x": 2, "colour": "red", "extra": None}
    assert type(arguments["x"]) is int  # not 2.0: what a program prints must not change with the SDK


def test_a_dataclass_gives_an_instance() -> None:
    seen = Seen(Order)
    assert seen({"item": "tea", "when": "2026-01-02", "parts": [{"radius": 1}], "extra": 1}) == Order(
        "tea", 1, datetime.date(2026, 1, 2), [Circle(1.0)]
    )


def test_a_struct_gives_an_instance() -> None:
    assert Seen(Query)({"maxRows": 5, "kind": "b"}) == Query(5, "b")


def test_a_pydantic_model_gives_an_instance_by_pydantics_rules() -> None:
    assert Seen(Person)({"name": "Ada", "age": "36"}) == Person(name="Ada", age=36)


def test_a_union_of_records_takes_the_first_that_fits() -> None:
    assert Seen(Drawing)({"shapes": [{"side": 2}, {"radius": 1}]}) == Drawing([Square(2), Circle(1.0)])


def test_a_functions_parameters_are_converted_to_their_types() -> None:
    def every(
        number: float,
        colour: Colour,
        pair: tuple[int, str],
        names: set[str],
        counts: dict[str, int],
        person: Person,
        shape: Circle | Square | None = None,
        rest: str = "default",
        anything: Any = None,
    ) -> Any:
        return (number, colour, pair, names, counts, person, shape, rest, anything)

    assert got(
        every,
        {
            "number": 2,
            "colour": "red",
            "pair": [1, "a"],
            "names": ["b"],
            "counts": {"c": 3},
            "person": {"name": "Ada"},
            "shape": {"side": 4},
            "anything": [1, None],
        },
    ) == (
        2.0,
        Colour.RED,
        (1, "a"),
        {"b"},
        {"c": 3},
        Person(name="Ada"),
        Square(4),
        "default",
        [1, None],
    )


def test_records_inside_records_are_converted_where_msgspec_alone_cannot() -> None:
    class Scene(TypedDict):
        shape: Circle | Square

    def look(
        scene: Scene, named: dict[str, Circle | Square], many: tuple[Circle | Square, ...], drawing: Drawing
    ) -> Any:
        return scene, named, many, drawing

    look.__annotations__["scene"] = Scene
    Scene.__annotations__["shape"] = Circle | Square
    assert got(
        look,
        {
            "scene": {"shape": {"side": 1}},
            "named": {"a": {"radius": 2}},
            "many": [{"side": 3}],
            "drawing": {"shapes": []},
        },
    ) == ({"shape": Square(1)}, {"a": Circle(2.0)}, (Square(3),), Drawing([]))


async def ignore(args: Any) -> None:
    return None


def add(a: float, b: float) -> float:
    return a + b


def draw(drawing: Drawing, named: dict[str, Circle | Square] | None = None) -> None: ...


def greet(person: Person) -> None: ...


CALCULATOR = {"a": float, "b": float}
BAD: list[tuple[SdkMcpTool[Any], dict[str, Any], str]] = [
    (tool("t", "d", CALCULATOR)(ignore), {"a": 1}, "argument 'b': required but missing"),
    (tool("t", "d", CALCULATOR)(ignore), {"a": "1", "b": 2}, "argument 'a': expected number, got string"),
    (tool("t", "d", CALCULATOR)(ignore), {"a": None, "b": 2}, "argument 'a': expected number, got null"),
    (tool("t", "d", Point)(ignore), {"x": 1, "colour": "blue"}, "argument 'colour': expected one of 'red', got 'blue'"),
    (tool("t", "d", {"type": "object", "minProperties": 1})(ignore), {}, "arguments: must have at least 1 keys"),
    (tool("t", "d", Order)(ignore), {}, "argument 'item': required but missing"),
    (tool("t", "d", Order)(ignore), {"item": 5}, "argument 'item': expected str, got int"),
    (tool("t", "d", Order)(ignore), {"item": "a", "count": 0}, "argument 'count': expected int >= 1"),
    (tool("t", "d", Order)(ignore), {"item": "a", "count": "1"}, "argument 'count': expected int, got str"),
    (tool("t", "d", Order)(ignore), {"item": "a", "when": "soon"}, "argument 'when': invalid RFC3339 encoded date"),
    (
        tool("t", "d", Order)(ignore),
        {"item": "a", "parts": [{}]},
        "argument 'parts[0].radius': required but missing",
    ),
    (tool("t", "d", Query)(ignore), {"maxRows": 1, "x": 2}, "arguments: object contains unknown field x"),
    (tool("t", "d", Query)(ignore), {"maxRows": 1, "kind": "c"}, "argument 'kind': invalid enum value 'c'"),
    (
        tool("t", "d", Person)(ignore),
        {"name": "a", "age": -1},
        "argument 'age': Input should be greater than or equal to 0",
    ),
    (tool("t", "d", Person)(ignore), {"age": []}, "argument 'name': Field required (and 1 more)"),
    (tool(add), {"a": 1}, "argument 'b': required but missing"),
    (tool(add), {"a": 1, "b": True}, "argument 'b': expected float, got bool"),
    (tool(draw), {}, "argument 'drawing': required but missing"),
    (tool(draw), {"drawing": 5}, "argument 'drawing': expected object, got int"),
    (tool(draw), {"drawing": {"shapes": 5}}, "argument 'drawing.shapes': expected array, got int"),
    (tool(draw), {"drawing": {"shapes": [], "title": 5}}, "argument 'drawing.title': expected str, got int"),
    (
        tool(draw),
        {"drawing": {"shapes": [{"side": 1}, {}]}},
        "argument 'drawing.shapes[1]': fits no alternative: "
        "argument 'radius': required but missing; argument 'side': required but missing",
    ),
    (
        tool(draw),
        {"drawing": {"shapes": [{"side": -1}]}},
        "argument 'drawing.shapes[0]': fits no alternative: "
        "argument 'radius': required but missing; arguments: a side is not negative",
    ),
    (
        tool(draw),
        {"drawing": {"shapes": []}, "named": {"a": {}}},
        "argument 'named': fits no alternative: "
        "argument '[...]': fits no alternative: argument 'radius': required but missing; "
        "argument 'side': required but missing; arguments: expected null, got object",
    ),
    (tool(greet), {"person": {"name": 5}}, "argument 'person.name': Input should be a valid string"),
    (
        tool(draw),
        {"drawing": {"shapes": []}, "named": []},
        "argument 'named': fits no alternative: "
        "arguments: expected object, got array; arguments: expected null, got array",
    ),
]


@pytest.mark.parametrize(("definition", "arguments", "text"), BAD)
def test_arguments_that_do_not_fit_are_an_error_result_that_names_them(
    definition: SdkMcpTool[Any], arguments: dict[str, Any], text: str
) -> None:
    assert error_of(call(definition, arguments)) == f"Input validation error: {text}"


@pytest.mark.parametrize("form", [{"a": int}, Circle, None])
def test_the_context_goes_to_the_parameter_annotated_so(form: Any) -> None:
    seen: list[ToolContext] = []
    if form is None:

        async def handler(a: int, context: ToolContext) -> None:
            seen.append(context)
    else:

        async def handler(args: Any, context: ToolContext) -> None:  # type: ignore[misc]
            seen.append(context)

    call(SdkMcpTool("t", "d", form, handler), {"a": 1, "radius": 2})
    assert [(context.tool_name, context.tool_use_id, context.server.name) for context in seen] == [
        ("t", "toolu_1", "lab")
    ]


def test_hints_that_cannot_be_resolved_do_not_matter_where_a_schema_is_given() -> None:
    async def handler(args: Missing, context: ToolContext) -> str:  # type: ignore[name-defined]  # noqa: F821
        return f"{args} {context.tool_use_id}"

    assert call(tool("t", "d", {})(handler), {})["content"][0]["text"] == "{} toolu_1"


def test_any_callable_can_be_a_handler() -> None:
    class Counter:
        async def __call__(self, step: int) -> int:
            return step + 1

        def method(self, step: int) -> int:
            return step + 2

    async def add(a: int, step: int) -> int:
        return a + step

    texts = [
        call(made, {"step": 1})["content"][0]["text"]
        for made in (
            tool("count")(Counter()),
            tool(Counter().method),
            tool("partial", "d")(functools.partial(add, 10)),
            SdkMcpTool("sum", "adds", {"step": int}, lambda args: add(20, args["step"])),
        )
    ]
    assert texts == ["2", "3", "11", "21"]


def test_a_handler_whose_signature_is_unknown_gets_the_arguments() -> None:
    assert call(SdkMcpTool("keys", "d", {"a": int}, dict), {"a": 1})["structuredContent"] == {"a": 1}
