"""What the editor offers Claude in addition to Claude's own tools: its files and its terminals, if it has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.serving import LATER
from quarterdeck.wire.permissions import PermissionResultAllow, PermissionResultDeny

from . import schema
from .editor_files import EditorFiles
from .peer import Peer
from .tool_calls import EDITOR_TERMINAL

if TYPE_CHECKING:
    from .editor_terminals import EditorTerminals, Show

SERVER = "editor"


class EditorTools:
    """Of one session."""

    def __init__(
        self, peer: Peer, session_id: str, *, cwd: str, capabilities: schema.ClientCapabilities, show: Show
    ) -> None:
        offered = capabilities.fs or schema.FileSystemCapabilities()
        self._files = EditorFiles(peer, session_id, cwd=cwd, offered=offered)
        self._terminals: EditorTerminals | None = None
        if capabilities.terminal:
            from .editor_terminals import EditorTerminals  # brings the policy engine along

            self._terminals = EditorTerminals(peer, session_id, cwd=cwd, show=show)

    def name(self, session_id: str) -> None:
        """What the session is called from here on."""
        self._files.session_id = session_id
        if self._terminals is not None:
            self._terminals.session_id = session_id

    def add_to(self, options: ClaudeAgentOptions) -> None:
        """Adds hooks and tools to what a process is started with."""
        hooks = self._files.hooks()
        if hooks:
            options.hooks = {**(options.hooks or {}), "PostToolUse": hooks}
        terminals = self._terminals.tools() if self._terminals is not None else []
        if self._terminals is not None and terminals:
            guards = [*(options.hooks or {}).get("PreToolUse", ()), *self._terminals.hooks()]
            options.hooks = {**(options.hooks or {}), "PreToolUse": guards}
        tools = [*self._files.tools(), *terminals]
        if tools and isinstance(options.mcp_servers, dict):
            from quarterdeck.client.tools.server import create_sdk_mcp_server

            options.mcp_servers = {**options.mcp_servers, SERVER: create_sdk_mcp_server(SERVER, tools=tools)}

    def judge(self, tool: str, tool_input: Mapping[str, Any], *, mode: str | None) -> Any:
        """An answer by the rules for ``Bash``, or ``LATER`` where a person has to be asked."""
        if tool != EDITOR_TERMINAL or self._terminals is None:
            return LATER
        from quarterdeck.policy import PolicyError

        try:
            decision = self._terminals.judge(dict(tool_input))
        except PolicyError as error:
            return PermissionResultDeny(message=f"The rules for Bash cannot be read, so this is denied: {error}")
        if decision.behavior == "deny":
            return PermissionResultDeny(message=decision.explanation)
        return PermissionResultAllow() if decision.behavior == "allow" and mode != "plan" else LATER
