"""The answers of the CLI to our own requests that say something about the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from quarterdeck.wire import (
    ContextUsageResponse,
    GetContextUsageRequest,
    InitializeAnswer,
    InitializeRequest,
    McpServerStatus,
    McpStatusRequest,
    McpStatusResponse,
    ModelInfo,
    parse_answer,
)

from ._words import CANNOT_TYPE
from .activity import settle
from .events import Event, FilesRewound
from .limits import text_or_none, texts
from .modes import fold_mode, fold_model
from .notices import note
from .parts import Account, CommandInfo, McpServer, Model
from .session import fold_servers, tell_changes
from .state import Asked, State
from .tasks import fold_task_output
from .usage import fold_measured

Facts = dict[str, Any]


def _initialize(state: State, _: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    answer = _typed(InitializeRequest, payload)
    if not isinstance(answer, InitializeAnswer):
        return
    account = answer.account
    facts: Facts = {
        "cli_version": answer.claude_code_version,
        "output_style": answer.output_style,
        "fast_mode": answer.fast_mode_state,
        "commands": _each(answer.commands, lambda one: CommandInfo(one.name, one.description, one.argument_hint or "")),
        "agents": _each(answer.agents, lambda one: one.name),
        "models": _each(answer.models, _model),
    }
    if account is not None:
        facts["account"] = Account(
            account.email,
            account.organization,
            account.subscription_type,
            account.api_key_source or account.token_source,
            account.api_provider,
        )
    tell_changes(state, facts, at, out)
    if answer.current_permission_mode is not None:
        fold_mode(state, answer.current_permission_mode, at, out)


def _model(one: ModelInfo) -> Model:
    levels = one.supported_effort_levels or []
    return Model(one.value, one.display_name, one.description, levels, one.supports_fast_mode is True)


def _typed(request: Any, payload: Facts) -> Any:
    """The answer, or the payload itself if its shape is another."""
    try:
        return parse_answer(request, payload)
    except CANNOT_TYPE:
        return payload


def _each(values: list[Any] | None, make: Callable[[Any], Any]) -> list[Any] | None:
    return None if values is None else [make(value) for value in values]


def _set_model(state: State, asked: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    """2.1.325 answers with the model's full name; before, the answer is empty. None goes back to the default."""
    model = payload.get("model") or asked.details.get("model")
    if isinstance(model, str):
        fold_model(state, model, at, out, by="us")


def _set_mode(state: State, asked: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    mode = payload.get("mode") or asked.details.get("mode")
    if isinstance(mode, str):
        fold_mode(state, mode, at, out, by="us")


def _mcp_status(state: State, _: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    answer = _typed(McpStatusRequest, payload)
    if isinstance(answer, McpStatusResponse):
        fold_servers(state, [_server(one) for one in answer.mcp_servers or ()], at, out)


def _server(one: McpServerStatus) -> McpServer:
    tools = one.tool_count if one.tool_count is not None else len(one.tools) if one.tools is not None else None
    return McpServer(one.name, one.status, one.error, tools)


def _mcp_set_servers(state: State, _: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    """Reports only what was added, removed or failed; ``mcp_status`` reports the state of new servers."""
    servers = dict(state.session.mcp_servers)
    for name in texts(payload.get("removed")):
        servers.pop(name, None)
    for name in texts(payload.get("added")):
        servers[name] = McpServer(name, "pending")
    errors = payload.get("errors")
    for name, error in errors.items() if isinstance(errors, dict) else ():
        servers[name] = McpServer(name, "failed", str(error))
    fold_servers(state, list(servers.values()), at, out)


def _mcp_toggle(state: State, asked: Asked, _: Facts, at: float, out: list[Event]) -> None:
    name, enabled = asked.details.get("serverName"), asked.details.get("enabled")
    servers = dict(state.session.mcp_servers)
    if isinstance(name, str) and enabled is not None:
        known = servers.get(name, McpServer(name))
        servers[name] = msgspec.structs.replace(known, status="pending" if enabled else "disabled", error=None)
        fold_servers(state, list(servers.values()), at, out)


def _context(state: State, _: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    answer = _typed(GetContextUsageRequest, payload)
    if isinstance(answer, ContextUsageResponse):
        window = answer.raw_max_tokens or answer.max_tokens or 0
        fold_measured(state, answer.total_tokens or 0, window, answer.model or "", at, out)


def _rewind(state: State, asked: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    prompt_id = str(asked.details.get("user_message_id", ""))
    files = texts(payload.get("filesChanged"))
    dry_run = bool(asked.details.get("dry_run"))
    insertions, deletions = payload.get("insertions"), payload.get("deletions")
    event = FilesRewound(
        at,
        prompt_id,
        dry_run,
        files,
        insertions if type(insertions) is int else 0,
        deletions if type(deletions) is int else 0,
    )
    if not dry_run:
        note(state, at, kind="files_rewound", text=prompt_id, details={"files": files})
    out.append(event)


def _task_output(state: State, asked: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    output = payload.get("output")
    if isinstance(output, str):
        fold_task_output(state, str(asked.details.get("task_id", "")), output, at, out)


def _rename(state: State, asked: Asked, _: Facts, at: float, out: list[Event]) -> None:
    tell_changes(state, {"title": text_or_none(asked.details.get("title"))}, at, out)


def _set_cwd(state: State, _: Asked, payload: Facts, at: float, out: list[Event]) -> None:
    """It may also be answered by a demand for trust: then the session has not moved."""
    if payload.get("changed"):
        tell_changes(state, {"cwd": text_or_none(payload.get("cwd"))}, at, out)


def _interrupt(state: State, _: Asked, __: Facts, at: float, out: list[Event]) -> None:
    """It was reported when it was sent; its effect is the end of the turn."""
    settle(state, at, out)


ANSWERS: dict[str, Callable[[State, Asked, Facts, float, list[Event]], None]] = {
    "initialize": _initialize,
    "set_model": _set_model,
    "set_permission_mode": _set_mode,
    "mcp_status": _mcp_status,
    "mcp_set_servers": _mcp_set_servers,
    "mcp_toggle": _mcp_toggle,
    "get_context_usage": _context,
    "rewind_files": _rewind,
    "get_task_output": _task_output,
    "rename_session": _rename,
    "set_cwd": _set_cwd,
    "interrupt": _interrupt,
}
