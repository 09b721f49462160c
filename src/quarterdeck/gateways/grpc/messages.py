"""The generated message classes by name."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .v1 import (
    approval_service_pb2,
    audit_service_pb2,
    events_pb2,
    host_service_pb2,
    policy_service_pb2,
    resources_pb2,
    session_service_pb2,
    usage_service_pb2,
)

FILES: tuple[ModuleType, ...] = (
    resources_pb2,
    events_pb2,
    session_service_pb2,
    approval_service_pb2,
    policy_service_pb2,
    usage_service_pb2,
    audit_service_pb2,
    host_service_pb2,
)

MESSAGES: dict[str, Any] = {
    name: getattr(file, name) for file in FILES for name in file.DESCRIPTOR.message_types_by_name
}
ENUMS: dict[str, Any] = {name: getattr(file, name) for file in FILES for name in file.DESCRIPTOR.enum_types_by_name}
