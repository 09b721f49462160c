"""What handlers return, and the results that come of it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, NamedTuple

import mcp.types
import msgspec
import pydantic
import pytest

from client.tools.calling import call, error_of
from quarterdeck.client.tools import audio, image, resource, resource_link, text, tool


@dataclass
class Place:
    name: str
    seen: datetime.date


class Row(msgspec.Struct, rename="camel"):
    row_id: int


class Person(pydantic.BaseModel):
    name: str
    nick: str | None = None


class Pair(NamedTuple):
    a: int
    b: int


def text_of(*values: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value} for value in values]}


PIXEL = {"type": "image", "data": "AAEC", "mimeType": "image/png"}
NOTE = {"type": "resource", "resource": {"uri": "mem://note", "mimeType": "text/plain", "text": "hello"}}

LINK = {"type": "resource_link", "uri": "file:///a", "name": "a", "description": "the first"}

RESULTS: list[tuple[Any, dict[str, Any]]] = [
    (None, {"content": []}),
    ("hello", text_of("hello")),
    ("", text_of("")),
    (text("hello"), text_of("hello")),
    (image(b"\x00\x01\x02"), {"content": [PIXEL]}),
    (image("AAEC", "image/png"), {"content": [PIXEL]}),
    (audio(b"\x00\x01\x02"), {"content": [{"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}]}),
    (resource("mem://note", "hello", "text/plain"), {"content": [NOTE]}),
    (
        resource("mem://blob", b"\x00\x01\x02"),
        {"content": [{"type": "resource", "resource": {"uri": "mem://blob", "blob": "AAEC"}}]},
    ),
    (
        resource_link("file:///a", "a", "the first"),
        {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a", "description": "the first"}]},
    ),
    (["caption", image(b"\x00\x01\x02"), NOTE], {"content": [{"type": "text", "text": "caption"}, PIXEL, NOTE]}),
    ([], {"content": []}),
    (42, text_of("42")),
    (1.5, text_of("1.5")),
    (True, text_of("true")),
    (datetime.date(2026, 1, 2), text_of('"2026-01-02"')),
    ([1, 2], text_of("[1,2]")),
    (Pair(1, 2), text_of("[1,2]")),
    ([Place("Rome", datetime.date(2026, 1, 2))], text_of('[{"name":"Rome","seen":"2026-01-02"}]')),
    ({"answer": [42, None]}, {**text_of('{"answer":[42,null]}'), "structuredContent": {"answer": [42, None]}}),
    ({"content": "no list"}, {**text_of('{"content":"no list"}'), "structuredContent": {"content": "no list"}}),
    (
        {"type": "text", "size": 1},
        {**text_of('{"type":"text","size":1}'), "structuredContent": {"type": "text", "size": 1}},
    ),
    (
        Place("Rome", datetime.date(2026, 1, 2)),
        {
            **text_of('{"name":"Rome","seen":"2026-01-02"}'),
            "structuredContent": {"name": "Rome", "seen": "2026-01-02"},
        },
    ),
    ({"file": "a\udc80"}, {**text_of('{"file":"a\udc80"}'), "structuredContent": {"file": "a\udc80"}}),
    (Row(5), {**text_of('{"rowId":5}'), "structuredContent": {"rowId": 5}}),
    (
        Person(name="Ada"),
        {**text_of('{"name":"Ada","nick":null}'), "structuredContent": {"name": "Ada", "nick": None}},
    ),
    (
        [mcp.types.TextContent(type="text", text="hi"), mcp.types.TextContent(type="text", text="ho")],
        text_of("hi", "ho"),
    ),
    (mcp.types.TextContent(type="text", text="hi"), text_of("hi")),
    (
        mcp.types.CallToolResult.model_validate({"content": [{"type": "text", "text": "no"}], "isError": True}),
        {**text_of("no"), "isError": True},
    ),
]
OFFICIAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"content": [{"type": "text", "text": "hi"}]}, text_of("hi")),
    ({"content": [{"type": "text", "text": "no"}], "is_error": True}, {**text_of("no"), "isError": True}),
    ({"content": [{"type": "text", "text": "no"}], "isError": True}, {**text_of("no"), "isError": True}),
    ({"content": [{"type": "text", "text": "ok"}], "is_error": False}, text_of("ok")),
    ({"is_error": True}, {"content": [], "isError": True}),
    ({"content": ["plain", PIXEL]}, {"content": [{"type": "text", "text": "plain"}, PIXEL]}),
    ({"content": [{**PIXEL, "data": b"\x00\x01\x02"}]}, {"content": [PIXEL]}),
    ({}, {"content": []}),
    ({"content": ["said"], "structuredContent": {"a": 1}, "_meta": {"b": 2}}, {**text_of("said"), "_meta": {"b": 2}}),
    ({"content": [NOTE, LINK]}, text_of("hello", "a\nfile:///a\nthe first")),
    (
        {"content": [resource("mem://note", "hello", "text/plain"), resource_link("file:///a", "a", "the first")]},
        {"content": [NOTE, LINK]},
    ),
    (
        {"content": [{"type": "text", "text": "hi", "annotations": {"audience": ["user"]}}]},
        {"content": [{"type": "text", "text": "hi", "annotations": {"audience": ["user"]}}]},
    ),
]
BAD: list[tuple[Any, str]] = [
    (object(), "Encoding objects of type object is unsupported"),
    ({"a": object()}, "Encoding objects of type object is unsupported"),
    ({"content": [{"type": "text"}]}, "a text block needs 'text', a string"),
    ({"content": [{"type": "text", "text": 5}]}, "a text block needs 'text', a string"),
    (
        {"content": [{"type": "image", "data": "AAEC"}]},
        "an image block needs 'data' (base64 text or bytes) and 'mimeType', a string",
    ),
    (
        {"content": [{"type": "resource", "resource": {"blob": "AAEC"}}]},
        "a resource block needs 'resource' with 'uri' and either 'text' or 'blob'",
    ),
    ([{"type": "resource_link", "uri": "x"}], "a resource_link block needs 'uri' and 'name', strings"),
    (
        {"content": [{"type": "text", "text": "a", "_meta": {"x": object()}}]},
        "Encoding objects of type object is unsupported",
    ),
]


def returning(value: Any, **options: Any) -> dict[str, Any]:
    async def handler(args: Any) -> Any:
        return value

    return call(tool("t", "d", {}, **options)(handler))


@pytest.mark.parametrize(("value", "result"), RESULTS + OFFICIAL, ids=lambda value: repr(value)[:50])
def test_what_is_returned_becomes_a_result(value: Any, result: dict[str, Any]) -> None:
    assert returning(value) == result


@pytest.mark.parametrize(("value", "message"), BAD)
def test_what_no_result_can_say_is_an_error_result(value: Any, message: str) -> None:
    assert error_of(returning(value)) == message


@pytest.mark.parametrize("content", [[{"type": "video", "uri": "x"}, "said"], [5, "said"]])
def test_a_block_of_an_unknown_type_is_left_out_with_a_warning(
    content: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert returning({"content": content}) == text_of("said")
    kind = "'video'" if isinstance(content[0], dict) else "'int'"
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"Unsupported content type {kind} in tool result, skipping"
    ]


def test_structured_content_is_sent_when_the_tool_promises_it() -> None:
    form = {"content": ["said"], "structuredContent": {"rowId": 1}, "_meta": {"b": 2}}
    assert returning(form, output_schema=Row) == {**form, **text_of("said")}


def test_a_structured_result_is_checked_against_the_output_schema() -> None:
    assert returning({"rowId": 5}, output_schema=Row)["structuredContent"] == {"rowId": 5}
    assert error_of(returning({"rowId": "5"}, output_schema=Row)) == (
        "Tool 't' returned a result that violates its output_schema at 'rowId': expected integer, got string"
    )
    assert error_of(returning({"a": 1}, output_schema={"a": int, "b": int})) == (
        "Tool 't' returned a result that violates its output_schema at 'b': required but missing"
    )
    assert error_of(returning("five", output_schema=Row)) == (
        "Tool 't' has an output_schema but returned no structured content"
    )


def test_an_error_needs_no_structured_content() -> None:
    failed = {"content": [{"type": "text", "text": "no"}], "isError": True}
    assert returning(failed, output_schema=Row) == failed
