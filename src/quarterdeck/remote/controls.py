"""Maps a session's control requests to operations of the host, which has a typed one for most of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from quarterdeck.host import requests as takes
from quarterdeck.host.errors import HostError

from .remote_host import RemoteHost
from .workspace_diff import NO_REPOSITORY, workspace_diff

Fields = Mapping[str, Any]

EXPORTED_BYTES = 64 * 1024 * 1024
"""The largest answer, as for a line of Claude Code."""


async def control(host: RemoteHost, session_id: str, subtype: str, fields: Fields) -> dict[str, Any]:
    """Return the answer that Claude Code would give. Raises ``HostError``."""
    operation = TYPED.get(subtype)
    if operation is not None:
        return await operation(host, session_id, fields)
    given = takes.SendControl(session_id=session_id, subtype=subtype, fields=dict(fields))
    return (await host.send_control(given)).details


async def _interrupt(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    """Interrupt the turn, and withdraw the prompts queued at the host that Claude Code would drop."""
    of_session = takes.OfSession(session_id=session_id)
    waiting = [prompt.id for prompt in (await host.list_prompts(of_session)).prompts]
    cancelled = [
        prompt_id
        for prompt_id in (waiting if fields.get("cancel_queued") else ())
        if (await _cancel_prompt(host, session_id, {"message_uuid": prompt_id}))["cancelled"]
    ]
    await host.interrupt(of_session)
    return {"still_queued": [one for one in waiting if one not in cancelled], "cancelled": cancelled}


async def _set_model(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    session = await host.update_session(takes.UpdateSession(session_id=session_id, model=fields.get("model")))
    return {"model": session.model}


async def _set_mode(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    try:
        await host.update_session(takes.UpdateSession(session_id=session_id, permission_mode=fields["mode"]))
    except HostError as error:
        if error.code != "invalid":
            raise
        raise HostError("cli_failed", error.message, cli_code="invalid_mode") from error
    return {"mode": fields["mode"]}


async def _set_thinking(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    tokens = fields.get("max_thinking_tokens")
    await host.update_session(takes.UpdateSession(session_id=session_id, max_thinking_tokens=tokens))
    return {}


async def _rename(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    if fields.get("session_id") not in (None, session_id):
        own = await host.get_session(takes.OfSession(session_id=session_id))
        if fields["session_id"] != own.transcript_id:
            raise HostError("invalid", "A session can only rename itself.", field="session_id")
    await host.update_session(takes.UpdateSession(session_id=session_id, name=fields["title"]))
    return {}


async def _rewind(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    dry_run = bool(fields.get("dry_run"))
    try:
        done = await host.rewind(takes.Rewind(session_id=session_id, to=fields["user_message_id"], dry_run=dry_run))
    except HostError as error:
        if not (dry_run and error.code == "conflict"):
            raise
        return {"canRewind": False, "error": error.message}
    return done.details


async def _end(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    await host.stop(takes.OfSession(session_id=session_id))
    return {}


async def _context(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    context: dict[str, Any] = (await host.get_context(takes.OfSession(session_id=session_id))).details["context"]
    return context


async def _mcp_status(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    return {"mcpServers": (await host.list_mcp_servers(takes.OfSession(session_id=session_id))).details["servers"]}


async def _mcp_set(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    servers: dict[str, Any] = fields["servers"]
    if any(isinstance(config, Mapping) and config.get("type") == "sdk" for config in servers.values()):
        raise HostError("invalid", "In-process servers must be declared when the session starts.", field="servers")
    return (await host.set_mcp_servers(takes.SetMcpServers(session_id=session_id, servers=servers))).details


async def _mcp_reconnect(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    await host.reconnect_mcp_server(takes.OfMcpServer(session_id=session_id, server=fields["serverName"]))
    return {}


async def _mcp_toggle(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    server = takes.OfMcpServer(session_id=session_id, server=fields["serverName"])
    await (host.enable_mcp_server(server) if fields.get("enabled") else host.disable_mcp_server(server))
    return {}


async def _stop_task(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    await host.stop_task(takes.OfTask(session_id=session_id, task_id=fields["task_id"]))
    return {}


async def _task_output(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    tasks = (await host.list_tasks(takes.OfSession(session_id=session_id))).details["tasks"]
    found = next((task for task in tasks if task["id"] == fields["task_id"]), None)
    if found is None:
        raise HostError("cli_failed", f"The session has no task {fields['task_id']}.", field="task_id")
    output: dict[str, Any] = found.get("live_output") or {"output": found.get("output") or ""}
    return output


async def _cancel_prompt(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    try:
        await host.withdraw_prompt(takes.OfPrompt(session_id=session_id, prompt_id=fields["message_uuid"]))
    except HostError as error:
        if error.code not in ("conflict", "not_found"):
            raise
        return {"cancelled": False}
    return {"cancelled": True}


async def _suggest(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    found = await host.list_files(takes.ListFiles(session_id=session_id, q=fields["query"]))
    return {"suggestions": [{"path": path} for path in found.paths]}


async def _export(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    request, text = takes.Export(session_id=session_id, format="md"), bytearray()
    while True:
        part = await host.export_session(request)
        text += part.body
        if len(text) > EXPORTED_BYTES:
            raise HostError(
                "too_large",
                f"The conversation has more than {EXPORTED_BYTES} bytes, too many for one answer.",
                hint="Use RemoteHost.export_session, which returns it in parts.",
                limit_bytes=EXPORTED_BYTES,
            )
        if part.next_cursor is None:
            return {"text": text.decode(), "default_filename": "conversation.md"}
        request = msgspec.structs.replace(request, cursor=part.next_cursor)


async def _diff(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    try:
        changes = (await host.get_diff(takes.OfSession(session_id=session_id))).details
    except HostError as error:
        if error.code != "not_found":
            raise
        await host.get_session(takes.OfSession(session_id=session_id))  # it is there, so it is its folder
        return NO_REPOSITORY
    return workspace_diff(changes)


async def _fork(host: RemoteHost, session_id: str, fields: Fields) -> dict[str, Any]:
    """Claude Code forks only what runs in the cloud (2.1.325), and a host runs nothing there."""
    return {"forked": False, "error": "unsupported", "reason": "unsupported"}


TYPED: Mapping[str, Callable[[RemoteHost, str, Fields], Awaitable[dict[str, Any]]]] = {
    "interrupt": _interrupt,
    "set_model": _set_model,
    "set_permission_mode": _set_mode,
    "set_max_thinking_tokens": _set_thinking,
    "rename_session": _rename,
    "rewind_files": _rewind,
    "end_session": _end,
    "get_context_usage": _context,
    "mcp_status": _mcp_status,
    "mcp_set_servers": _mcp_set,
    "mcp_reconnect": _mcp_reconnect,
    "mcp_toggle": _mcp_toggle,
    "stop_task": _stop_task,
    "get_task_output": _task_output,
    "cancel_async_message": _cancel_prompt,
    "file_suggestions": _suggest,
    "export_conversation": _export,
    "get_workspace_diff": _diff,
    "fork_conversation": _fork,
}
"""Subtypes for which the host requires its own operation. A test compares them with the host's list."""
