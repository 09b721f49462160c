"""What is refused, as a gRPC status with ``google.rpc.ErrorInfo``: the host's codes, each with a status."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import grpc
import msgspec
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from quarterdeck.host.errors import HostError

DOMAIN = "quarterdeck"
DETAILS = "grpc-status-details-bin"
LONGEST_VALUE = 1_000
"""Of a detail: trailers have little room."""

STATUS: Mapping[str, grpc.StatusCode] = MappingProxyType(
    {
        "unauthenticated": grpc.StatusCode.UNAUTHENTICATED,
        "forbidden": grpc.StatusCode.PERMISSION_DENIED,
        "not_found": grpc.StatusCode.NOT_FOUND,
        "invalid": grpc.StatusCode.INVALID_ARGUMENT,
        "too_large": grpc.StatusCode.RESOURCE_EXHAUSTED,
        "rate_limited": grpc.StatusCode.RESOURCE_EXHAUSTED,
        "conflict": grpc.StatusCode.FAILED_PRECONDITION,
        "already_decided": grpc.StatusCode.ALREADY_EXISTS,
        "withdrawn": grpc.StatusCode.FAILED_PRECONDITION,
        "not_running": grpc.StatusCode.FAILED_PRECONDITION,
        "busy": grpc.StatusCode.RESOURCE_EXHAUSTED,
        "cli_missing": grpc.StatusCode.FAILED_PRECONDITION,
        "cli_failed": grpc.StatusCode.ABORTED,
        "folder_not_allowed": grpc.StatusCode.PERMISSION_DENIED,
        "option_not_allowed": grpc.StatusCode.PERMISSION_DENIED,
        "budget_reached": grpc.StatusCode.FAILED_PRECONDITION,
        "limited": grpc.StatusCode.RESOURCE_EXHAUSTED,
        "storage": grpc.StatusCode.RESOURCE_EXHAUSTED,
        "shutting_down": grpc.StatusCode.UNAVAILABLE,
        "unavailable": grpc.StatusCode.UNAVAILABLE,
    }
)
"""Code → status."""


async def refuse(context: Any, error: HostError) -> None:
    """Ends the call; never returns."""
    status = STATUS[error.code]
    details = (DETAILS, status_of(error).SerializeToString())
    await context.abort(status, error.message, (*(context.trailing_metadata() or ()), details))


def status_of(error: HostError) -> Status:
    """With ``ErrorInfo``, and where it is known when to come back, ``RetryInfo``."""
    packed = [_packed(ErrorInfo(reason=error.code, domain=DOMAIN, metadata=metadata_of(error)))]
    if (wait_s := error.details.get("retry_after_s")) is not None:
        delay = Duration()
        delay.FromMilliseconds(round(wait_s * 1_000))
        packed.append(_packed(RetryInfo(retry_delay=delay)))
    return Status(code=STATUS[error.code].value[0], message=error.message, details=packed)


def metadata_of(error: HostError) -> dict[str, str]:
    """What helps a program, as texts."""
    shown = msgspec.to_builtins(error.details, str_keys=True)
    told = {name: _text(value) for name, value in shown.items() if value is not None}
    return {**({"hint": error.hint} if error.hint else {}), **told}


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:LONGEST_VALUE]


def _packed(message: Any) -> AnyMessage:
    made = AnyMessage()
    made.Pack(message)
    return made
