"""Defining tools: the official forms, and functions alone."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from typing import Annotated, Any, TypedDict

import mcp.types
import pytest

from client.tools.calling import answer, call, error_of, said, tools_call
from quarterdeck.client.tools import SdkMcpTool, ToolAnnotations, ToolServer, create_sdk_mcp_server, tool


@tool("divide", "Divide one number by another", {"dividend": float, "divisor": float})
async def divide(args: dict[str, Any]) -> dict[str, Any]:
    if args["divisor"] == 0:
        return {"content": [{"type": "text", "text": "cannot divide by zero"}], "is_error": True}
    return {"content": [{"type": "text", "text": f"{args['dividend'] / args['divisor']}"}]}


@tool("root", "The square root", {"n": float})
async def root(args: dict[str, Any]) -> dict[str, Any]:
    if args["n"] < 0:
        raise ValueError(f"{args['n']} has no real root")
    return {"content": [{"type": "text", "text": f"{args['n'] ** 0.5}"}]}


class Trip(TypedDict):
    start: Annotated[str, "where from"]
    stops: list[str]


@tool("plan", "Plan a trip", Trip)
async def plan(args: Trip) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": " → ".join([args["start"], *args["stops"]])}]}


def test_an_official_calculator_works() -> None:
    config = create_sdk_mcp_server(name="calculator", version="2.0.0", tools=[divide, root, plan])
    server = config["instance"]
    assert (config["type"], config["name"], server.version) == ("sdk", "calculator", "2.0.0")
    assert isinstance(server, ToolServer)
    assert server.tool_names == ["divide", "root", "plan"]
    assert said(call(divide, {"dividend": 84, "divisor": 2})) == "42.0"
    assert error_of(call(divide, {"dividend": 1, "divisor": 0})) == "cannot divide by zero"
    assert error_of(call(root, {"n": -4})) == "-4 has no real root"
    assert said(call(plan, {"start": "Rome", "stops": ["Pisa"]})) == "Rome → Pisa"


def test_the_definition_keeps_what_it_was_given() -> None:
    async def handler(args: Any) -> Any: ...

    hints = ToolAnnotations(readOnlyHint=True)
    made = tool("name", "description", {"a": int}, annotations=hints)(handler)
    assert made == SdkMcpTool("name", "description", {"a": int}, handler, hints)


def test_a_definition_can_be_called_like_its_function() -> None:
    @tool
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8
    assert asyncio.run(divide({"dividend": 1, "divisor": 2})) == {"content": [{"type": "text", "text": "0.5"}]}
    assert asyncio.run(divide.handler({"dividend": 1, "divisor": 2})) == {"content": [{"type": "text", "text": "0.5"}]}


def test_the_signatures_start_as_the_official_ones_do() -> None:
    assert list(inspect.signature(tool).parameters)[:4] == ["name", "description", "input_schema", "annotations"]
    assert [field.name for field in dataclasses.fields(SdkMcpTool)][:5] == [
        "name",
        "description",
        "input_schema",
        "handler",
        "annotations",
    ]
    parameters = inspect.signature(create_sdk_mcp_server).parameters
    assert [(name, parameter.default) for name, parameter in parameters.items()][:3] == [
        ("name", inspect.Parameter.empty),
        ("version", "1.0.0"),
        ("tools", None),
    ]


def test_a_function_alone_names_and_describes_its_tool() -> None:
    @tool
    async def first() -> None:
        """The first.

        And more.
        """

    @tool()
    async def second() -> None: ...

    @tool("third", "said here")
    async def other() -> None:
        """Not this."""

    @tool(name="fourth", blocking=False)
    def another() -> None:
        """The fourth."""

    assert [
        (made.name, made.description, made.input_schema, made.blocking) for made in (first, second, other, another)
    ] == [
        ("first", "The first.\n\nAnd more.", None, True),
        ("second", "", None, True),
        ("third", "said here", None, True),
        ("fourth", "The fourth.", None, False),
    ]


def test_a_function_without_a_name_needs_one() -> None:
    with pytest.raises(TypeError, match=r"has no name; give it one with @tool\('name'\)"):
        tool(lambda: None)
    assert tool("named")(lambda: None).name == "named"


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        tool("t", "d", {}, colour="red")(lambda args: None)  # type: ignore[call-overload]


def test_annotations_take_and_give_either_spelling() -> None:
    ours = ToolAnnotations(read_only_hint=True, idempotentHint=False, max_result_size_chars=5, novel=1)
    assert ours == ToolAnnotations(readOnlyHint=True, idempotent_hint=False, maxResultSizeChars=5, novel=1)
    assert (ours.readOnlyHint, ours.read_only_hint, ours.idempotent_hint, ours.title) == (True, True, False, None)
    assert ToolAnnotations(readOnlyHint=True, read_only_hint=False).hints == {"readOnlyHint": True}
    assert repr(ours) == "ToolAnnotations(readOnlyHint=True, idempotentHint=False, maxResultSizeChars=5, novel=1)"
    with pytest.raises(AttributeError):
        ours.read_only  # noqa: B018


@pytest.mark.parametrize(
    "annotations",
    [
        ToolAnnotations(readOnlyHint=True),
        {"readOnlyHint": True},
        {"read_only_hint": True, "title": None},
        mcp.types.ToolAnnotations.model_validate({"readOnlyHint": True}),
    ],
)
def test_annotations_may_be_ours_a_dict_or_the_mcp_packages(annotations: Any) -> None:
    @tool("t", "d", {}, annotations)
    async def t(args: Any) -> None: ...

    (listed,) = ToolServer("lab", tools=[t]).list_result()["tools"]
    assert listed["annotations"] == {"readOnlyHint": True}


def test_a_server_without_tools_is_a_server() -> None:
    config = create_sdk_mcp_server("empty")
    assert config["instance"].tool_names == []
    assert answer(config["instance"], tools_call("x"))["result"]["isError"]


def test_the_servers_options_reach_the_server_and_the_configuration() -> None:
    config = create_sdk_mcp_server("lab", instructions="Be quick.", always_load=True, timeout_ms=5000, tools=[divide])
    server = config["instance"]
    assert config == {"type": "sdk", "name": "lab", "instance": server, "timeout": 5000}
    assert server.initialize_result("2025-11-25")["instructions"] == "Be quick."
    assert server.list_result()["tools"][0]["_meta"] == {"anthropic/alwaysLoad": True}
