"""JSON-RPC answers."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
"""Not of JSON-RPC itself; what the ``mcp`` package answers for a request its client cancelled."""


class JsonRpcFailure(Exception):  # noqa: N818  # the name of what it becomes, not of a fault in this program
    """Ends the handling of a request with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def success(request_id: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(request_id: Any, code: int, message: str) -> dict[str, Any]:
    """``request_id`` is null where it could not be told, as JSON-RPC has it."""
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}
