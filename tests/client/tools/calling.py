"""Calls to a tool as the CLI makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from quarterdeck.client.tools import SdkMcpTool, ToolConnection, ToolServer

WAIT_S = 10.0
"""No wait of these tests lasts this long unless something is broken."""


def run(main: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(WAIT_S):
            return await main

    return asyncio.run(bounded())


def request(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def tools_call(name: str, arguments: Any = None, request_id: Any = 1, **meta: Any) -> dict[str, Any]:
    """With the ``_meta`` that CLI 2.1.325 sends."""
    meta = {"claudecode/toolUseId": "toolu_1", "progressToken": 7, **meta}
    return request("tools/call", {"name": name, "arguments": arguments or {}, "_meta": meta}, request_id)


def connected(server: ToolServer, main: Callable[[ToolConnection, list[dict[str, Any]]], Any]) -> Any:
    """Run ``main(connection, sent)``, where ``sent`` collects what the server says by itself."""

    async def talk() -> Any:
        sent: list[dict[str, Any]] = []
        connection = server.connect(sent.append)
        try:
            return await main(connection, sent)
        finally:
            await connection.aclose()

    return run(talk())


def answer(server: ToolServer, message: Any) -> Any:
    """What one message is answered with."""
    return connected(server, lambda connection, _: connection.handle(message))


def call(tool: SdkMcpTool[Any], arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result of one call."""
    response = answer(ToolServer("lab", tools=[tool]), tools_call(tool.name, arguments))
    assert response.keys() == {"jsonrpc", "id", "result"}, response
    result: dict[str, Any] = response["result"]
    return result


def said(result: dict[str, Any]) -> str:
    """The only text of a result that is no error."""
    assert not result.get("isError"), result
    (block,) = result["content"]
    return str(block["text"])


def error_of(result: dict[str, Any]) -> str:
    """The text of an error result, which says nothing else."""
    (block,) = result["content"]
    assert result == {"content": [{"type": "text", "text": block["text"]}], "isError": True}
    return str(block["text"])
