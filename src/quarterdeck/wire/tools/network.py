"""Tools that reach out: the web, and the resources of MCP servers."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput
from .files import ArtifactRead


class WebFetchInput(ToolInput, kw_only=True):
    url: str
    prompt: str | None = None
    offset: Number | None = None


class WebSearchInput(ToolInput, kw_only=True):
    query: str
    allowed_domains: list[str] | None = None
    blocked_domains: list[str] | None = None


class ListMcpResourcesInput(ToolInput, kw_only=True):
    server: str | None = None


class ReadMcpResourceInput(ToolInput, kw_only=True):
    server: str
    uri: str


class ReadMcpResourceDirInput(ToolInput, kw_only=True):
    server: str
    uri: str


class RefreshMcpToolsInput(ToolInput, kw_only=True):
    server: str | None = None


class WaitForMcpServersInput(ToolInput, kw_only=True):
    servers: list[str] | None = None


class SubscribeMcpResourceInput(ToolInput, kw_only=True):
    """2.1.52 only, like the next three."""

    server: str
    uri: str
    reason: str | None = None


class UnsubscribeMcpResourceInput(ToolInput, kw_only=True, rename="camel"):
    server: str | None = None
    uri: str | None = None
    subscription_id: str | None = None


class SubscribePollingInput(ToolInput, kw_only=True, rename="camel"):
    type: str  # tool, resource
    server: str
    tool_name: str | None = None
    arguments: dict[str, Any] | None = None
    uri: str | None = None
    interval_ms: Number | None = None
    reason: str | None = None


class UnsubscribePollingInput(ToolInput, kw_only=True, rename="camel"):
    subscription_id: str | None = None
    server: str | None = None
    target: str | None = None


class WebFetchOutput(ToolOutput, kw_only=True):
    result: str
    url: str | None = None
    code: int | None = None
    code_text: str | None = None
    bytes: int | None = None
    duration_ms: Number | None = None
    artifact_read: ArtifactRead | None = None


class WebSearchHit(View, kw_only=True):
    title: str
    url: str
    snippet: str | None = None


class WebSearchHits(View, kw_only=True):
    content: list[WebSearchHit]
    tool_use_id: str | None = None


class WebSearchOutput(ToolOutput, kw_only=True):
    query: str
    results: list[WebSearchHits | str]
    duration_seconds: Number | None = None
    search_count: int | None = None


class ListedMcpResource(ToolOutput, kw_only=True):
    """A resource as listed, of a server or of a directory on it."""

    uri: str
    name: str | None = None
    mime_type: str | None = None
    description: str | None = None
    server: str | None = None


class McpResourceContent(ToolOutput, kw_only=True):
    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob_saved_to: str | None = None


class ReadMcpResourceOutput(ToolOutput, kw_only=True):
    contents: list[McpResourceContent]
    error: str | None = None


class ReadMcpResourceDirOutput(ToolOutput, kw_only=True):
    resources: list[ListedMcpResource]
    error: str | None = None


class RefreshedMcpServer(ToolOutput, kw_only=True):
    server: str
    status: str | None = None  # refreshed, error, not_connected
    tool_count: int | None = None
    added: list[str] | None = None
    removed: list[str] | None = None
    error: str | None = None


class SubscribeOutput(ToolOutput, kw_only=True):
    subscription_id: str
    subscribed: bool | None = None


class UnsubscribeOutput(ToolOutput, kw_only=True):
    unsubscribed: bool
