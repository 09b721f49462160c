"""Tools in the ways people define them, what they return, and what an SDK answers: ``tools/list``, ``tools/call``.

``python tests/compat/tool_table.py claude_agent_sdk > tests/compat/tools-0.2.182.json`` records the official package;
``test_tools.py`` compares ours with the record. Nothing in the table knows which SDK it is.
"""

import asyncio
import importlib
import json
import logging
import sys
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(TypedDict):
    name: str
    height: NotRequired[float]


class Loose(TypedDict, total=False):
    zeta: int
    alpha: str


class Trip(TypedDict):
    start: Place
    stops: list[Place]
    note: Annotated[Optional[str], "shown to the traveller"]  # noqa: UP045  # as people write it


class Derived(Place):
    country: str


class Opaque:
    pass


SEARCH = {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1}, "limit": {"type": "integer", "maximum": 50}},
    "required": ["query"],
    "additionalProperties": False,
}

DEFINITIONS: dict[str, Any] = {
    "no parameters": {},
    "text": {"text": str},
    "two numbers": {"a": float, "b": float},
    "scalars": {"s": str, "i": int, "f": float, "b": bool},
    "Optional[str]": {"a": Optional[str]},  # noqa: UP045  # both spellings are in use
    "str | None": {"a": str | None},
    "Optional[list]": {"a": Optional[list[int]]},  # noqa: UP045
    "Union of two": {"a": Union[int, str]},  # noqa: UP007
    "Union of two and None": {"a": int | str | None},
    "list": {"a": list},
    "list of str": {"a": list[str]},
    "list of lists": {"a": list[list[int]]},
    "list of optional": {"a": list[str | None]},
    "dict": {"a": dict},
    "dict with types": {"a": dict[str, Any]},
    "list of dicts": {"a": list[dict[str, Any]]},
    "described": {"a": Annotated[int, "how many"], "b": Annotated[str, 5, "which", "unused"]},
    "described and optional": {"a": Annotated[str | None, "which"]},
    "a TypedDict": Place,
    "a TypedDict with optional keys only": Loose,
    "a TypedDict of TypedDicts": Trip,
    "a TypedDict that inherits": Derived,
    "a TypedDict in a dict": {"place": Place, "places": list[Place]},
    "a JSON schema": SEARCH,
    "a JSON schema without parameters": {"type": "object", "properties": {}},
    "a parameter called type": {"type": str, "name": str},
    "a class of one's own": {"a": Opaque},
    "a class without fields": Opaque,
    # Ours says more than the official package about these.
    "Any": {"a": Any},
    "Literal": {"a": Literal["x", "y"]},
    "an enum": {"a": Colour},
    "tuple": {"a": tuple[int, str]},
    "set": {"a": set[str]},
    "dict of numbers": {"a": dict[str, int]},
    "a JSON schema of a type only": {"type": "object"},
}
"""What is given as ``input_schema``."""

PIXEL = {"type": "image", "data": "AAEC", "mimeType": "image/png"}
TEXT = {"type": "text", "text": "hello"}
LINK = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt", "description": "the first"}
NOTE = {"type": "resource", "resource": {"uri": "mem://note", "mimeType": "text/plain", "text": "a note"}}
BLOB = {"type": "resource", "resource": {"uri": "mem://blob", "blob": "AAEC"}}
AUDIO = {"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}

RETURNS: dict[str, Any] = {
    "text": {"content": [TEXT]},
    "two texts": {"content": [TEXT, {"type": "text", "text": ""}]},
    "an image": {"content": [PIXEL]},
    "text and image": {"content": [TEXT, PIXEL]},
    "no content": {"content": []},
    "an empty dict": {},
    "an error": {"content": [TEXT], "is_error": True},
    "no error": {"content": [TEXT], "is_error": False},
    "an error without content": {"is_error": True},
    "structured content beside text": {"content": [TEXT], "structuredContent": {"a": 1}},
    "structured content beside nothing": {"content": [], "structuredContent": {"a": 1}},
    "structured content alone": {"structuredContent": {"a": 1}},
    "a wire _meta": {"content": [TEXT], "_meta": {"a": 1}},
    "annotated text": {"content": [{**TEXT, "annotations": {"audience": ["user"]}}]},
    "a resource link": {"content": [LINK]},
    "a resource link without a description": {"content": [{**LINK, "description": None}]},
    "a resource link of nothing": {"content": [{"type": "resource_link"}]},
    "a resource with text": {"content": [NOTE]},
    "an unknown type": {"content": [{"type": "video", "uri": "x"}]},
    "an unknown type between texts": {"content": [TEXT, {"type": "video"}, TEXT]},
    "a block without a type": {"content": [{"text": "hello"}, TEXT]},
    "text without text": {"content": [{"type": "text"}]},
    "text that is a number": {"content": [{"type": "text", "text": 5}]},
    "an image without a type": {"content": [{"type": "image", "data": "AAEC"}]},
    # Ours delivers what the official package drops or refuses.
    "a resource of bytes": {"content": [BLOB, TEXT]},
    "audio": {"content": [AUDIO, TEXT]},
    "isError": {"content": [TEXT], "isError": True},
    "None": None,
    "a string": "hello",
    "a list": [TEXT],
    "a number": 5,
    "other data": {"answer": 42},
}
"""What a handler returns."""

RAISED: dict[str, BaseException] = {
    "an exception": RuntimeError("the tool broke"),
    "an exception without a text": RuntimeError(),
    "a KeyError": KeyError("city"),
}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "fits": ("two numbers", {"a": 1, "b": 2.5}),
    "more than asked": ("two numbers", {"a": 1, "b": 2, "c": 3}),
    "missing": ("two numbers", {"a": 1}),
    "wrong type": ("two numbers", {"a": "1", "b": 2}),
    "a boolean for a number": ("two numbers", {"a": True, "b": 2}),
    "null for an Optional": ("Optional[str]", {"a": None}),
    "a text for an Optional": ("Optional[str]", {"a": "x"}),
    "an Optional left out": ("Optional[str]", {}),
    "null for a union": ("Union of two and None", {"a": None}),
    "an optional key left out": ("a TypedDict", {"name": "Rome"}),
    "a wrong optional key": ("a TypedDict", {"name": "Rome", "height": "high"}),
    "a whole float for an integer": ("a JSON schema", {"query": "x", "limit": 2.0}),
    "too long": ("a JSON schema", {"query": "x", "limit": 51}),
    "too short": ("a JSON schema", {"query": ""}),
    "a key that is not allowed": ("a JSON schema", {"query": "x", "page": 2}),
    "an item of a wrong type": ("list of str", {"a": ["x", 5]}),
    "nothing for no parameters": ("no parameters", {}),
    "no such tool": ("nobody", {}),
}
"""A definition's name and the arguments of a call to it, whose handler says what it got."""


def tool_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def build(sdk: Any) -> list[Any]:
    """The tools of the whole table, made the way programs do."""
    annotations = sdk.ToolAnnotations(readOnlyHint=True, title="Defined", maxResultSizeChars=5000)
    tools = []
    for name, form in DEFINITIONS.items():

        @sdk.tool(tool_name(name), f"takes {name}", form, annotations=annotations if name == "text" else None)
        async def echo(args: Any) -> Any:
            return {"content": [{"type": "text", "text": json.dumps(args)}]}

        tools.append(echo)
    for name, value in {**RETURNS, **RAISED}.items():

        @sdk.tool(f"returns_{tool_name(name)}", f"returns {name}", {})
        async def give(args: Any, value: Any = value) -> Any:
            if isinstance(value, BaseException):
                raise value
            return value

        tools.append(give)
    return tools


class Warnings(logging.Handler):
    """What was logged as a warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


async def ask_all(ask: Any) -> dict[str, Any]:
    """The listing, and the result of every call with the warnings it caused. ``ask`` sends a request."""
    said = Warnings()
    logging.getLogger().addHandler(said)

    async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        said.texts.clear()
        result = await ask("tools/call", {"name": tool, "arguments": arguments})
        return {"result": result, "warnings": list(said.texts)}

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "table", "version": "1"}}
    try:
        await ask("initialize", hello)
        return {
            "tools": (await ask("tools/list", {}))["tools"],
            "returns": {name: await call(f"returns_{tool_name(name)}", {}) for name in {**RETURNS, **RAISED}},
            "calls": {name: await call(tool_name(tool), arguments) for name, (tool, arguments) in CALLS.items()},
        }
    finally:
        logging.getLogger().removeHandler(said)


async def record(sdk: Any) -> dict[str, Any]:
    """What the official package says, by the bridge that it has between the CLI and its servers."""
    bridge_module = importlib.import_module(f"{sdk.__name__}._internal.sdk_mcp_bridge")
    config = sdk.create_sdk_mcp_server("table", "1.0.0", build(sdk))
    bridge = bridge_module.SdkMcpBridge("table", config["instance"])
    ids = iter(range(10_000))

    async def ask(method: str, params: dict[str, Any]) -> Any:
        answer = await bridge.handle({"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params})
        if method == "initialize":
            await bridge.handle({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    try:
        return await ask_all(ask)
    finally:
        await bridge.aclose()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(record(importlib.import_module(sys.argv[1]))), indent=1, sort_keys=True))
