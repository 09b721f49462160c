"""JSON-RPC 2.0 in lines: what a line says, and how one is written. No I/O.

Every line is read as one of four things; nothing raises. A line that is not a message is an ``RpcFault`` with its error
answer.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from quarterdeck.wire.jsonrpc import INTERNAL_ERROR as INTERNAL_ERROR
from quarterdeck.wire.jsonrpc import INVALID_PARAMS as INVALID_PARAMS
from quarterdeck.wire.jsonrpc import INVALID_REQUEST as INVALID_REQUEST
from quarterdeck.wire.jsonrpc import METHOD_NOT_FOUND as METHOD_NOT_FOUND
from quarterdeck.wire.jsonrpc import PARSE_ERROR as PARSE_ERROR
from quarterdeck.wire.jsonrpc import REQUEST_CANCELLED as REQUEST_CANCELLED

AUTH_REQUIRED = -32000
NOT_FOUND = -32002

Id = int | float | str | None


class RpcError(Exception):
    """An error as sent to or received from the other side."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class RpcRequest(msgspec.Struct, frozen=True):
    """Needs an answer."""

    id: Id
    method: str
    params: bytes


class Notification(msgspec.Struct, frozen=True):
    """Needs none."""

    method: str
    params: bytes


class RpcAnswer(msgspec.Struct, frozen=True):
    """To a request of ours: a result, or an error."""

    id: Id
    result: bytes | None
    error: RpcError | None


class RpcFault(msgspec.Struct, frozen=True):
    """No message. ``id`` is None where none can be read."""

    id: Id
    error: RpcError


Incoming = RpcRequest | Notification | RpcAnswer | RpcFault


class _Error(msgspec.Struct):
    code: int
    message: str = ""
    data: Any = None


class _RpcLine(msgspec.Struct):
    id: int | float | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: _Error | UnsetType | None = UNSET


_lines = msgspec.json.Decoder(_RpcLine)
_encoder = msgspec.json.Encoder()
NO_PARAMS = b"{}"


def read(line: bytes) -> Incoming:
    """What a line says."""
    try:
        return _sorted(_lines.decode(line))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return _second_look(line, error)


def _sorted(line: _RpcLine) -> Incoming:
    if line.method is not UNSET:
        params = bytes(line.params) if line.params is not UNSET and bytes(line.params) != b"null" else NO_PARAMS
        if line.id is UNSET:
            return Notification(line.method, params)
        return RpcRequest(line.id, line.method, params)
    if line.id is UNSET or (line.result is UNSET and not isinstance(line.error, _Error)):
        known = None if line.id is UNSET else line.id
        return RpcFault(known, RpcError(INVALID_REQUEST, "neither a method nor an answer"))
    if isinstance(line.error, _Error):
        return RpcAnswer(line.id, None, RpcError(line.error.code, line.error.message, line.error.data))
    return RpcAnswer(line.id, b"null" if line.result is UNSET else bytes(line.result), None)


def _second_look(line: bytes, error: Exception) -> Incoming:
    """JavaScript writes lone surrogates, which are JSON and no text: they become question marks. And an id may be
    readable although the rest is not a request."""
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return RpcFault(None, RpcError(PARSE_ERROR, "not JSON", str(error)))
    if isinstance(found, list):
        return RpcFault(None, RpcError(INVALID_REQUEST, "batches are not part of the protocol"))
    if not isinstance(found, dict):
        return RpcFault(None, RpcError(INVALID_REQUEST, "not an object"))
    try:
        return _sorted(_lines.decode(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")))
    except (msgspec.DecodeError, RecursionError) as again:
        known = found.get("id")
        usable = isinstance(known, int | float | str) and not isinstance(known, bool)
        return RpcFault(known if usable else None, RpcError(INVALID_REQUEST, "not a request", str(again)))


def request(id_: Id, method: str, params: Any) -> bytes:
    return _written({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def notification(method: str, params: Any) -> bytes:
    return _written({"jsonrpc": "2.0", "method": method, "params": params})


def result(id_: Id, value: Any) -> bytes:
    return _written({"jsonrpc": "2.0", "id": id_, "result": value})


def error(id_: Id, failure: RpcError) -> bytes:
    """Messages are one line; what a process has written to stderr may be more, and is all in ``data``."""
    line = " ".join(failure.message.split()) or "failed"
    data = failure.data
    if line != failure.message and data is None and failure.message:
        data = {"details": failure.message}
    told: dict[str, Any] = {"code": failure.code, "message": line}
    if data is not None:
        told["data"] = data
    return _written({"jsonrpc": "2.0", "id": id_, "error": told})


def _written(message: dict[str, Any]) -> bytes:
    try:
        return _encoder.encode(message) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate in what a model or a tool wrote
        text = json.dumps(msgspec.to_builtins(message), separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8", "replace") + b"\n"
