"""MCP servers: their status, changing them, and calling their tools without the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        McpCallResult,
        McpPermissionOverride,
        McpResource,
        McpSetServersResult,
        McpStatusResponse,
        StagedInput,
        StagedOutput,
    )

CONNECT_S = 120.0
"""A server may be slow to start (``npx`` downloads it first); the CLI's own limit is 30 s for each."""
CALL_S = 660.0
"""The longest a call can take: the CLI bounds ``timeout_ms`` to ten minutes."""


class McpControls(ControlsBase):
    """MCP servers, by the names they are configured under."""

    async def mcp_status(self, *, live_reply: bool = False) -> McpStatusResponse:
        """All servers with their tools and status: connected, failed, needs-auth, pending or disabled."""
        return await self._ask(wire.McpStatusRequest(live_reply or None), wire.McpStatusResponse)

    async def set_mcp_servers(
        self,
        servers: Mapping[str, Any],
        *,
        denied_tools: Sequence[str] | None = None,
        timeout_s: float | None = CONNECT_S,
    ) -> McpSetServersResult:
        """Replace the servers that were added by this method; those of files, plugins and options stay.

        Configurations are as in ``ClaudeAgentOptions.mcp_servers``, servers in this process included. A server that
        cannot be started does not fail the call: it is in ``added`` and in ``errors`` (2.1.325).
        """
        on_wire = {name: _with_args(config) for name, config in self._adopt_servers(servers).items()}
        request = wire.McpSetServersRequest(on_wire, None if denied_tools is None else list(denied_tools))
        return await self._ask(request, wire.McpSetServersResult, timeout_s=timeout_s)

    async def reconnect_mcp_server(self, server_name: str, *, timeout_s: float | None = CONNECT_S) -> None:
        """Reconnect to a server. An unknown server is an error; 2.0.77 does not know the request."""
        await self._tell(wire.McpReconnectRequest(server_name), timeout_s=timeout_s)

    async def toggle_mcp_server(self, server_name: str, enabled: bool, *, timeout_s: float | None = CONNECT_S) -> None:
        """Switch a server on or off. 2.0.77 does not know the request."""
        await self._tell(wire.McpToggleRequest(server_name, enabled), timeout_s=timeout_s)

    async def call_mcp_tool(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        check_permissions: bool = False,
        result_not_for_model: bool = False,
        timeout_ms: float | None = None,
        expires_at: str | None = None,
        input_files: Sequence[StagedInput] | None = None,
        output_files: Sequence[StagedOutput] | None = None,
        timeout_s: float | None = CALL_S,
    ) -> McpCallResult:
        """Call a tool of a server without the model. ``tool`` is the full name, ``mcp__server__tool``.

        Nobody is asked for permission unless ``check_permissions``. Servers in this process are refused: call those
        directly. A tool that fails gives a result with ``is_error``; if the call itself fails, the tool did not run.

        Args:
            tool: Its full name.
            arguments: Its input, as its schema requires.
            check_permissions: Check the call as if the model had made it; CLIs that do not know this ignore it.
            result_not_for_model: Return the server's result unchanged, and do not count its tokens.
            timeout_ms: Let the CLI end the call then (1,000 to 600,000); the result then has ``staging``.
            expires_at: Do not start the call after this time (RFC 3339).
            input_files: Files from the session's file lane that the tool is given.
            output_files: Files that the tool writes back there.
            timeout_s: How long to wait for the answer.
        """
        request = wire.McpCallRequest(
            tool,
            None if arguments is None else dict(arguments),
            expires_at=expires_at,
            timeout_ms=timeout_ms,
            result_not_for_model=result_not_for_model or None,
            check_permissions=check_permissions or None,
            input_files=None if input_files is None else list(input_files),
            output_files=None if output_files is None else list(output_files),
        )
        return await self._ask(request, wire.McpCallResult, timeout_s=timeout_s)

    async def read_mcp_resource(
        self, server_name: str, uri: str, *, timeout_s: float | None = CONNECT_S
    ) -> McpResource:
        """Read a resource of a server; 2.1.325 refuses addresses that do not start with ``ui://``."""
        return await self._ask(wire.McpReadResourceRequest(server_name, uri), wire.McpResource, timeout_s=timeout_s)

    async def send_mcp_message(self, server_name: str, message: Mapping[str, Any]) -> None:
        """Pass on a JSON-RPC notification of a server in this process.

        ``ToolServer`` does so itself. On ``notifications/tools/list_changed`` the CLI asks for the tools again.
        """
        await self._tell(wire.McpMessageRequest(server_name, dict(message)))

    async def authenticate_mcp_server(
        self,
        server_name: str,
        *,
        redirect_uri: str | None = None,
        redirect_uri_only: bool = False,
        timeout_s: float | None = CONNECT_S,
    ) -> dict[str, Any]:
        """Start the sign-in to a server that wants OAuth; the answer has the address to open in a browser.

        A server that runs as a process has no sign-in; for one, this is an error.
        """
        request = wire.McpAuthenticateRequest(server_name, redirect_uri, redirect_uri_only or None)
        return await self._ask_freely(request, timeout_s=timeout_s)

    async def finish_mcp_authentication(
        self, server_name: str, callback_url: str, *, timeout_s: float | None = CONNECT_S
    ) -> dict[str, Any]:
        """Finish a sign-in with the address that the browser was redirected to."""
        return await self._ask_freely(wire.McpOauthCallbackUrlRequest(server_name, callback_url), timeout_s=timeout_s)

    async def clear_mcp_authentication(self, server_name: str) -> dict[str, Any]:
        """Forget a server's credentials."""
        return await self._ask_freely(wire.McpClearAuthRequest(server_name))

    async def set_mcp_permission_mode_override(
        self,
        server_name: str,
        mode: Literal["default", "auto"] | None,
        *,
        ask_for_tools: Sequence[str] | None = None,
    ) -> McpPermissionOverride:
        """Require approval (``default``) or classification (``auto``) for a server's tools, even where the session
        would allow them.

        None removes the override. ``ask_for_tools`` limits it to these tools, named without ``mcp__server__``. The
        answer has a ``warning`` if the server is not known yet.
        """
        tools = None if ask_for_tools is None else [wire.AskForTool(name) for name in ask_for_tools]
        return await self._ask(
            wire.SetMcpPermissionModeOverrideRequest(server_name, mode, tools), wire.McpPermissionOverride
        )


def _with_args(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """2.1.325 cannot start a process given here without ``args`` ("Spread syntax requires …"); at launch it can."""
    return {**config, "args": []} if "command" in config and "args" not in config else config
