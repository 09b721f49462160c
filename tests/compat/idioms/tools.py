"""Tools in the program's own process."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

from ._setup import answers, ask, client, program, sdk, show, use

Result = dict[str, Any]


def _server(*tools: Any, name: str = "lab") -> dict[str, Any]:
    names = [f"mcp__{name}__{tool.name}" for tool in tools]
    return {"mcp_servers": {name: sdk.create_sdk_mcp_server(name, "1.0.0", list(tools))}, "allowed_tools": names}


def _text(text: str) -> Result:
    return {"content": [{"type": "text", "text": text}]}


@program((use("mcp__lab__greet", name="Ada"),), "Done.")
async def a_greeting() -> None:
    @sdk.tool("greet", "Greet someone", {"name": str})
    async def greet(arguments: dict[str, Any]) -> Result:
        print("called with", arguments, type(arguments).__name__)
        return _text(f"Hello, {arguments['name']}!")

    show(await ask("Greet Ada.", **_server(greet)))


@program((use("mcp__lab__add", a=1.5, b=2),), "Done.")
async def numbers() -> None:
    @sdk.tool("add", "Add", {"a": float, "b": int})
    async def add(arguments: dict[str, Any]) -> Result:
        print({key: type(value).__name__ for key, value in arguments.items()})
        return _text(str(arguments["a"] + arguments["b"]))

    show(await ask("Add.", **_server(add)))


@program((use("mcp__lab__boom"),), "Done.")
async def a_tool_that_raises() -> None:
    @sdk.tool("boom", "Fail", {})
    async def boom(arguments: dict[str, Any]) -> Result:
        raise ValueError("boom")

    show(await ask("Fail.", **_server(boom)))


@program((use("mcp__lab__bad"),), "Done.")
async def a_tool_that_says_it_failed() -> None:
    @sdk.tool("bad", "Fail", {})
    async def bad(arguments: dict[str, Any]) -> Result:
        return {**_text("went wrong"), "is_error": True}

    show(await ask("Fail.", **_server(bad)))


@program((use("mcp__lab__greet"),), "Done.")
async def a_missing_argument() -> None:
    @sdk.tool("greet", "Greet someone", {"name": str})
    async def greet(arguments: dict[str, Any]) -> Result:
        return _text(f"Hello, {arguments['name']}!")

    show(await ask("Greet.", **_server(greet)))


@program((use("mcp__lab__find", query="x", limit=3),), "Done.")
async def a_json_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
        "required": ["query"],
    }

    @sdk.tool("find", "Find", schema)
    async def find(arguments: dict[str, Any]) -> Result:
        return _text(str(sorted(arguments.items())))

    print(find.input_schema == schema, find.name, find.description, find.annotations)
    show(await ask("Find.", **_server(find)))


@program((use("mcp__lab__typed", name="x", size=2),), "Done.")
async def a_typed_dict_schema() -> None:
    class Arguments(TypedDict):
        name: Annotated[str, "what it is called"]
        size: int

    @sdk.tool("typed", "Typed", Arguments)
    async def typed(arguments: Any) -> Result:
        return _text(str(arguments))

    show(await ask("Typed.", **_server(typed)))


@program((use("mcp__lab__one"), use("mcp__lab__two")), "Done.")
async def two_calls_at_once() -> None:
    @sdk.tool("one", "One", {})
    async def one(arguments: dict[str, Any]) -> Result:
        await asyncio.sleep(0)
        return _text("1")

    @sdk.tool("two", "Two", {})
    async def two(arguments: dict[str, Any]) -> Result:
        return _text("2")

    messages = await ask("Both.", **_server(one, two))
    print(
        sorted(
            block.content[0]["text"]
            for message in messages
            if isinstance(message, sdk.UserMessage)
            for block in message.content
        )
    )


@program((use("mcp__lab__many"),), "Done.")
async def several_content_items() -> None:
    @sdk.tool("many", "Many", {})
    async def many(arguments: dict[str, Any]) -> Result:
        return {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}

    show(await ask("Many.", **_server(many)))


@program((use("mcp__lab__nothing"),), "Done.")
async def empty_content() -> None:
    @sdk.tool("nothing", "Nothing", {})
    async def nothing(arguments: dict[str, Any]) -> Result:
        return {"content": []}

    show(await ask("Nothing.", **_server(nothing)))


@program((use("mcp__lab__greet", name="Ada"),), "Done.")
async def a_tool_that_is_not_allowed() -> None:
    @sdk.tool("greet", "Greet someone", {"name": str})
    async def greet(arguments: dict[str, Any]) -> Result:
        return _text("Hello!")

    show(await ask("Greet.", mcp_servers=_server(greet)["mcp_servers"]))


@program((use("mcp__lab__count"),), "One.", (use("mcp__lab__count"),), "Two.")
async def state_in_a_closure() -> None:
    calls: list[int] = []

    @sdk.tool("count", "Count", {})
    async def count(arguments: dict[str, Any]) -> Result:
        calls.append(1)
        return _text(f"{len(calls)} calls")

    async with client(**_server(count)) as session:
        show(await answers(session, "Count."))
        show(await answers(session, "Again."))
    print(len(calls))


@program((use("mcp__a__x"), use("mcp__b__x")), "Done.")
async def two_servers() -> None:
    @sdk.tool("x", "X", {})
    async def first(arguments: dict[str, Any]) -> Result:
        return _text("first")

    @sdk.tool("x", "X", {})
    async def second(arguments: dict[str, Any]) -> Result:
        return _text("second")

    servers = {
        "a": sdk.create_sdk_mcp_server(name="a", tools=[first]),
        "b": sdk.create_sdk_mcp_server(name="b", tools=[second]),
    }
    show(await ask("Both.", mcp_servers=servers, allowed_tools=["mcp__a", "mcp__b"]))


@program("Done.")
async def the_tool_object() -> None:
    @sdk.tool("greet", "Greet someone", {"name": str}, annotations=sdk.ToolAnnotations(readOnlyHint=True))
    async def greet(arguments: dict[str, Any]) -> Result:
        """Says hello."""
        return _text(f"Hello, {arguments['name']}!")

    print(type(greet).__name__, greet.name, greet.description, greet.input_schema, type(greet.annotations).__name__)
    print(await greet.handler({"name": "Ada"}), greet.handler.__name__)
    server = sdk.create_sdk_mcp_server("lab", tools=[greet])
    print(server["type"], server["name"], sorted(server), isinstance(server, dict))


@program((use("mcp__lab__old"),), "Done.")
async def a_server_in_init() -> None:
    @sdk.tool("old", "Old", {})
    async def old(arguments: dict[str, Any]) -> Result:
        return _text("ok")

    messages = await ask("Go.", **_server(old))
    print(messages[0].data["mcp_servers"], [name for name in messages[0].data["tools"] if name.startswith("mcp__")])


@program((use("mcp__lab__wrong", a="x"),), "Done.")
async def an_argument_of_the_wrong_type() -> None:
    @sdk.tool("wrong", "Wrong", {"a": int})
    async def wrong(arguments: dict[str, Any]) -> Result:
        return _text("called")

    show(await ask("Wrong.", **_server(wrong)))
