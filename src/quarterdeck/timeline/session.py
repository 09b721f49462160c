"""What the session is, from each turn's ``init``, the answer to ``initialize``, and changes in between."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import (
    AuthStatusMessage,
    CommandsChangedMessage,
    FilesPersistedMessage,
    InitMessage,
    PromptSuggestionMessage,
    RateLimitEvent,
    SessionStateChangedMessage,
    SessionTitleChangedMessage,
)

from .activity import begin_turn, settle
from .events import (
    AuthChanged,
    Event,
    FilesPersisted,
    McpChanged,
    PromptSuggested,
    RateLimitChanged,
    SessionChanged,
    SessionStateChanged,
)
from .modes import fold_mode, fold_model
from .notices import note
from .parts import CommandInfo, McpServer, RateLimitState
from .state import Auth, State


def tell_changes(state: State, facts: dict[str, Any], at: float, out: list[Event]) -> None:
    """Store the values that are not None, and emit an event for those that changed."""
    session = state.session
    changed = [
        name for name, value in facts.items() if value is not None and value != getattr(session, name)
    ]  # fmt: skip
    for name in changed:
        setattr(session, name, facts[name])
    if changed:
        out.append(SessionChanged(at, session.session_id, changed))


def fold_init(state: State, message: InitMessage, at: float, out: list[Event]) -> None:
    """Written once per turn, at its beginning."""
    commands = {command.name: command for command in state.session.commands}
    facts = {
        "session_id": message.session_id,
        "cwd": message.cwd or None,
        "cli_version": message.claude_code_version,
        "tools": message.tools,
        "commands": [commands.get(name, CommandInfo(name)) for name in message.slash_commands],
        "skills": message.skills,
        "agents": message.agents,
        "plugins": None if message.plugins is None else [plugin.name for plugin in message.plugins],
        "output_style": message.output_style,
        "betas": message.betas,
        "effort": message.effort,
        "fast_mode": message.fast_mode_state,
        "api_key_source": message.api_key_source,
    }
    tell_changes(state, facts, at, out)
    if message.model:
        fold_model(state, message.model, at, out)
    fold_mode(state, message.permission_mode, at, out)
    known = state.session.mcp_servers
    fold_servers(state, [_server(known, one.name, one.status) for one in message.mcp_servers], at, out)
    begin_turn(state, at, out)
    state.phase = "requesting"
    settle(state, at, out)


def _server(known: dict[str, McpServer], name: str, status: str) -> McpServer:
    """``init`` says less than ``mcp_status`` did: keep the rest as long as the status is the same."""
    before = known.get(name)
    return before if before is not None and before.status == status else McpServer(name, status)


def fold_servers(state: State, servers: list[McpServer], at: float, out: list[Event]) -> None:
    """The MCP servers, all of them."""
    now = {server.name: server for server in servers}
    if now != state.session.mcp_servers:
        state.session.mcp_servers = now
        out.append(McpChanged(at, servers))


def fold_session_state(state: State, message: SessionStateChangedMessage, at: float, out: list[Event]) -> None:
    state.cli_state = message.state
    out.append(SessionStateChanged(at, message.state))


def fold_title(state: State, message: SessionTitleChangedMessage, at: float, out: list[Event]) -> None:
    tell_changes(state, {"title": message.title}, at, out)


def fold_commands(state: State, message: CommandsChangedMessage, at: float, out: list[Event]) -> None:
    commands = [CommandInfo(one.name, one.description, one.argument_hint or "") for one in message.commands]
    tell_changes(state, {"commands": commands}, at, out)


def fold_rate_limit(state: State, message: RateLimitEvent, at: float, out: list[Event]) -> None:
    info = message.rate_limit_info
    windows = {name: float(one.utilization or 0) for name, one in (info.unified_windows or {}).items()}
    limit = RateLimitState(
        status=info.status,
        kind=info.rate_limit_type,
        used=None if info.utilization is None else float(info.utilization),
        resets_at=None if info.resets_at is None else float(info.resets_at),
        overage_status=info.overage_status,
        windows=windows,
    )
    state.rate_limits[info.rate_limit_type or ""] = limit
    out.append(RateLimitChanged(at, limit))


def fold_auth(state: State, message: AuthStatusMessage, at: float, out: list[Event]) -> None:
    state.auth = Auth(bool(message.is_authenticating), list(message.output or ()), message.error)
    out.append(AuthChanged(at, state.auth.authenticating, state.auth.output, message.error))


def fold_files_persisted(state: State, message: FilesPersistedMessage, at: float, out: list[Event]) -> None:
    files = [str(file.get("filename", "")) for file in message.files or ()]
    failed = {str(file.get("filename", "")): str(file.get("error", "")) for file in message.failed or ()}
    text = f"{len(files)} stored, {len(failed)} failed"
    note(state, at, kind="files_persisted", text=text, details={"files": files, "failed": failed})
    out.append(FilesPersisted(at, files, failed))


def fold_suggestion(state: State, message: PromptSuggestionMessage, at: float, out: list[Event]) -> None:
    state.suggestion = message.suggestion
    out.append(PromptSuggested(at, message.suggestion))
