"""One client's conversation with a ``ToolServer``: a JSON-RPC message in, its answer out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from quarterdeck.wire.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, REQUEST_CANCELLED

from .compiled import CompiledTool
from .context import LogLevel, ToolContext
from .results import error_result

if TYPE_CHECKING:
    from .server import ToolServer

Send: TypeAlias = Callable[[dict[str, Any]], None]
"""Takes a message for the client without waiting, and does not raise; called on the connection's event loop."""

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first. The newest is what CLI 2.1.325 asks for."""

_LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_decode = msgspec.json.Decoder().decode


class JsonRpcFailure(Exception):  # noqa: N818  # the name of what it becomes, not of a fault in this program
    """Ends the handling of a request with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def success(request_id: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(request_id: Any, code: int, message: str) -> dict[str, Any]:
    """``request_id`` is null if unknown, as JSON-RPC requires."""
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}


class ToolConnection:
    """One client of a server. Messages can be handled concurrently, each in its own task."""

    def __init__(self, server: ToolServer, send: Send) -> None:
        self.server = server
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._calls: dict[str | int, ToolContext] = {}
        self._log_threshold = 0
        self._closed = False

    async def handle(self, message: dict[str, Any] | bytes | str) -> dict[str, Any] | None:
        """Answer one message; None for a notification or a response, which get no answer.

        If the task that runs this is cancelled, so is the handler, and the cancellation propagates to the caller. If
        the client cancels the call, the answer is an error: MCP wants none, but the control request that
        carried the call does.
        """
        if type(message) is not dict:
            try:
                message = _decode(message) if isinstance(message, bytes | str) else message
            except (msgspec.DecodeError, UnicodeError) as error:
                return failure(None, PARSE_ERROR, f"not JSON: {error}")
            if not isinstance(message, dict):
                return failure(None, INVALID_REQUEST, "a message must be a JSON object")
        request_id, method = message.get("id"), message.get("method")
        if method is None and ("result" in message or "error" in message):
            return None  # an answer, though this server asks nothing
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
            return failure(request_id, INVALID_REQUEST, "a request needs 'jsonrpc': '2.0' and 'method', a string")
        if "id" not in message:
            self._notified(method, message.get("params"))
            return None
        if type(request_id) is not int and type(request_id) is not str:
            return failure(None, INVALID_REQUEST, "an id must be a string or an integer")
        params = message.get("params")
        if params is None:
            params = {}
        try:
            if not isinstance(params, dict):
                raise JsonRpcFailure(INVALID_PARAMS, f"{method}: params must be an object")
            if method == "tools/call":
                return success(request_id, await self._call(request_id, params))
            return success(request_id, self._answer(method, params))
        except JsonRpcFailure as error:
            return failure(request_id, error.code, str(error))

    async def manifest(self) -> dict[str, Any]:
        """The answers to ``initialize`` and ``tools/list``, for ``initialize.sdkMcpServerManifests``."""
        manifest = {"initializeResult": self.server.initialize_result(PROTOCOL_VERSIONS[0])}
        listed = self.server.list_result()
        if "nextCursor" not in listed:  # the CLI takes a whole list only, and else asks itself
            manifest["toolsListResult"] = listed
        return manifest

    async def aclose(self) -> None:
        """Cancel the running calls; no more notifications are sent. Can be called twice."""
        self._closed = True
        self.server.disconnect(self)
        for call in tuple(self._calls.values()):
            call.cancel()

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification, from any thread."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._deliver(message)
        else:
            self._loop.call_soon_threadsafe(self._deliver, message)

    def _deliver(self, message: dict[str, Any]) -> None:
        if not self._closed:
            self._send(message)

    def log(self, level: LogLevel, data: Any, *, logger: str) -> None:
        """Send a log message, unless the client asked only for higher levels."""
        if _LOG_LEVELS.index(level) >= self._log_threshold:
            self.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def _notified(self, method: str, params: Any) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            request_id = params.get("requestId")
            call = self._calls.get(request_id) if isinstance(request_id, str | int) else None
            if call is not None:  # unknown or already answered: MCP says to ignore it
                call.cancel()

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                return self.server.initialize_result(_text(params, "protocolVersion", method))
            case "ping":
                return {}
            case "tools/list":
                cursor = params.get("cursor")
                return self.server.list_result(None if cursor is None else _text(params, "cursor", method))
            case "logging/setLevel":
                level = _text(params, "level", method)
                if level not in _LOG_LEVELS:
                    raise JsonRpcFailure(INVALID_PARAMS, f"{method}: level must be one of {', '.join(_LOG_LEVELS)}")
                self._log_threshold = _LOG_LEVELS.index(level)
                return {}
        raise JsonRpcFailure(METHOD_NOT_FOUND, f"{method}: no such method")

    async def _call(self, request_id: str | int, params: dict[str, Any]) -> dict[str, Any]:
        name = params.get("name")
        if type(name) is not str:
            raise JsonRpcFailure(INVALID_PARAMS, "tools/call: name must be a string")
        arguments, meta = params.get("arguments"), params.get("_meta")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise JsonRpcFailure(INVALID_PARAMS, "tools/call: arguments is an object")
        if request_id in self._calls:
            raise JsonRpcFailure(INVALID_REQUEST, f"request {request_id!r} is still being answered")
        if self._closed:
            raise JsonRpcFailure(INVALID_REQUEST, f"the connection to server {self.server.name!r} is closed")
        tool = self.server.tool(name)
        if tool is None:  # as in the official SDK a result, not an error: the model can choose another tool
            return error_result(f"Tool '{name}' not found")
        task = asyncio.current_task()
        assert task is not None, "handle() runs in a task"  # noqa: S101
        meta = meta if isinstance(meta, dict) else {}
        call = ToolContext(self, tool_name=name, request_id=request_id, meta=meta, task=task)
        return await self._run(tool, arguments, call, task)

    async def _run(
        self, tool: CompiledTool, arguments: dict[str, Any], call: ToolContext, task: asyncio.Task[Any]
    ) -> dict[str, Any]:
        cancellations_before = task.cancelling()
        self._calls[call.request_id] = call
        try:
            result = await tool.call(arguments, call)
        except asyncio.CancelledError:
            if call.cancelled:
                if task.uncancel() > cancellations_before:
                    raise  # our caller is being cancelled as well
                raise JsonRpcFailure(REQUEST_CANCELLED, "Request cancelled") from None
            if task.cancelling() > cancellations_before:
                raise
            return error_result(f"Tool '{tool.name}' cancelled itself")
        finally:
            call.finish()
            del self._calls[call.request_id]
        if call.cancelled:  # the handler finished anyway
            task.uncancel()
            raise JsonRpcFailure(REQUEST_CANCELLED, "Request cancelled")
        return result


def _text(params: dict[str, Any], key: str, method: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise JsonRpcFailure(INVALID_PARAMS, f"{method}: {key} must be a string")
    return value
