"""All requests by their subtype."""

from __future__ import annotations

from quarterdeck.wire import inbound
from quarterdeck.wire._base import WireObject

from . import OutgoingRequest, conversation, mcp, session, state

_MODULES = (conversation, mcp, session, state)
"""Imported so that ``__subclasses__`` knows their classes."""


def _by_subtype(base: type[WireObject]) -> dict[str, type[WireObject]]:
    return {str(cls.__struct_config__.tag): cls for cls in base.__subclasses__()}


OUTGOING_REQUESTS: dict[str, type[WireObject]] = {
    **_by_subtype(OutgoingRequest),
    "mcp_message": inbound.McpMessageRequest,
}
"""Subtype → class, for what the host asks the CLI."""

REQUEST_TYPES: dict[str, type[WireObject]] = {**OUTGOING_REQUESTS, **inbound.INCOMING_REQUESTS}
"""Subtype → class, both directions."""
