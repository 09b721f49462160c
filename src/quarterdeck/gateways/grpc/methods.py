"""Every operation of the host as a method: which service it belongs to, and its two messages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from quarterdeck.host import requests as takes
from quarterdeck.host.operations import OPERATIONS, Operation

from .shapes import HostChange, Kind, camel, fields_of, snake

PACKAGE = "quarterdeck.v1"

SERVICES: Mapping[str, str] = MappingProxyType(
    {
        "SessionService": "Start, steer, watch and inspect sessions.",
        "ApprovalService": "Requests for people, and their decisions.",
        "PolicyService": "Permission rules, and remembered rules.",
        "UsageService": "Tokens, cost, budgets and rate limits.",
        "AuditService": "Who decided or changed what.",
        "HostService": "The host itself: machine, folders, worktrees, transcripts, tokens, alerts.",
    }
)

_PLACES = {
    "create_session": "SessionService",
    "list_sessions": "SessionService",
    "import_session": "SessionService",
    "search": "SessionService",
    "list_approvals": "ApprovalService",
    "get_approval": "ApprovalService",
    "decide": "ApprovalService",
    "decide_many": "ApprovalService",
    "watch_approvals": "ApprovalService",
    "list_rules": "PolicyService",
    "list_grants": "PolicyService",
    "revoke_grant": "PolicyService",
    "explain_policy": "PolicyService",
    "try_rule": "PolicyService",
    "get_usage": "UsageService",
    "get_budgets": "UsageService",
    "set_budgets": "UsageService",
    "get_limits": "UsageService",
    "list_audit": "AuditService",
}
"""Where operations belong that are not about one session; the rest is the host's."""


class Method(msgspec.Struct, frozen=True):
    """One operation over gRPC. Its name is the operation's, so that one thing has one name on every face."""

    operation: Operation
    service: str
    returns: type[msgspec.Struct]
    """What the response shows."""

    @property
    def name(self) -> str:
        return camel(self.operation.name)

    @property
    def path(self) -> str:
        return f"/{PACKAGE}.{self.service}/{self.name}"

    @property
    def request(self) -> str:
        """The name of its message."""
        return f"{self.name}Request"

    @property
    def response(self) -> str:
        return f"{self.name}Response"

    @property
    def wrapped(self) -> str:
        """The field of the response that is the resource; empty: its fields are the response's own."""
        return snake(self.returns.__name__) if self.returns in _shared() else ""


def _method(operation: Operation) -> Method:
    about_session = issubclass(operation.takes, takes.OfSession)
    service = _PLACES.get(operation.name, "SessionService" if about_session else "HostService")
    returns: type[msgspec.Struct] = HostChange if operation.name == "watch_host" else operation.returns
    return Method(operation, service, returns)


def _shared() -> set[Any]:
    """Resources that are also part of others and so have their own message."""
    return {
        field.of
        for operation in OPERATIONS.values()
        for field in fields_of(operation.returns)
        if field.kind is Kind.STRUCT
    }


METHODS: Mapping[str, Method] = MappingProxyType({name: _method(one) for name, one in OPERATIONS.items()})
"""By the operation's name."""
