"""Everything that can be asked of a host, in one table. Each face is compared with it by a test.

``writes``: takes an idempotency key; a repeat returns the first answer. ``streams``: answers until the caller leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from . import requests as takes
from . import resources as returns
from .resources import Scope


class Operation(msgspec.Struct, frozen=True):
    """One thing to ask of a host: a method of ``Host`` of this name."""

    name: str
    scope: Scope
    """What a token needs. Some requests need more: see what they take."""
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
    _read("get_session", takes.OfSession, returns.Session, "One session."),
    _write("update_session", takes.UpdateSession, returns.Session, "Rename, tag, archive; model, mode, budget."),
    _write("delete_session", takes.OfSession, returns.Accepted, "Stop a session and forget its log."),
    _write("send_prompt", takes.SendPrompt, returns.PromptAccepted, "Say something, now or when there is time."),
    _read("list_prompts", takes.OfSession, returns.PromptList, "What waits to be said."),
    _write("update_prompt", takes.UpdatePrompt, returns.Prompt, "Edit, reorder or schedule what waits."),
    _write("withdraw_prompt", takes.OfPrompt, returns.Accepted, "Take back what waits."),
    _write("send_control", takes.SendControl, returns.Details, "A control request without an operation of its own."),
    _write("interrupt", takes.OfSession, returns.Accepted, "Stop the turn."),
    _write("stop", takes.OfSession, returns.Accepted, "End the process; the session can be resumed."),
    _write("resume", takes.OfSession, returns.Session, "Give a session that has none a process."),
    _write("fork", takes.Fork, returns.Session, "Continue a session in a new one."),
    _write("rewind", takes.Rewind, returns.Details, "Set files back to an earlier prompt."),
    _write("compact", takes.OfSession, returns.Accepted, "Summarise the conversation."),
    _read(
        "attach_callbacks",
        takes.AttachCallbacks,
        returns.Call,
        "Be asked for its hooks and tools.",
        scope="operate",
        streams=True,
    ),
    _write("answer_callback", takes.AnswerCallback, returns.Accepted, "Answer a hook or a tool call."),
)

_LOOKING = (
    _read("get_timeline", takes.OfSession, returns.TimelineView, "Everything so far, to draw from nothing."),
    _read("get_info", takes.OfSession, returns.Details, "Tools, models, commands, agents, account, CLI version."),
    _read("get_context", takes.OfSession, returns.Details, "What fills the context."),
    _read("list_mcp_servers", takes.OfSession, returns.Details, "MCP servers and their state."),
    _read("list_tasks", takes.OfSession, returns.Details, "Background tasks with usage and output."),
    _read("get_stderr", takes.OfSession, returns.Details, "What the CLI wrote to stderr."),
    _read("get_diff", takes.OfSession, returns.Details, "What the session changed in its folder."),
    _read("get_result", takes.OfSession, returns.Details, "The last result, structured output included."),
    _read("get_subagent", takes.OfSubagent, returns.Details, "The transcript of a sub-agent."),
    _read("list_files", takes.ListFiles, returns.FolderList, "Files of its folder, for completion."),
    _read("read_events", takes.ReadEvents, returns.Frames, "Part of the log."),
    _read("wait", takes.Wait, returns.Session, "Wait for a state."),
    _read("export_session", takes.Export, returns.Exported, "The session as a document."),
    _read("watch_session", takes.WatchSession, returns.Frame, "The log after a cursor, then live.", streams=True),
    _read("watch_host", takes.WatchHost, returns.Details, "Changes of sessions and approvals.", streams=True),
    _read("watch_approvals", takes.ListApprovals, returns.Approval, "Approvals as they change.", streams=True),
)

_CHANGING = (
    _write("add_event", takes.AddEvent, returns.Accepted, "Write an event of your own to the log."),
    _write("upload", takes.Upload, returns.Details, "Give the session a file."),
    _write("reconnect_mcp_server", takes.OfMcpServer, returns.Accepted, "Connect an MCP server again."),
    _write("enable_mcp_server", takes.OfMcpServer, returns.Accepted, "Turn an MCP server on."),
    _write("disable_mcp_server", takes.OfMcpServer, returns.Accepted, "Turn an MCP server off."),
    _write("set_mcp_servers", takes.SetMcpServers, returns.Details, "Replace the MCP servers.", scope="admin"),
    _write("stop_task", takes.OfTask, returns.Accepted, "Stop a background task."),
)

_APPROVALS = (
    _read("list_approvals", takes.ListApprovals, returns.ApprovalList, "What people are asked."),
    _read("get_approval", takes.OfApproval, returns.Approval, "One approval."),
    _write("decide", takes.Decide, returns.Approval, "Decide one approval.", scope="approve"),
    _write("decide_many", takes.DecideMany, returns.Decisions, "Decide all that match.", scope="approve"),
    _read("list_rules", takes.InFolder, returns.Details, "The policy in force in a folder."),
    _read("list_grants", takes.Nothing, returns.GrantList, "Rules that were remembered."),
    _write("revoke_grant", takes.OfGrant, returns.Grant, "Forget a remembered rule.", scope="approve"),
    _read("explain_policy", takes.ExplainPolicy, returns.Details, "What the policy would say, and why."),
)

_HOST = (
    _read("get_usage", takes.GetUsage, returns.UsageList, "Tokens and cost, grouped."),
    _read("get_budgets", takes.Nothing, returns.Details, "The host's budgets."),
    _write("set_budgets", takes.Settings, returns.Details, "Replace the host's budgets.", scope="admin"),
    _read("get_alerts", takes.Nothing, returns.Details, "Who is told about what.", scope="admin"),
    _write("set_alerts", takes.Settings, returns.Details, "Replace the alerts.", scope="admin"),
    _read("list_audit", takes.ListAudit, returns.AuditList, "Who decided or changed what."),
    _read("list_folders", takes.ListFolders, returns.FolderList, "Folders in which sessions may start."),
    _read("list_transcripts", takes.ListTranscripts, returns.Details, "Transcripts on disk."),
    _write("adopt_transcript", takes.OfTranscript, returns.Session, "Make a session of a transcript."),
    _read("list_worktrees", takes.InFolder, returns.Details, "Worktrees of a repository."),
    _write("create_worktree", takes.CreateWorktree, returns.Details, "Make a worktree."),
    _write("delete_worktree", takes.DeleteWorktree, returns.Accepted, "Remove a worktree."),
    _read("list_tokens", takes.Nothing, returns.TokenList, "Who may do what.", scope="admin"),
    _write("create_token", takes.CreateToken, returns.Token, "Make a token; its secret is shown once.", scope="admin"),
    _write("revoke_token", takes.OfToken, returns.Token, "End a token.", scope="admin"),
    _read("get_limits", takes.Nothing, returns.Details, "Rate limits of each account."),
    _read("get_host", takes.Nothing, returns.HostView, "Versions, machine, limits."),
    _read("get_health", takes.Nothing, returns.Health, "Whether the host takes work."),
    _read("get_metrics", takes.Nothing, returns.Details, "Counters and gauges."),
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {operation.name: operation for operation in (*_SESSIONS, *_LOOKING, *_CHANGING, *_APPROVALS, *_HOST)}
)
"""By name."""
