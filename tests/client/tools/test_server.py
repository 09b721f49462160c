"""The server's side of MCP: every method, every JSON-RPC error, and the list of tools as it changes."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from client.tools.calling import answer, connected, notification, request, run, tools_call
from quarterdeck.client.tools import ToolAnnotations, ToolConnection, ToolServer, tool


@tool("add", "Add two numbers", {"a": float, "b": float})
async def add(args: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}


@tool
async def greet(name: str) -> str:
    """Greet someone."""
    return f"Hello, {name}!"


ADD = {
    "name": "add",
    "description": "Add two numbers",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}
GREET = {
    "name": "greet",
    "description": "Greet someone.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
LIST_CHANGED = notification("notifications/tools/list_changed")


def lab(**options: Any) -> ToolServer:
    return ToolServer("lab", "2.0", [add, greet], **options)


def result_of(message: dict[str, Any], server: ToolServer | None = None) -> Any:
    response = answer(server or lab(), message)
    assert response == {"jsonrpc": "2.0", "id": message["id"], "result": response["result"]}
    return response["result"]


def hello(version: str) -> dict[str, Any]:
    client = {"name": "claude-code", "version": "2.1.325"}
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}, 0)


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("2031-01-01", "2025-11-25"),
    ],
)
def test_initialize_agrees_on_the_clients_version_if_it_is_known(asked: str, agreed: str) -> None:
    assert result_of(hello(asked)) == {
        "protocolVersion": agreed,
        "capabilities": {"tools": {"listChanged": True}, "logging": {}},
        "serverInfo": {"name": "lab", "version": "2.0"},
    }


def test_instructions_are_told_at_initialize() -> None:
    assert result_of(hello("2025-11-25"), lab(instructions="Add, then greet."))["instructions"] == "Add, then greet."


def test_ping_is_answered() -> None:
    assert result_of(request("ping", request_id="p")) == {}


def test_tools_are_listed() -> None:
    assert result_of(request("tools/list")) == {"tools": [ADD, GREET]}
    assert result_of(request("tools/list", {})) == {"tools": [ADD, GREET]}


def test_tools_are_listed_by_pages() -> None:
    server = lab(page_size=1)
    assert result_of(request("tools/list"), server) == {"tools": [ADD], "nextCursor": "1"}
    assert result_of(request("tools/list", {"cursor": "1"}), server) == {"tools": [GREET]}


def test_a_tool_is_called() -> None:
    assert result_of(tools_call("add", {"a": 2, "b": 40})) == {"content": [{"type": "text", "text": "42"}]}


def test_a_tool_is_called_without_arguments_and_meta() -> None:
    @tool
    async def now() -> str:
        return "now"

    server = ToolServer("lab", tools=[now])
    for params in ({"name": "now"}, {"name": "now", "arguments": None, "_meta": None}):
        assert result_of(request("tools/call", params), server) == {"content": [{"type": "text", "text": "now"}]}


def test_an_unknown_tool_is_an_error_the_model_can_read() -> None:
    assert result_of(tools_call("nope")) == {
        "content": [{"type": "text", "text": "Tool 'nope' not found"}],
        "isError": True,
    }


@pytest.mark.parametrize(
    "message",
    [
        notification("notifications/initialized"),
        notification("notifications/roots/list_changed"),
        notification("notifications/cancelled", {"requestId": 99}),
        notification("notifications/cancelled", {"requestId": []}),
        notification("notifications/cancelled", 5),
        notification("tools/list"),
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}},
    ],
)
def test_a_notification_and_a_response_get_no_answer(message: dict[str, Any]) -> None:
    assert answer(lab(), message) is None


ERRORS: list[tuple[Any, Any, int, str]] = [
    (b'{"jsonrpc": ', None, -32700, "not JSON: Input data was truncated"),
    ("\ud800", None, -32700, "not JSON: "),
    (b"[]", None, -32600, "a message must be a JSON object"),
    ([], None, -32600, "a message must be a JSON object"),
    ({}, None, -32600, "a request needs 'jsonrpc': '2.0' and 'method', a string"),
    ({"id": 3, "method": "ping"}, 3, -32600, "a request needs 'jsonrpc': '2.0' and 'method', a string"),
    ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, 3, -32600, "a request needs 'jsonrpc': '2.0'"),
    ({"jsonrpc": "2.0", "id": 3, "method": 5}, 3, -32600, "a request needs 'jsonrpc': '2.0' and 'method', a string"),
    (request("ping", request_id=None), None, -32600, "an id must be a string or an integer"),
    (request("ping", request_id=True), None, -32600, "an id must be a string or an integer"),
    (request("ping", request_id=[]), None, -32600, "an id must be a string or an integer"),
    (request("resources/list"), 1, -32601, "resources/list: no such method"),
    (request("prompts/get", {"name": "x"}), 1, -32601, "prompts/get: no such method"),
    (request("notifications/cancelled"), 1, -32601, "notifications/cancelled: no such method"),
    (request("ping", [1]), 1, -32602, "ping: params must be an object"),
    (request("initialize", {}), 1, -32602, "initialize: protocolVersion must be a string"),
    (request("tools/list", {"cursor": 5}), 1, -32602, "tools/list: cursor must be a string"),
    (request("tools/list", {"cursor": "1"}), 1, -32602, "tools/list: '1' is not a cursor of this server"),
    (request("tools/call"), 1, -32602, "tools/call: name must be a string"),
    (request("tools/call", {"name": 5}), 1, -32602, "tools/call: name must be a string"),
    (request("tools/call", {"name": "add", "arguments": [1]}), 1, -32602, "tools/call: arguments is an object"),
    (request("logging/setLevel", {}), 1, -32602, "logging/setLevel: level must be a string"),
    (request("logging/setLevel", {"level": "loud"}), 1, -32602, "logging/setLevel: level must be one of debug, info"),
]


@pytest.mark.parametrize(("message", "request_id", "code", "text"), ERRORS)
def test_what_cannot_be_served_is_a_json_rpc_error(message: Any, request_id: Any, code: int, text: str) -> None:
    response = answer(lab(), message)
    said = response["error"]["message"]
    assert response == {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": said}}
    assert said.startswith(text)


@pytest.mark.parametrize("cursor", ["0", "2", "-1", "x", "", "²"])
def test_a_cursor_that_was_not_given_out_is_refused(cursor: str) -> None:
    response = answer(lab(page_size=1), request("tools/list", {"cursor": cursor}))
    assert response["error"]["code"] == -32602


def test_a_message_may_be_text() -> None:
    assert answer(lab(), b'{"jsonrpc":"2.0","id":1,"method":"ping"}') == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_the_manifest_is_what_the_handshake_would_say() -> None:
    async def both(connection: ToolConnection, _: Any) -> None:
        initialized = await connection.handle(hello("2025-11-25"))
        listed = await connection.handle(request("tools/list"))
        assert initialized is not None
        assert listed is not None
        assert await connection.manifest() == {
            "initializeResult": initialized["result"],
            "toolsListResult": listed["result"],
        }

    connected(lab(), both)


def test_the_manifest_leaves_out_a_list_of_several_pages() -> None:
    async def manifest(connection: ToolConnection, _: Any) -> Any:
        return await connection.manifest()

    assert connected(lab(page_size=1), manifest).keys() == {"initializeResult"}


def test_a_change_of_tools_is_told_once_to_each_client_until_it_leaves() -> None:
    async def main() -> None:
        server = ToolServer("lab")
        first: list[Any] = []
        second: list[Any] = []
        one, two = server.connect(first.append), server.connect(second.append)
        server.add(add, greet)
        assert (first, second) == ([LIST_CHANGED], [LIST_CHANGED])
        await two.aclose()
        await two.aclose()
        server.remove("greet")
        assert (first, second) == ([LIST_CHANGED, LIST_CHANGED], [LIST_CHANGED])
        listed = await one.handle(request("tools/list"))
        assert listed is not None
        assert listed["result"] == {"tools": [ADD]}
        await one.aclose()

    run(main())


def test_a_tool_added_again_is_replaced() -> None:
    @tool("add", "Add, but better", {})
    async def better(args: Any) -> str:
        return "better"

    server = lab()
    server.add(better)
    assert server.tool_names == ["add", "greet"]
    assert result_of(tools_call("add"), server)["content"][0]["text"] == "better"


def test_removing_an_unknown_tool_removes_nothing() -> None:
    server = lab()
    with pytest.raises(KeyError, match="server 'lab' has no tool 'nope'"):
        server.remove("add", "nope")
    assert server.tool_names == ["add", "greet"]


def test_a_change_from_another_thread_is_told_on_the_connections_loop() -> None:
    async def main(connection: ToolConnection, sent: list[Any]) -> None:
        told = asyncio.Event()
        where: list[int] = []

        def send(message: dict[str, Any]) -> None:
            where.append(threading.get_ident())
            told.set()

        other = connection.server.connect(send)
        await asyncio.to_thread(connection.server.remove, "greet")
        await told.wait()
        assert where == [threading.get_ident()]
        assert sent == [LIST_CHANGED]
        await other.aclose()

    connected(lab(), main)


def test_hints_for_claude_code_travel_in_meta() -> None:
    @tool(
        "big",
        "Says much",
        {},
        ToolAnnotations(read_only_hint=True, title="Big", destructiveHint=None, maxResultSizeChars=5000),
        title="A big one",
        search_hint="large output",
        always_load=True,
        output_schema={"n": int},
        meta={"mine": 1},
    )
    async def big(args: Any) -> Any: ...

    (listed,) = ToolServer("lab", tools=[big]).list_result()["tools"]
    assert listed == {
        "name": "big",
        "description": "Says much",
        "inputSchema": {"type": "object", "properties": {}, "required": []},
        "title": "A big one",
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "annotations": {"readOnlyHint": True, "title": "Big"},
        "_meta": {
            "anthropic/maxResultSizeChars": 5000,
            "anthropic/searchHint": "large output",
            "anthropic/alwaysLoad": True,
            "mine": 1,
        },
    }


def test_a_servers_always_load_holds_for_its_tools_unless_they_say_otherwise() -> None:
    @tool(always_load=False)
    async def seldom() -> None: ...

    server = ToolServer("lab", tools=[greet, seldom], always_load=True)
    assert [listed["_meta"] for listed in server.list_result()["tools"]] == [
        {"anthropic/alwaysLoad": True},
        {"anthropic/alwaysLoad": False},
    ]


def test_a_page_holds_at_least_one_tool() -> None:
    with pytest.raises(ValueError, match="page_size must be at least 1, or None, not 0"):
        ToolServer("lab", page_size=0)
