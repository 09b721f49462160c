"""Answers about MCP servers."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire.mcp import McpServerStatus

from .base import Answer


class McpStatusResponse(Answer, rename="camel"):
    """All servers and their status."""

    mcp_servers: list[McpServerStatus]


class McpSetServersResult(Answer):
    """What changed. A server that could not be started is in ``added`` and in ``errors``."""

    added: list[str] | None = None
    removed: list[str] | None = None
    errors: dict[str, str] | None = None


class McpCallResult(Answer, rename="camel"):
    """What the tool returned. ``content`` are MCP content blocks."""

    content: Any = None
    structured_content: dict[str, Any] | None = None
    is_error: bool | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)
    staging: dict[str, Any] | None = None


class McpResourceContents(OpenObject, rename="camel"):
    """A part of a resource: ``text``, or ``blob`` in base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class McpResource(Answer):
    """A resource in its parts."""

    contents: list[McpResourceContents]


class McpPermissionOverride(Answer):
    """The override is set; ``warning`` when no server of that name is known yet."""

    warning: str | None = None
