"""The table of all operations of a host. Tests compare every gateway with it.

``writes``: takes an idempotency key; a repeat returns the first result. ``streams``: yields results until the caller
stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from . import requests as takes
from . import resources as returns
from .resources import Scope


class Operation(msgspec.Struct, frozen=True):
    """An operation: the method of ``Host`` with this name."""

    name: str
    scope: Scope
    """The scope a token needs. Some request fields require a higher one."""
    takes: type[takes.Request]
    returns: type[returns.Resource]
    about: str
    writes: bool = False
    streams: bool = False


def _read(
    name: str,
    request: type[takes.Request],
    result: type[returns.Resource],
    about: str,
    *,
    scope: Scope = "read",
    streams: bool = False,
) -> Operation:
    return Operation(name, scope, request, result, about, streams=streams)


def _write(
    name: str,
    request: type[takes.Request],
    result: type[returns.Resource],
    about: str,
    *,
    scope: Scope = "operate",
) -> Operation:
    return Operation(name, scope, request, result, about, writes=True)


_SESSIONS = (
    _write("create_session", takes.CreateSession, returns.Session, "Start a session, or resume or fork one."),
    _read("list_sessions", takes.ListSessions, returns.SessionList, "Find sessions."),
    _read("get_session", takes.OfSession, returns.Session, "Get a session."),
    _write("import_session", takes.ImportSession, returns.Imported, "Import an exported session. It is archived."),
    _read("search", takes.Search, returns.SearchResults, "Search names, prompts and text."),
    _write(
        "update_session",
        takes.UpdateSession,
        returns.Session,
        "Rename, tag or archive a session; change its model, mode or budget.",
    ),
    _write("delete_session", takes.OfSession, returns.Accepted, "Stop a session and delete its log."),
    _write("send_prompt", takes.SendPrompt, returns.PromptAccepted, "Send a prompt, now or queued."),
    _read("list_prompts", takes.OfSession, returns.PromptList, "List queued prompts."),
    _write("update_prompt", takes.UpdatePrompt, returns.Prompt, "Edit, reorder or schedule a queued prompt."),
    _write("withdraw_prompt", takes.OfPrompt, returns.Accepted, "Withdraw a queued prompt."),
    _write(
        "send_control", takes.SendControl, returns.Details, "Send a control request that has no operation of its own."
    ),
    _write("interrupt", takes.OfSession, returns.Accepted, "Stop the turn."),
    _write("stop", takes.OfSession, returns.Accepted, "End the process; the session can be resumed."),
    _write("resume", takes.OfSession, returns.Session, "Start a process for a session that has none."),
    _write("fork", takes.Fork, returns.Session, "Continue a session in a copy."),
    _write("rewind", takes.Rewind, returns.Details, "Restore files to their state at an earlier prompt."),
    _write("compact", takes.OfSession, returns.Accepted, "Summarise the conversation."),
    _read(
        "attach_callbacks",
        takes.AttachCallbacks,
        returns.Call,
        "Receive the calls of a session's hooks and tools.",
        scope="operate",
        streams=True,
    ),
    _write("answer_callback", takes.AnswerCallback, returns.Accepted, "Answer a hook or a tool call."),
)

_LOOKING = (
    _read("get_timeline", takes.OfSession, returns.TimelineView, "Get the whole timeline so far."),
    _read(
        "get_info", takes.OfSession, returns.Details, "Get tools, models, commands, agents, account and CLI version."
    ),
    _read("get_context", takes.OfSession, returns.Details, "Get the context usage."),
    _read("list_mcp_servers", takes.OfSession, returns.Details, "List MCP servers and their state."),
    _read("list_tasks", takes.OfSession, returns.Details, "List background tasks with usage and output."),
    _read("get_stderr", takes.OfSession, returns.Details, "Get what the CLI wrote to stderr."),
    _read("get_diff", takes.OfSession, returns.Details, "Get what the session changed in its folder."),
    _read("get_result", takes.OfSession, returns.Details, "Get the last result, including structured output."),
    _read("get_subagent", takes.OfSubagent, returns.Details, "Get the transcript of a sub-agent."),
    _read("list_files", takes.ListFiles, returns.FolderList, "List files in its folder, for completion."),
    _read("read_events", takes.ReadEvents, returns.Frames, "Read part of the log."),
    _read("wait", takes.Wait, returns.Session, "Wait for a state."),
    _read("export_session", takes.Export, returns.Exported, "Export the session as a document."),
    _read("watch_session", takes.WatchSession, returns.Frame, "Stream the log from a cursor, then live.", streams=True),
    _read("watch_host", takes.WatchHost, returns.Details, "Stream changes of sessions and approvals.", streams=True),
    _read("watch_approvals", takes.ListApprovals, returns.Approval, "Stream approvals as they change.", streams=True),
)

_CHANGING = (
    _write("add_event", takes.AddEvent, returns.Accepted, "Add your own event to the log."),
    _write("upload", takes.Upload, returns.Details, "Upload a file for the session."),
    _write("reconnect_mcp_server", takes.OfMcpServer, returns.Accepted, "Reconnect an MCP server."),
    _write("enable_mcp_server", takes.OfMcpServer, returns.Accepted, "Turn an MCP server on."),
    _write("disable_mcp_server", takes.OfMcpServer, returns.Accepted, "Turn an MCP server off."),
    _write("set_mcp_servers", takes.SetMcpServers, returns.Details, "Replace the MCP servers.", scope="admin"),
    _write("stop_task", takes.OfTask, returns.Accepted, "Stop a background task."),
)

_APPROVALS = (
    _read(
        "list_approvals",
        takes.ListApprovals,
        returns.ApprovalList,
        "List approvals: permissions, questions, plans and other requests.",
    ),
    _read("get_approval", takes.OfApproval, returns.Approval, "Get an approval."),
    _write("decide", takes.Decide, returns.Approval, "Decide an approval.", scope="approve"),
    _write(
        "decide_many", takes.DecideMany, returns.Decisions, "Decide all approvals that match a filter.", scope="approve"
    ),
    _read("list_rules", takes.InFolder, returns.Details, "List the rules that apply in a folder."),
    _read("list_grants", takes.Nothing, returns.GrantList, "List remembered rules."),
    _write("revoke_grant", takes.OfGrant, returns.Grant, "Revoke a remembered rule.", scope="approve"),
    _read("explain_policy", takes.ExplainPolicy, returns.Details, "Explain what the policy would decide, and why."),
    _read("try_rule", takes.TryRule, returns.Details, "Show what a new rule would have decided on past requests."),
)

_HOST = (
    _read("get_usage", takes.GetUsage, returns.UsageList, "Get tokens and cost, grouped."),
    _read("get_budgets", takes.Nothing, returns.Details, "Get the host's budgets."),
    _write("set_budgets", takes.Settings, returns.Details, "Replace the host's budgets.", scope="admin"),
    _read("get_alerts", takes.Nothing, returns.Details, "Get the alerts.", scope="admin"),
    _write("set_alerts", takes.Settings, returns.Details, "Replace the alerts.", scope="admin"),
    _read("get_presets", takes.Nothing, returns.Details, "Get the presets: named sets of options for new sessions."),
    _write("set_presets", takes.Settings, returns.Details, "Replace the presets.", scope="admin"),
    _read("list_audit", takes.ListAudit, returns.AuditList, "List who decided or changed what."),
    _read("list_folders", takes.ListFolders, returns.FolderList, "List folders in which sessions are allowed."),
    _read("list_transcripts", takes.ListTranscripts, returns.Details, "List transcripts on disk."),
    _write("adopt_transcript", takes.OfTranscript, returns.Session, "Turn a transcript into a session."),
    _read("list_worktrees", takes.InFolder, returns.Details, "List the worktrees of a repository."),
    _write("create_worktree", takes.CreateWorktree, returns.Details, "Create a worktree."),
    _write("delete_worktree", takes.DeleteWorktree, returns.Accepted, "Remove a worktree."),
    _read("list_tokens", takes.Nothing, returns.TokenList, "List tokens and their scopes.", scope="admin"),
    _write(
        "create_token", takes.CreateToken, returns.Token, "Create a token; its secret is shown once.", scope="admin"
    ),
    _write("revoke_token", takes.OfToken, returns.Token, "Revoke a token.", scope="admin"),
    _read("get_limits", takes.Nothing, returns.Details, "Get the rate limits of each account."),
    _read("get_host", takes.Nothing, returns.HostView, "Get versions, machine and limits."),
    _read("get_health", takes.Nothing, returns.Health, "Check whether the host accepts work."),
    _read("get_metrics", takes.Nothing, returns.Details, "Get counters and gauges."),
)

GROUPS = (_SESSIONS, _LOOKING, _CHANGING, _APPROVALS, _HOST)
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {operation.name: operation for group in GROUPS for operation in group}
)
"""By name."""
