"""Error codes of JSON-RPC, which MCP and ACP both speak."""

from __future__ import annotations

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
"""Not part of JSON-RPC. ACP has it, and the ``mcp`` package answers it for a request its client cancelled."""
