"""Servers built with the ``mcp`` package (``Server``, ``FastMCP``, ``MCPServer``), served over in-memory streams.

The package is imported when such a server gets its first message, never before; 1.x and 2.x both serve. One connection
runs the server once, from its first message to ``aclose``; a server that stops by itself answers errors until the
client initializes it again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Any, NamedTuple, Protocol

from quarterdeck.wire.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, REQUEST_CANCELLED

from .connection import PROTOCOL_VERSIONS, Send, failure, success
from .server import ToolServer

logger = logging.getLogger(__name__)

STOP_TIMEOUT_S = 5.0
"""Servers stop within milliseconds; only a handler that ignores cancellation takes longer, and is not waited for."""
MANIFEST_TIMEOUT_S = 5.0
"""A server that starts more slowly has its handshake with the CLI instead, which waits for it there."""


class ServerConnection(Protocol):
    """What a session needs of a server: ``ToolConnection`` and ``BridgeConnection`` have it."""

    async def handle(self, message: dict[str, Any]) -> dict[str, Any] | None: ...
    async def manifest(self) -> dict[str, Any] | None: ...
    async def aclose(self) -> None: ...


class Connectable(Protocol):
    """A server that sessions can connect to."""

    def connect(self, send: Send) -> ServerConnection: ...


def adapt_server(instance: Any) -> Connectable:
    """What ``connect`` can be called on, for the ``instance`` of an SDK server configuration."""
    if isinstance(instance, ToolServer):
        return instance
    low_level = instance
    for attribute in ("_mcp_server", "_lowlevel_server"):  # FastMCP; MCPServer, its name in mcp 2
        low_level = getattr(low_level, attribute, low_level)
    if not callable(getattr(low_level, "run", None)) or not hasattr(low_level, "create_initialization_options"):
        raise TypeError(
            "the instance of an SDK MCP server must come from create_sdk_mcp_server, or be an mcp Server, FastMCP or "
            f"MCPServer, not {instance!r}"
        )
    return McpServerBridge(low_level)


class McpServerBridge:
    """A low-level server of the ``mcp`` package."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def connect(self, send: Send) -> BridgeConnection:
        return BridgeConnection(self._server, send)


class _Pending(NamedTuple):
    """A request to the server, under an id of ours: the client may reuse its own while an old handler still runs."""

    serial: int
    answer: asyncio.Future[dict[str, Any]]

    def settle(self, answer: dict[str, Any]) -> None:
        """The first answer counts."""
        if not self.answer.done():
            self.answer.set_result(answer)


class BridgeConnection:
    """One run of the server."""

    def __init__(self, server: Any, send: Send) -> None:
        self._server = server
        self._send = send
        self._name: str = getattr(server, "name", type(server).__name__)
        self._pending: dict[str | int, _Pending] = {}
        self._serials = itertools.count()
        self._run: asyncio.Task[None] | None = None
        self._to_server: Any = None
        self._stopped: str | None = None
        self._errands: set[asyncio.Task[None]] = set()
        self._closed = False

    async def handle(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Pass one message on and wait for its answer; None for what gets none."""
        request_id = message.get("id") if "method" in message else None
        if self._closed or (self._stopped is not None and message.get("method") != "initialize"):
            reason = "the connection is closed" if self._closed else self._stopped
            return None if request_id is None else self._failure(request_id, str(reason))
        if message.get("method") == "notifications/cancelled":
            await self._cancelled(message)
            return None
        if request_id is None:
            await self._submit(message)
            return None
        if request_id in self._pending:
            return failure(request_id, INVALID_REQUEST, f"request {request_id!r} is still being answered")
        pending = self._pending[request_id] = _Pending(next(self._serials), asyncio.get_running_loop().create_future())
        try:
            if (refusal := await self._submit({**message, "id": pending.serial})) is not None:
                return failure(request_id, INVALID_REQUEST, refusal)
            return {**await pending.answer, "id": request_id}
        except asyncio.CancelledError:
            self._errand(self._tell_cancelled(pending))
            raise
        finally:
            del self._pending[request_id]

    async def manifest(self) -> dict[str, Any] | None:
        """Do the handshake ourselves, as the CLI would; None if the server fails or takes too long."""
        hello = {
            "protocolVersion": PROTOCOL_VERSIONS[0],
            "capabilities": {},
            "clientInfo": {"name": "quarterdeck", "version": "1"},
        }
        try:
            async with asyncio.timeout(MANIFEST_TIMEOUT_S):
                initialized = await self._ask("initialize", hello)
                if initialized is None:
                    return None
                await self.handle({"jsonrpc": "2.0", "method": "notifications/initialized"})
                manifest = {"initializeResult": initialized}
                if "tools" in initialized.get("capabilities", {}):
                    listed = await self._ask("tools/list", {})
                    if listed is not None and "nextCursor" not in listed:
                        manifest["toolsListResult"] = listed
                return manifest
        except TimeoutError:
            logger.warning("MCP server %r did not initialize within %s s", self._name, MANIFEST_TIMEOUT_S)
            return None

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        request_id = f"quarterdeck/{method}"
        answer = await self.handle({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        result: dict[str, Any] | None = None if answer is None else answer.get("result")
        return result

    async def aclose(self) -> None:
        """Stop the server, in bounded time. Can be called twice."""
        self._closed = True
        run, self._run = self._run, None
        if run is None:
            return
        if self._to_server is not None:
            await self._to_server.aclose()
        _, late = await asyncio.wait([run], timeout=STOP_TIMEOUT_S)
        if late:
            logger.warning("MCP server %r did not stop within %s s: cancelled", self._name, STOP_TIMEOUT_S)
            run.cancel()
            self._fail_pending("the connection is closed")

    async def _submit(self, message: dict[str, Any]) -> str | None:
        """Pass a message to the server, started if need be; why it cannot be passed, or None."""
        from mcp.shared.message import SessionMessage

        try:
            parsed = SessionMessage(_parse(message))
        except ValueError as error:
            return f"not a JSON-RPC message: {str(error).splitlines()[0]}"
        if self._run is None or self._run.done():
            self._stopped = None
            ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._run = asyncio.create_task(self._serve(ready), name=f"mcp server {self._name}")
            await ready
        import anyio

        try:
            await self._to_server.send(parsed)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return self._stopped or f"MCP server {self._name!r} is stopping"
        return None

    async def _serve(self, ready: asyncio.Future[None]) -> None:
        from mcp.shared.memory import create_client_server_memory_streams

        cause = "its run() returned"
        try:
            async with create_client_server_memory_streams() as (client, server):
                from_server, self._to_server = client
                ready.set_result(None)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pump(from_server))
                    try:
                        await self._server.run(*server, self._server.create_initialization_options())
                    finally:
                        await server[1].aclose()  # ends the pump; not every version closes it
        except Exception as error:
            logger.exception("MCP server %r failed", self._name)
            cause = _root_cause(error)
        finally:
            self._stopped = f"MCP server {self._name!r} stopped: {cause}"
            self._fail_pending(self._stopped)

    async def _pump(self, from_server: Any) -> None:
        """Read the server's output. Never waits for the server itself, which may be waiting for this."""
        async for item in from_server:
            if isinstance(item, Exception):
                logger.warning("MCP server %r sent an exception: %r", self._name, item)
                continue
            said = item.message.model_dump(by_alias=True, mode="json", exclude_none=True)
            if "method" not in said:
                self._answered(said)
            elif "id" in said:
                self._errand(self._answer_server(said))
            else:
                self._send(said)

    def _answered(self, said: dict[str, Any]) -> None:
        for pending in self._pending.values():
            if pending.serial == said.get("id"):
                pending.settle(said)
                return  # and nothing for an answer to a call that was given up

    async def _answer_server(self, request: dict[str, Any]) -> None:
        """A request to the client. CLI 2.1.325 offers no capabilities to SDK servers, so only ``ping`` is served."""
        if request["method"] == "ping":
            await self._submit(success(request["id"], {}))
        else:
            text = f"{request['method']}: Claude Code does not offer this to in-process servers"
            await self._submit(failure(request["id"], METHOD_NOT_FOUND, text))

    async def _cancelled(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        pending = self._pending.get(request_id) if isinstance(request_id, str | int) else None
        if pending is not None and not pending.answer.done():
            pending.settle(failure(request_id, REQUEST_CANCELLED, "Request cancelled"))
            await self._tell_cancelled(pending)

    async def _tell_cancelled(self, pending: _Pending) -> None:
        """mcp 1.x is not notified: it would stop the whole server if the handler then answered anyway."""
        if _takes_cancellation() and not self._closed:
            params = {"requestId": pending.serial, "reason": "cancelled by the client"}
            await self._submit({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def _errand(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    def _failure(self, request_id: Any, reason: str) -> dict[str, Any]:
        return failure(request_id, INTERNAL_ERROR, reason)

    def _fail_pending(self, reason: str) -> None:
        for request_id, pending in self._pending.items():
            pending.settle(self._failure(request_id, reason))


def _parse(message: dict[str, Any]) -> Any:
    """The package's own message model: a root model in 1.x, a union behind an adapter in 2.x."""
    import mcp.types

    types: Any = mcp.types
    if _takes_cancellation():
        return types.jsonrpc_message_adapter.validate_python(message, by_name=False)
    return types.JSONRPCMessage.model_validate(message)


def _takes_cancellation() -> bool:
    """mcp 2 discards what a cancelled handler answers. It is known by the adapter that came with it."""
    import mcp.types

    return hasattr(mcp.types, "jsonrpc_message_adapter")


def _root_cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return str(error) or type(error).__name__
