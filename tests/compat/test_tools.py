"""Tools made with our SDK beside the same tools made with the official one: ``tools/list`` and ``tools/call``.

What the official package answers is recorded in ``tools-0.2.182.json`` by ``tool_table.py``.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any, Generic

import pytest

import quarterdeck
from compat import tool_table
from compat.peer import ASK_LIMIT_S, VERSION, peer_python

RECORD = Path(__file__).with_name(f"tools-{VERSION}.json")
OFFICIAL: dict[str, Any] = json.loads(RECORD.read_text())

GUIDE = Path(__file__).parents[2] / "docs" / "migration.md"
_TELLS_MORE = "described exactly"
_DELIVERED = "the model gets the value"
_PASSED_ON = "passed on"
OTHER_SCHEMAS = {
    **dict.fromkeys(["Any", "Literal", "an_enum", "tuple", "set", "dict_of_numbers"], _TELLS_MORE),
    "a_JSON_schema_of_a_type_only": '`{"type": "object"}` alone is a JSON schema',
}
"""Tool → words of ``docs/migration.md`` that say why ours shows another schema."""
OTHER_RESULTS = {
    **dict.fromkeys(["None", "a string", "a list", "a number", "other data"], _DELIVERED),
    **dict.fromkeys(["a resource of bytes", "audio", "a wire _meta", "annotated text"], _PASSED_ON),
    "isError": "`isError` means `is_error`",
    "an exception without a text": "or the exception's name",
}
"""Return → words of the guide that say why ours gives another result. All but the last are no error."""
OTHER_TEXTS = dict.fromkeys(
    ["text without text", "text that is a number", "an image without a type"], "a sentence about the block"
)
"""Return → words of the guide that say why the error has another text."""


def ours() -> dict[str, Any]:
    """Over the connection that a session has to a server."""

    async def ask_ours() -> dict[str, Any]:
        config = quarterdeck.create_sdk_mcp_server("table", "1.0.0", tool_table.build(quarterdeck))
        connection = config["instance"].connect(lambda message: None)

        async def ask(method: str, params: dict[str, Any]) -> Any:
            answer = await connection.handle({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            return answer["result"]

        try:
            return await tool_table.ask_all(ask)
        finally:
            await connection.aclose()

    return asyncio.run(ask_ours())


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    return ours()


def same_schema(schema: Any) -> Any:
    """Without what says nothing: the order of ``required``, and an empty one."""
    if isinstance(schema, list):
        return [same_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {key: same_schema(value) for key, value in schema.items()}
    if isinstance(shown.get("required"), list):
        shown["required"] = sorted(shown["required"])
    return {key: value for key, value in shown.items() if (key, value) != ("required", [])}


def same_result(result: dict[str, Any]) -> dict[str, Any]:
    """MCP has ``isError`` false by default. The texts of errors about arguments and blocks are each package's own."""
    result = {"isError": False, **result}
    if result["isError"]:
        kind, colon, _ = result["content"][0]["text"].partition(": ") if result["content"] else ("", "", "")
        if colon and kind == "Input validation error":
            return {**result, "content": kind}
    return result


@pytest.mark.real
def test_the_record_is_what_the_official_package_says() -> None:
    python = peer_python()
    if python is None:
        pytest.skip("the official SDK is not installed; QUARTERDECK_INSTALL_PEER=1")
    script = Path(tool_table.__file__)
    command = [python, script, "claude_agent_sdk"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=ASK_LIMIT_S, check=True).stdout
    assert json.loads(said) == OFFICIAL


def test_tools_are_listed_as_the_official_package_lists_them(answers: dict[str, Any]) -> None:
    assert len(answers["tools"]) >= 40
    listed = {tool["name"]: same_schema(tool) for tool in answers["tools"]}
    official = {tool["name"]: same_schema(tool) for tool in OFFICIAL["tools"]}
    assert list(listed) == list(official)
    different = {name for name, tool in listed.items() if tool != official[name]}
    assert different == set(OTHER_SCHEMAS)


def test_returns_become_the_results_that_the_official_package_makes(answers: dict[str, Any]) -> None:
    for name, official in OFFICIAL["returns"].items():
        given = answers["returns"][name]
        if name in OTHER_TEXTS:
            assert given["result"]["isError"] is official["result"]["isError"] is True, name
            assert given["result"] != official["result"], name
        elif name in OTHER_RESULTS:
            assert same_result(given["result"]) != same_result(official["result"]), name
        else:
            assert same_result(given["result"]) == same_result(official["result"]), name
            assert given["warnings"] == official["warnings"], name


def test_the_guide_for_moving_over_gives_the_reasons() -> None:
    words = {*OTHER_SCHEMAS.values(), *OTHER_RESULTS.values(), *OTHER_TEXTS.values()}
    assert [word for word in words if word not in GUIDE.read_text()] == []


def test_what_the_official_package_drops_is_delivered(answers: dict[str, Any]) -> None:
    results = {name: answers["returns"][name]["result"] for name in OTHER_RESULTS}
    text = [tool_table.TEXT]
    assert results == {
        "None": {"content": []},
        "a string": {"content": text},
        "a list": {"content": text},
        "a number": {"content": [{"type": "text", "text": "5"}]},
        "other data": {"content": [{"type": "text", "text": '{"answer":42}'}], "structuredContent": {"answer": 42}},
        "a resource of bytes": {"content": [tool_table.BLOB, *text]},
        "audio": {"content": [tool_table.AUDIO, *text]},
        "a wire _meta": {"content": text, "_meta": {"a": 1}},
        "annotated text": tool_table.RETURNS["annotated text"],
        "isError": {"content": text, "isError": True},
        "an exception without a text": {"content": [{"type": "text", "text": "RuntimeError"}], "isError": True},
    }


def test_arguments_are_accepted_and_refused_as_by_the_official_package(answers: dict[str, Any]) -> None:
    for name, official in OFFICIAL["calls"].items():
        assert same_result(answers["calls"][name]["result"]) == same_result(official["result"]), name


def defined(name: str = "t") -> Any:
    return quarterdeck.SdkMcpTool(name, "d", {"a": int}, print)


def test_a_tool_is_a_dataclass_with_the_idioms_of_the_official_one() -> None:
    tool = defined()
    assert repr(tool) == (
        "SdkMcpTool(name='t', description='d', input_schema={'a': <class 'int'>}, "
        "handler=<built-in function print>, annotations=None)"
    )
    assert tool == defined()
    assert (tool != defined()) is False
    assert tool != defined("other")
    assert dataclasses.is_dataclass(tool)
    own = ["name", "description", "input_schema", "handler", "annotations"]
    assert [field.name for field in dataclasses.fields(tool)][:5] == own
    assert list(quarterdeck.SdkMcpTool.__match_args__) == own
    assert list(vars(tool))[:5] == own
    assert dataclasses.asdict(tool)["input_schema"] == {"a": int}
    assert dataclasses.replace(tool, name="other") == defined("other")
    assert copy.copy(tool) == copy.deepcopy(tool) == tool
    assert issubclass(quarterdeck.SdkMcpTool, Generic)  # type: ignore[arg-type]
    assert quarterdeck.SdkMcpTool[dict[str, Any]]("t", "d", {"a": int}, print) == tool
    tool.description = "changed"
    tool.of_the_program = 5
    assert vars(tool)["of_the_program"] == 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(tool)


def test_a_server_configuration_is_a_plain_dict() -> None:
    config = quarterdeck.create_sdk_mcp_server("calc", "2.0.0", [defined()])
    assert type(config) is dict
    assert list(config) == ["type", "name", "instance"]
    assert (config["type"], config["name"]) == ("sdk", "calc")
    assert (config["instance"].name, config["instance"].version) == ("calc", "2.0.0")
    assert {**config, "name": "other"}["name"] == "other"
