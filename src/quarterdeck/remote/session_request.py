"""Converts a session's options and handshake to a request for the host, and the callbacks that stay in this program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.host.errors import HostError
from quarterdeck.host.requests import Callbacks, CreateSession, HookCallback, ToolCallback
from quarterdeck.wire import InitializeRequest
from quarterdeck.wire._base import plain

from .encoding import from_here

HERE = frozenset(
    {
        *("can_use_tool", "hooks", "hooks_on_failure", "on_question", "on_plan", "on_elicitation", "on_user_dialog"),
        *("abort", "initialize_timeout_s", "request_timeout_s", "close_grace_s", "limit_bytes", "max_buffer_size"),
        *("retry", "tracing", "stderr", "debug_stderr", "include_partial_messages", "session_state_events"),
    }
)
"""Options that stay in this program."""
FIELDS = frozenset({"cwd", "cli_path", "model", "permission_mode", "resume", "fork_session", "mcp_servers"})
"""Options that become fields of the request, at least in part."""
ONLY_LOCAL = frozenset(
    {"session_store", "session_store_flush", "load_timeout_ms", "spawn_claude_code_process", "resume_session_at"}
)
"""Options that apply only to a local process."""

TOOL_DEADLINE_S = 3600.0
"""For hooks and tools without a timeout. Local ones have no limit, and this program is rarely away for so long."""


def session_request(
    options: ClaudeAgentOptions, handshake: InitializeRequest, *, detached_s: float | None = None
) -> CreateSession:
    """Build the request. Raises ``HostError`` for an option that only a local session can have.

    ``detached_s``: how long callbacks wait while this program isn't connected.
    """
    servers = options.mcp_servers
    if isinstance(servers, dict):
        servers = {name: config for name, config in servers.items() if config.get("type") != "sdk"}
    more: dict[str, Any] = {"mcp_servers": _as_json(servers)} if servers else {}
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in HERE | FIELDS or _is_default(field, value):
            continue
        if field.name in ONLY_LOCAL:
            raise HostError(
                "invalid", f"The option {field.name} works only with local sessions.", field=f"options.{field.name}"
            )
        more[field.name] = _as_json(value)
    more.setdefault("system_prompt", None)  # a program's default; the host's is Claude Code's
    return CreateSession(
        cwd=from_here(os.fspath(options.cwd or "")),
        agent=_agent(options.cli_path),
        model=options.model,
        permission_mode=options.permission_mode,
        resume=options.resume,
        fork=options.fork_session,
        options=more,
        callbacks=_callbacks(handshake, detached_s),
    )


def hook_ids(handshake: InitializeRequest) -> list[str]:
    """The IDs of the hooks, in the order of their declaration."""
    matchers = [one for named in (handshake.hooks or {}).values() for one in named]
    return [callback for matcher in matchers for callback in matcher.hook_callback_ids]


def _callbacks(handshake: InitializeRequest, detached_s: float | None) -> Callbacks | None:
    hooks = [
        HookCallback(
            event=event,
            matcher=matcher.matcher,
            timeout_s=matcher.timeout,
            on_failure="block" if matcher.on_failure == "block" else "continue",
        )
        for event, matchers in (handshake.hooks or {}).items()
        for matcher in matchers
        for _ in matcher.hook_callback_ids
    ]
    manifests: Mapping[str, Any] = plain(handshake.sdk_mcp_server_manifests or {})
    missing = sorted(set(handshake.sdk_mcp_servers or ()) - set(manifests))
    if missing:
        raise HostError("invalid", f"The MCP server {missing[0]} did not list its tools.", field="mcp_servers")
    tools = [
        _tool(server, tool)
        for server, manifest in manifests.items()
        for tool in manifest.get("toolsListResult", {}).get("tools", [])
    ]
    told = {server: manifest.get("initializeResult", {}).get("instructions") for server, manifest in manifests.items()}
    instructions = {
        server: text for server, text in told.items() if text and any(one.server == server for one in tools)
    }
    if not hooks and not tools:
        return None
    return Callbacks(
        hooks=hooks, tools=tools, instructions=instructions, deadline_s=TOOL_DEADLINE_S, detached_s=detached_s
    )


def _tool(server: str, tool: Mapping[str, Any]) -> ToolCallback:
    return ToolCallback(
        server=server,
        name=tool["name"],
        description=tool.get("description") or "",
        title=tool.get("title"),
        input_schema=tool.get("inputSchema") or {},
        output_schema=tool.get("outputSchema"),
        annotations=tool.get("annotations") or {},
        meta=tool.get("_meta") or {},
    )


def _agent(cli_path: str | Path | list[str] | None) -> str:
    if cli_path is None:
        return "claude"
    if isinstance(cli_path, list):
        raise HostError("invalid", "On a host, cli_path must be a path, not a command.", field="options.cli_path")
    return os.fspath(cli_path)


def _is_default(field: Field[Any], value: Any) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return value is default or value == default


def _as_json(value: Any) -> Any:
    """Convert to JSON as in a file: paths as strings, definitions as objects."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _as_json(said) for one in fields(value) if (said := getattr(value, one.name)) is not None}
    if isinstance(value, dict):
        return {key: _as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    return plain(value)
