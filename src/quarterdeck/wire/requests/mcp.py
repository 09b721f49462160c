"""Requests about MCP servers. ``mcp_message``, which goes both ways, is in ``inbound``."""

from __future__ import annotations

from typing import Any, ClassVar

from quarterdeck.wire._base import WireObject
from quarterdeck.wire.answers.mcp import (
    McpCallResult,
    McpPermissionOverride,
    McpResource,
    McpSetServersResult,
    McpStatusResponse,
)

from . import OutgoingRequest


class McpStatusRequest(OutgoingRequest, tag="mcp_status", rename="camel"):
    """All servers and their status."""

    Answer: ClassVar[Any] = McpStatusResponse

    live_reply: bool | None = None


class McpSetServersRequest(OutgoingRequest, tag="mcp_set_servers"):
    """Replace the servers that the host has added. Values are configurations of ``wire.mcp`` or plain dicts."""

    Answer: ClassVar[Any] = McpSetServersResult

    servers: dict[str, Any]
    denied_tools: list[str] | None = None


class McpReconnectRequest(OutgoingRequest, tag="mcp_reconnect", rename="camel"):
    """Reconnect to a server. Not answered by 2.0.77."""

    server_name: str


class McpToggleRequest(OutgoingRequest, tag="mcp_toggle", rename="camel"):
    """Switch a server on or off. Not answered by 2.0.77."""

    server_name: str
    enabled: bool


class StagedInput(WireObject):
    """A file handed to an ``mcp_call``."""

    name: str
    lane_path: str


class StagedOutput(WireObject):
    """A file that an ``mcp_call`` writes."""

    name: str
    lane_path: str
    if_match: str | None = None


class McpCallRequest(OutgoingRequest, tag="mcp_call"):
    """Call a tool without the model. ``tool`` is the full name, ``mcp__server__tool``."""

    Answer: ClassVar[Any] = McpCallResult

    tool: str
    arguments: dict[str, Any] | None = None
    expires_at: str | None = None
    timeout_ms: int | float | None = None
    result_not_for_model: bool | None = None
    check_permissions: bool | None = None
    input_files: list[StagedInput] | None = None
    output_files: list[StagedOutput] | None = None


class McpReadResourceRequest(OutgoingRequest, tag="mcp_read_resource", rename="camel"):
    """Read a resource of a server; 2.1.325 takes ``ui://`` addresses only."""

    Answer: ClassVar[Any] = McpResource

    server_name: str
    uri: str


class McpAuthenticateRequest(OutgoingRequest, tag="mcp_authenticate", rename="camel"):
    """Start the sign-in to a server that needs OAuth."""

    Answer: ClassVar[Any] = dict

    server_name: str
    redirect_uri: str | None = None
    redirect_uri_only: bool | None = None


class McpOauthCallbackUrlRequest(OutgoingRequest, tag="mcp_oauth_callback_url", rename="camel"):
    """Finish a sign-in with the address that the browser was redirected to."""

    Answer: ClassVar[Any] = dict

    server_name: str
    callback_url: str


class McpClearAuthRequest(OutgoingRequest, tag="mcp_clear_auth", rename="camel"):
    """Forget a server's credentials."""

    Answer: ClassVar[Any] = dict

    server_name: str


class AskForTool(WireObject):
    """A tool of the server, without the ``mcp__server__`` before its name."""

    name: str


class SetMcpPermissionModeOverrideRequest(OutgoingRequest, tag="set_mcp_permission_mode_override", rename="camel"):
    """Make a server's tools ask (``default``) or be judged (``auto``) where the session would allow; null undoes it."""

    Answer: ClassVar[Any] = McpPermissionOverride

    server_name: str
    mode: str | None
    ask_for_tools: list[AskForTool] | None = None
