"""Operations that send requests to the running CLI: interrupt, rewind, compact, MCP servers, tasks, raw control."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from quarterdeck.client import Session
from quarterdeck.timeline.state import Task
from quarterdeck.wire._base import plain

from . import requests as takes
from . import resources as returns
from .actor import SessionActor
from .callers import PROGRAM, Caller
from .errors import HostError
from .host_base import HostBase
from .idempotency import id_for, once, promise_for

TYPED = {
    "interrupt": "interrupt",
    "set_model": "update_session",
    "set_permission_mode": "update_session",
    "set_max_thinking_tokens": "update_session",
    "rename_session": "update_session",
    "rewind_files": "rewind",
    "fork_conversation": "fork",
    "end_session": "stop",
    "get_context_usage": "get_context",
    "mcp_status": "list_mcp_servers",
    "mcp_set_servers": "set_mcp_servers",
    "mcp_reconnect": "reconnect_mcp_server",
    "mcp_toggle": "enable_mcp_server or disable_mcp_server",
    "stop_task": "stop_task",
    "get_task_output": "list_tasks",
    "cancel_async_message": "withdraw_prompt",
    "get_workspace_diff": "get_diff",
    "file_suggestions": "list_files",
    "export_conversation": "export_session",
}
"""Control requests that have their own operation."""

ANSWERS = frozenset(
    {"can_use_tool", "hook_callback", "elicitation", "request_user_dialog", "mcp_message", "control_cancel_request"}
)
"""Requests from the CLI, which decisions answer."""

UNAVAILABLE = frozenset({"initialize", "claim_session"})
"""Reserved for the host: a second handshake cancels pending hooks."""

ENVIRONMENT = "update_environment_variables"
"""On the wire this is not a control request, and Claude Code does not answer it; here it is asked like one."""

HARMLESS = frozenset(
    {
        *("background_tasks", "generate_session_title", "get_binary_version", "get_hooks_listing", "get_plan"),
        *("get_session_cost", "get_status", "get_usage", "list_models", "list_permission_rules", "message_rated"),
        *("rewind_conversation", "set_color", "set_has_subscribers", "set_prompt_suggestions_paused"),
        *("side_question", "get_memory_dialog", "get_skills_dialog", "get_sandbox_dialog", "get_chrome_dialog"),
    }
)
"""Requests allowed with ``operate``. All others may read files, change settings or run tools: they need ``admin``."""


class ControlOperations(HostBase):
    """Operations on a session's process."""

    async def _call(
        self,
        operation: str,
        request: takes.OfSession,
        caller: Caller,
        key: str | None,
        control: Callable[[Session], Awaitable[Any]],
    ) -> Any:
        """Send a request. With a key, its ID is derived from it: a retry after a crash finds it in the log."""
        actor = await self._actor(request.session_id)
        request_id = None if key is None else id_for(operation, request, caller, key)
        return await actor.call(control, request_id=request_id)

    @once
    async def interrupt(
        self, request: takes.OfSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Stop the turn."""
        await self._call("interrupt", request, caller, key, lambda session: session.interrupt())
        return returns.Accepted()

    @once
    async def rewind(self, request: takes.Rewind, caller: Caller = PROGRAM, key: str | None = None) -> returns.Details:
        """Restore files to their state at an earlier prompt."""
        answer = await self._call(
            "rewind", request, caller, key, lambda session: session.rewind_files(request.to, request.dry_run)
        )
        details = _details(answer)
        if details.get("canRewind") is False or details.get("can_rewind") is False:
            raise HostError(
                "conflict", f"Files cannot be restored: {details.get('error', 'no checkpoint')}", field="to"
            )
        return returns.Details(details=details)

    @once
    async def compact(
        self, request: takes.OfSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Summarise the conversation."""
        actor = await self._actor(request.session_id)
        self._admit_prompt(actor)
        prompt_id = id_for("compact", request, caller, key)
        if key is not None and actor.prompts.knows(prompt_id):  # sent before the host crashed
            return returns.Accepted(seq=actor.log.fanout.last_seq)
        said = await actor.prompts.say(
            "/compact",
            sender=caller.name,
            prompt_id=prompt_id,
            receipt=promise_for(self, "compact", request, caller, key, lambda seq: returns.Accepted(seq=seq)),
        )
        return returns.Accepted(seq=said.seq)

    @once
    async def send_control(
        self, request: takes.SendControl, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Send a control request that has no operation of its own."""
        subtype = request.subtype
        if subtype in TYPED:
            raise HostError("invalid", f"Use the operation {TYPED[subtype]} instead of {subtype}.", field="subtype")
        if subtype in ANSWERS:
            raise HostError(
                "invalid", f"{subtype} is a request of the CLI.", hint="Decide the approval.", field="subtype"
            )
        if subtype in UNAVAILABLE:
            raise HostError("invalid", f"{subtype} is reserved for the host.", field="subtype")
        if subtype not in HARMLESS and caller.scope != "admin":
            raise HostError("forbidden", f"{subtype} requires the scope admin.", field="subtype")
        for name in ("subtype", "timeout_s"):
            if name in request.fields:
                raise HostError("invalid", f"{name} is not a field of the request.", field=f"fields.{name}")
        if subtype == ENVIRONMENT:
            variables = _variables(request.fields)
            await self._call("send_control", request, caller, key, lambda session: _set_environment(session, variables))
            return returns.Details(details={})
        answer = await self._call(
            "send_control", request, caller, key, lambda session: session.request(subtype, **request.fields)
        )
        return returns.Details(details=_details(answer))

    # MCP servers

    async def list_mcp_servers(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """List MCP servers and their state; without a process, the last known state."""
        actor = await self._actor(request.session_id)
        if actor.session is None:
            known = actor.log.fold.timeline.state.session.mcp_servers
            return returns.Details(details={"servers": msgspec.to_builtins(list(known.values())), "live": False})
        answer = _details(await actor.call(lambda session: session.mcp_status()))
        return returns.Details(details={"servers": answer.get("mcpServers", []), "live": True})

    @once
    async def reconnect_mcp_server(
        self, request: takes.OfMcpServer, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Reconnect an MCP server."""
        await self._call(
            "reconnect_mcp_server", request, caller, key, lambda session: session.reconnect_mcp_server(request.server)
        )
        return returns.Accepted()

    @once
    async def enable_mcp_server(
        self, request: takes.OfMcpServer, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Turn an MCP server on."""
        return await self._toggle("enable_mcp_server", request, caller, key, enabled=True)

    @once
    async def disable_mcp_server(
        self, request: takes.OfMcpServer, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Turn an MCP server off."""
        return await self._toggle("disable_mcp_server", request, caller, key, enabled=False)

    async def _toggle(
        self, operation: str, request: takes.OfMcpServer, caller: Caller, key: str | None, *, enabled: bool
    ) -> returns.Accepted:
        await self._call(
            operation, request, caller, key, lambda session: session.toggle_mcp_server(request.server, enabled)
        )
        return returns.Accepted()

    @once
    async def set_mcp_servers(
        self, request: takes.SetMcpServers, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Replace the MCP servers, until the process ends."""
        if caller.scope != "admin":
            raise HostError("forbidden", "MCP servers run programs, so this requires the scope admin.")
        wrong = next((name for name, server in request.servers.items() if not isinstance(server, dict)), None)
        if wrong is not None:
            raise HostError("invalid", f"The server {wrong!r} is not an object.", field="servers")
        answer = await self._call(
            "set_mcp_servers", request, caller, key, lambda session: session.set_mcp_servers(request.servers)
        )
        return returns.Details(details=_details(answer))

    # What it is doing

    async def get_info(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """Get tools, models, commands, agents, account and CLI version of the current or last process."""
        fold = (await self._actor(request.session_id)).log.fold
        answer = fold.side.initialize_answer
        details: dict[str, Any] = msgspec.to_builtins(fold.timeline.state.session)
        return returns.Details(
            details={
                **details,
                "capabilities": sorted(fold.side.capabilities),
                "handshake": {} if answer is None else _details(answer),
            }
        )

    async def get_context(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """Get the context usage."""
        actor = await self._actor(request.session_id)
        if actor.session is None:
            context = msgspec.to_builtins(actor.log.fold.timeline.state.context)
            return returns.Details(details={"context": context, "live": False})
        answer = await actor.call(lambda session: session.context_usage())
        return returns.Details(details={"context": _details(answer), "live": True})

    async def list_tasks(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Details:
        """List background tasks with usage and output."""
        actor = await self._actor(request.session_id)
        tasks = [await self._task(actor, task) for task in actor.log.fold.timeline.state.tasks.values()]
        return returns.Details(details={"tasks": tasks})

    async def _task(self, actor: SessionActor, task: Task) -> dict[str, Any]:
        shown: dict[str, Any] = {**msgspec.to_builtins(task), "status": task.status}
        if task.status == "running" and actor.session is not None:  # the earlier answer is outdated
            with contextlib.suppress(HostError):
                shown["live_output"] = _details(await actor.call(lambda session: session.task_output(task.id)))
        return shown

    @once
    async def stop_task(
        self, request: takes.OfTask, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Stop a background task."""
        actor = await self._actor(request.session_id)
        if request.task_id not in actor.log.fold.timeline.state.tasks:
            raise HostError("not_found", f"The session has no task {request.task_id}.", field="task_id")
        await self._call("stop_task", request, caller, key, lambda session: session.stop_task(request.task_id))
        return returns.Accepted()


class _Environment(msgspec.Struct, forbid_unknown_fields=True):
    variables: dict[str, str]


def _variables(fields: dict[str, Any]) -> dict[str, str]:
    try:
        return msgspec.convert(fields, _Environment).variables
    except msgspec.ValidationError as error:
        raise HostError("invalid", f"Not valid variables: {error}", field="fields.variables") from error


async def _set_environment(session: Session, variables: dict[str, str]) -> None:
    session.update_environment(variables)


def _details(answer: Any) -> dict[str, Any]:
    shown = plain(answer)
    return shown if isinstance(shown, dict) else {"answer": shown}
