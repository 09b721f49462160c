"""Servers built with the ``mcp`` package, whichever of its two majors is installed."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import mcp.types
import pytest
from mcp.server import Server

from client.tools.calling import notification, request, run, tools_call
from quarterdeck.client.tools import ServerConnection, ToolServer, adapt_server

MCP_2 = hasattr(mcp.types, "jsonrpc_message_adapter")
fast: Any = importlib.import_module("mcp.server.mcpserver" if MCP_2 else "mcp.server.fastmcp")
Context: Any = fast.Context
FastMCP: Any = fast.MCPServer if MCP_2 else fast.FastMCP

HELLO = request(
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2.1.325"}},
    0,
)
ECHO = {"name": "echo", "description": "Say it again", "inputSchema": {"type": "object", "properties": {}}}


def low_level(run_tool: Callable[[str, dict[str, Any]], Any], **options: Any) -> Any:
    """A ``Server`` with one tool, built as each major wants it."""
    server_class: Any = Server
    listed = mcp.types.Tool.model_validate(ECHO)

    async def result(name: str, arguments: dict[str, Any]) -> Any:
        text = await run_tool(name, arguments)
        return mcp.types.CallToolResult.model_validate({"content": [{"type": "text", "text": text}]})

    if MCP_2:

        async def on_list(context: Any, params: Any) -> Any:
            return mcp.types.ListToolsResult(tools=[listed])

        async def on_call(context: Any, params: Any) -> Any:
            return await result(params.name, params.arguments or {})

        return server_class("low", version="3.0", on_list_tools=on_list, on_call_tool=on_call, **options)

    server = server_class("low", version="3.0", **options)

    async def list_tools() -> list[Any]:
        return [listed]

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(result)
    return server


async def echo(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} {arguments}"


@contextlib.asynccontextmanager
async def open_connection(instance: Any, sent: list[Any] | None = None) -> AsyncIterator[ServerConnection]:
    connection = adapt_server(instance).connect(([] if sent is None else sent).append)
    try:
        yield connection
    finally:
        await connection.aclose()


async def start(connection: ServerConnection) -> dict[str, Any]:
    answered = await connection.handle(HELLO)
    assert answered is not None
    assert await connection.handle(notification("notifications/initialized")) is None
    return answered


def text_of(answered: Any) -> Any:
    return answered["result"]["content"][0]["text"]


def test_a_low_level_server_is_served() -> None:
    async def main() -> None:
        async with open_connection(low_level(echo)) as connection:
            hello = await start(connection)
            assert hello["id"] == 0
            assert hello["result"]["serverInfo"] == {"name": "low", "version": "3.0"}
            assert hello["result"]["protocolVersion"] == "2025-11-25"
            listed = await connection.handle(request("tools/list"))
            assert listed is not None
            assert [{key: tool[key] for key in ECHO} for tool in listed["result"]["tools"]] == [ECHO]
            assert text_of(await connection.handle(tools_call("echo", {"a": 1}, request_id="x"))) == "echo {'a': 1}"

    run(main())


def test_fastmcp_is_served_with_its_progress() -> None:
    server = FastMCP("fast", instructions="Count.")

    @server.tool()  # type: ignore[untyped-decorator]  # FastMCP is Any here: its class has another name in each major
    async def count(to: int, context: Context) -> str:
        """Count up."""
        for n in range(1, to + 1):
            await context.report_progress(n, to)
        return f"counted to {to}"

    async def main() -> None:
        sent: list[Any] = []
        async with open_connection(server, sent) as connection:
            hello = await start(connection)
            assert hello["result"]["instructions"] == "Count."
            assert text_of(await connection.handle(tools_call("count", {"to": 2}))) == "counted to 2"
            wrong = await connection.handle(tools_call("count", {"to": "many"}))
            assert wrong is not None
            assert wrong["result"]["isError"] is True
        assert [(message["method"], message["params"]["progress"]) for message in sent] == [
            ("notifications/progress", 1),
            ("notifications/progress", 2),
        ]

    run(main())


def test_the_manifest_is_the_handshake_done_beforehand() -> None:
    async def main() -> None:
        async with open_connection(low_level(echo)) as connection:
            manifest = await connection.manifest()
            assert manifest is not None
            assert manifest["initializeResult"]["serverInfo"] == {"name": "low", "version": "3.0"}
            assert [tool["name"] for tool in manifest["toolsListResult"]["tools"]] == ["echo"]
            assert text_of(await connection.handle(tools_call("echo"))) == "echo {}"
            again = await start(connection)  # a CLI that does not take manifests does it itself
            assert again["result"] == manifest["initializeResult"]
            assert text_of(await connection.handle(tools_call("echo"))) == "echo {}"

    run(main())


def test_calls_run_side_by_side() -> None:
    async def main() -> None:
        both = asyncio.Barrier(2)

        async def meet(name: str, arguments: dict[str, Any]) -> str:
            await both.wait()
            return str(arguments["n"])

        async with open_connection(low_level(meet)) as connection:
            await start(connection)
            answers = await asyncio.gather(
                *(connection.handle(tools_call("echo", {"n": n}, request_id=n)) for n in (1, 2))
            )
            assert [(answered["id"], text_of(answered)) for answered in answers if answered] == [(1, "1"), (2, "2")]

    run(main())


class Held:
    """A tool that says it runs, and waits."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.let_go = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, name: str, arguments: dict[str, Any]) -> str:
        if arguments.get("quick"):
            return "quick"
        self.entered.set()
        try:
            await self.let_go.wait()
        finally:
            self.ended.set()
        return "late"


def test_a_cancelled_call_is_answered_at_once_and_the_server_goes_on() -> None:
    async def main() -> None:
        held = Held()
        async with open_connection(low_level(held)) as connection:
            await start(connection)
            calling = asyncio.create_task(connection.handle(tools_call("echo", request_id=5)))
            await held.entered.wait()
            assert await connection.handle(notification("notifications/cancelled", {"requestId": 5})) is None
            assert await calling == {
                "jsonrpc": "2.0",
                "id": 5,
                "error": {"code": -32800, "message": "Request cancelled"},
            }
            if not MCP_2:  # cannot be told: its handler runs to its end, and its answer is dropped
                held.let_go.set()
            await held.ended.wait()
            assert text_of(await connection.handle(tools_call("echo", {"quick": True}, request_id=6))) == "quick"
            unknowns: list[Any] = [{"requestId": 77}, {"requestId": []}, None]
            for unknown in unknowns:
                assert await connection.handle(notification("notifications/cancelled", unknown)) is None

    run(main())


def test_cancelling_the_task_leaves_the_server_usable() -> None:
    async def main() -> None:
        held = Held()
        async with open_connection(low_level(held)) as connection:
            await start(connection)
            calling = asyncio.create_task(connection.handle(tools_call("echo", request_id=5)))
            await held.entered.wait()
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            if not MCP_2:
                held.let_go.set()
            await held.ended.wait()
            assert text_of(await connection.handle(tools_call("echo", {"quick": True}, request_id=5))) == "quick"

    run(main())


def test_closing_ends_the_server_and_fails_what_is_pending() -> None:
    async def main() -> None:
        held = Held()
        closed = asyncio.Event()

        @contextlib.asynccontextmanager
        async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
            try:
                yield {}
            finally:
                closed.set()

        connection = adapt_server(low_level(held, lifespan=lifespan)).connect(lambda _: None)
        await start(connection)
        calling = asyncio.create_task(connection.handle(tools_call("echo", request_id=5)))
        await held.entered.wait()
        await connection.aclose()
        await connection.aclose()
        answered = await calling
        assert answered is not None
        assert "error" in answered
        assert closed.is_set()
        after = await connection.handle(request("ping"))
        assert after == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "the connection is closed"}}
        assert await connection.handle(notification("notifications/initialized")) is None

    run(main())


def test_a_server_that_fails_says_why_and_is_started_again_by_initialize() -> None:
    async def main() -> None:
        fail = True

        @contextlib.asynccontextmanager
        async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
            if fail:
                raise RuntimeError("no database")
            yield {}

        async with open_connection(low_level(echo, lifespan=lifespan)) as connection:
            broken = {"code": -32603, "message": "MCP server 'low' stopped: no database"}
            failed = await connection.handle(HELLO)
            assert failed == {"jsonrpc": "2.0", "id": 0, "error": broken}
            assert await connection.handle(request("tools/list")) == {"jsonrpc": "2.0", "id": 1, "error": broken}
            assert await connection.manifest() is None
            fail = False
            await start(connection)
            assert text_of(await connection.handle(tools_call("echo"))) == "echo {}"

    run(main())


def test_a_request_of_the_server_is_refused_and_its_ping_answered() -> None:
    asked: list[Any] = []

    class Asking:
        """Stands for a server that asks its client: it speaks to the streams itself."""

        name = "asking"

        def create_initialization_options(self) -> None:
            return None

        async def run(self, incoming: Any, outgoing: Any, _: Any) -> None:
            from mcp.shared.message import SessionMessage

            from quarterdeck.client.tools.adapters import _parse

            async with incoming:
                first = await incoming.receive()
                for question in (request("ping", request_id=10), request("roots/list", request_id=11)):
                    await outgoing.send(SessionMessage(_parse(question)))
                    answered = await incoming.receive()
                    asked.append(answered.message.model_dump(by_alias=True, exclude_none=True))
                await outgoing.send(ValueError("odd"))
                done = {"jsonrpc": "2.0", "id": first.message.model_dump()["id"], "result": {}}
                await outgoing.send(SessionMessage(_parse(done)))

    async def main() -> None:
        async with open_connection(Asking()) as connection:
            assert await connection.handle(HELLO) == {"jsonrpc": "2.0", "id": 0, "result": {}}
        text = "roots/list: Claude Code does not offer this to in-process servers"
        assert asked == [
            {"jsonrpc": "2.0", "id": 10, "result": {}},
            {"jsonrpc": "2.0", "id": 11, "error": {"code": -32601, "message": text}},
        ]

    run(main())


def test_a_server_that_does_not_stop_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.client.tools.adapters.STOP_TIMEOUT_S", 0.01)

    async def main() -> None:
        held = Held()

        async def stubborn(name: str, arguments: dict[str, Any]) -> str:
            with anyio.CancelScope(shield=True):
                await held(name, arguments)
            return "late"

        connection = adapt_server(low_level(stubborn)).connect(lambda _: None)
        await start(connection)
        calling = asyncio.create_task(connection.handle(tools_call("echo", request_id=5)))
        await held.entered.wait()
        await connection.aclose()
        answered = await calling
        assert answered is not None
        assert "error" in answered
        held.let_go.set()
        await held.ended.wait()

    run(main())


def test_a_server_that_starts_too_slowly_has_no_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.client.tools.adapters.MANIFEST_TIMEOUT_S", 0.01)

    async def main() -> None:
        ready = asyncio.Event()

        @contextlib.asynccontextmanager
        async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
            await ready.wait()
            yield {}

        async with open_connection(low_level(echo, lifespan=lifespan)) as connection:
            assert await connection.manifest() is None
            ready.set()
            await start(connection)
            assert text_of(await connection.handle(tools_call("echo"))) == "echo {}"

    run(main())


@pytest.mark.parametrize("message", [{"jsonrpc": "2.0", "id": 3, "method": 5}, {"id": 3, "method": "ping"}])
def test_what_is_no_message_is_an_error(message: dict[str, Any]) -> None:
    async def main() -> None:
        async with open_connection(low_level(echo)) as connection:
            answered = await connection.handle(message)
            assert answered is not None
            assert (answered["id"], answered["error"]["code"]) == (3, -32600)

    run(main())


def test_an_id_in_use_is_refused() -> None:
    async def main() -> None:
        held = Held()
        async with open_connection(low_level(held)) as connection:
            await start(connection)
            calling = asyncio.create_task(connection.handle(tools_call("echo", request_id=5)))
            await held.entered.wait()
            refused = await connection.handle(tools_call("echo", request_id=5))
            assert refused is not None
            assert refused["error"]["code"] == -32600
            held.let_go.set()
            assert text_of(await calling) == "late"

    run(main())


def test_our_own_server_needs_no_adapter() -> None:
    server = ToolServer("lab")
    assert adapt_server(server) is server


@pytest.mark.parametrize("instance", [None, object(), "server", dict])
def test_what_is_no_server_is_refused(instance: Any) -> None:
    with pytest.raises(TypeError, match="the instance of an SDK MCP server must come from create_sdk_mcp_server"):
        adapt_server(instance)


def test_neither_mcp_nor_pydantic_is_imported_for_those_who_do_not_use_them() -> None:
    program = (
        "import sys, quarterdeck.client.tools as t;"
        "t.create_sdk_mcp_server('a', tools=[t.tool('n', 'd', {'a': int})(print)]);"
        "print(sorted({'mcp', 'pydantic', 'anyio'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
