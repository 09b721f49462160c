"""Every operation of a host that returns a single result, as a method. Streams are in ``remote_host``.

Written from ``quarterdeck.host.operations`` by ``tests/remote/operations_source.py``; do not edit.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.host import requests as takes
from quarterdeck.host import resources as returns


class RemoteOperations:
    """The operations of a host. A write with your own ``key`` is applied once, however often you repeat it."""

    async def _call(self, name: str, request: takes.Request, key: str | None = None) -> Any:
        raise NotImplementedError

    async def create_session(self, request: takes.CreateSession, *, key: str | None = None) -> returns.Session:
        """Start a session, or resume or fork one."""
        result: returns.Session = await self._call("create_session", request, key)
        return result

    async def list_sessions(self, request: takes.ListSessions) -> returns.SessionList:
        """Find sessions."""
        result: returns.SessionList = await self._call("list_sessions", request)
        return result

    async def get_session(self, request: takes.OfSession) -> returns.Session:
        """Get a session."""
        result: returns.Session = await self._call("get_session", request)
        return result

    async def import_session(self, request: takes.ImportSession, *, key: str | None = None) -> returns.Imported:
        """Import an exported session. It is archived."""
        result: returns.Imported = await self._call("import_session", request, key)
        return result

    async def search(self, request: takes.Search) -> returns.SearchResults:
        """Search names, prompts and text."""
        result: returns.SearchResults = await self._call("search", request)
        return result

    async def update_session(self, request: takes.UpdateSession, *, key: str | None = None) -> returns.Session:
        """Rename, tag or archive a session; change its model, mode or budget."""
        result: returns.Session = await self._call("update_session", request, key)
        return result

    async def delete_session(self, request: takes.OfSession, *, key: str | None = None) -> returns.Accepted:
        """Stop a session and delete its log."""
        result: returns.Accepted = await self._call("delete_session", request, key)
        return result

    async def send_prompt(self, request: takes.SendPrompt, *, key: str | None = None) -> returns.PromptAccepted:
        """Send a prompt, now or queued."""
        result: returns.PromptAccepted = await self._call("send_prompt", request, key)
        return result

    async def list_prompts(self, request: takes.OfSession) -> returns.PromptList:
        """List queued prompts."""
        result: returns.PromptList = await self._call("list_prompts", request)
        return result

    async def update_prompt(self, request: takes.UpdatePrompt, *, key: str | None = None) -> returns.Prompt:
        """Edit, reorder or schedule a queued prompt."""
        result: returns.Prompt = await self._call("update_prompt", request, key)
        return result

    async def withdraw_prompt(self, request: takes.OfPrompt, *, key: str | None = None) -> returns.Accepted:
        """Withdraw a queued prompt."""
        result: returns.Accepted = await self._call("withdraw_prompt", request, key)
        return result

    async def send_control(self, request: takes.SendControl, *, key: str | None = None) -> returns.Details:
        """Send a control request that has no operation of its own."""
        result: returns.Details = await self._call("send_control", request, key)
        return result

    async def interrupt(self, request: takes.OfSession, *, key: str | None = None) -> returns.Accepted:
        """Stop the turn."""
        result: returns.Accepted = await self._call("interrupt", request, key)
        return result

    async def stop(self, request: takes.OfSession, *, key: str | None = None) -> returns.Accepted:
        """End the process; the session can be resumed."""
        result: returns.Accepted = await self._call("stop", request, key)
        return result

    async def resume(self, request: takes.OfSession, *, key: str | None = None) -> returns.Session:
        """Start a process for a session that has none."""
        result: returns.Session = await self._call("resume", request, key)
        return result

    async def fork(self, request: takes.Fork, *, key: str | None = None) -> returns.Session:
        """Continue a session in a copy."""
        result: returns.Session = await self._call("fork", request, key)
        return result

    async def rewind(self, request: takes.Rewind, *, key: str | None = None) -> returns.Details:
        """Restore files to their state at an earlier prompt."""
        result: returns.Details = await self._call("rewind", request, key)
        return result

    async def compact(self, request: takes.OfSession, *, key: str | None = None) -> returns.Accepted:
        """Summarise the conversation."""
        result: returns.Accepted = await self._call("compact", request, key)
        return result

    async def answer_callback(self, request: takes.AnswerCallback, *, key: str | None = None) -> returns.Accepted:
        """Answer a hook or a tool call."""
        result: returns.Accepted = await self._call("answer_callback", request, key)
        return result

    async def get_timeline(self, request: takes.OfSession) -> returns.TimelineView:
        """Get the whole timeline so far."""
        result: returns.TimelineView = await self._call("get_timeline", request)
        return result

    async def get_info(self, request: takes.OfSession) -> returns.Details:
        """Get tools, models, commands, agents, account and CLI version."""
        result: returns.Details = await self._call("get_info", request)
        return result

    async def get_context(self, request: takes.OfSession) -> returns.Details:
        """Get the context usage."""
        result: returns.Details = await self._call("get_context", request)
        return result

    async def list_mcp_servers(self, request: takes.OfSession) -> returns.Details:
        """List MCP servers and their state."""
        result: returns.Details = await self._call("list_mcp_servers", request)
        return result

    async def list_tasks(self, request: takes.OfSession) -> returns.Details:
        """List background tasks with usage and output."""
        result: returns.Details = await self._call("list_tasks", request)
        return result

    async def get_stderr(self, request: takes.OfSession) -> returns.Details:
        """Get what the CLI wrote to stderr."""
        result: returns.Details = await self._call("get_stderr", request)
        return result

    async def get_diff(self, request: takes.OfSession) -> returns.Details:
        """Get what the session changed in its folder."""
        result: returns.Details = await self._call("get_diff", request)
        return result

    async def get_result(self, request: takes.OfSession) -> returns.Details:
        """Get the last result, including structured output."""
        result: returns.Details = await self._call("get_result", request)
        return result

    async def get_subagent(self, request: takes.OfSubagent) -> returns.Details:
        """Get the transcript of a sub-agent."""
        result: returns.Details = await self._call("get_subagent", request)
        return result

    async def list_files(self, request: takes.ListFiles) -> returns.FolderList:
        """List files in its folder, for completion."""
        result: returns.FolderList = await self._call("list_files", request)
        return result

    async def read_events(self, request: takes.ReadEvents) -> returns.Frames:
        """Read part of the log."""
        result: returns.Frames = await self._call("read_events", request)
        return result

    async def wait(self, request: takes.Wait) -> returns.Session:
        """Wait for a state."""
        result: returns.Session = await self._call("wait", request)
        return result

    async def export_session(self, request: takes.Export) -> returns.Exported:
        """Export the session as a document."""
        result: returns.Exported = await self._call("export_session", request)
        return result

    async def add_event(self, request: takes.AddEvent, *, key: str | None = None) -> returns.Accepted:
        """Add your own event to the log."""
        result: returns.Accepted = await self._call("add_event", request, key)
        return result

    async def upload(self, request: takes.Upload, *, key: str | None = None) -> returns.Details:
        """Upload a file for the session."""
        result: returns.Details = await self._call("upload", request, key)
        return result

    async def reconnect_mcp_server(self, request: takes.OfMcpServer, *, key: str | None = None) -> returns.Accepted:
        """Reconnect an MCP server."""
        result: returns.Accepted = await self._call("reconnect_mcp_server", request, key)
        return result

    async def enable_mcp_server(self, request: takes.OfMcpServer, *, key: str | None = None) -> returns.Accepted:
        """Turn an MCP server on."""
        result: returns.Accepted = await self._call("enable_mcp_server", request, key)
        return result

    async def disable_mcp_server(self, request: takes.OfMcpServer, *, key: str | None = None) -> returns.Accepted:
        """Turn an MCP server off."""
        result: returns.Accepted = await self._call("disable_mcp_server", request, key)
        return result

    async def set_mcp_servers(self, request: takes.SetMcpServers, *, key: str | None = None) -> returns.Details:
        """Replace the MCP servers."""
        result: returns.Details = await self._call("set_mcp_servers", request, key)
        return result

    async def stop_task(self, request: takes.OfTask, *, key: str | None = None) -> returns.Accepted:
        """Stop a background task."""
        result: returns.Accepted = await self._call("stop_task", request, key)
        return result

    async def list_approvals(self, request: takes.ListApprovals) -> returns.ApprovalList:
        """List approvals: permissions, questions, plans and other requests."""
        result: returns.ApprovalList = await self._call("list_approvals", request)
        return result

    async def get_approval(self, request: takes.OfApproval) -> returns.Approval:
        """Get an approval."""
        result: returns.Approval = await self._call("get_approval", request)
        return result

    async def decide(self, request: takes.Decide, *, key: str | None = None) -> returns.Approval:
        """Decide an approval."""
        result: returns.Approval = await self._call("decide", request, key)
        return result

    async def decide_many(self, request: takes.DecideMany, *, key: str | None = None) -> returns.Decisions:
        """Decide all approvals that match a filter."""
        result: returns.Decisions = await self._call("decide_many", request, key)
        return result

    async def list_rules(self, request: takes.InFolder) -> returns.Details:
        """List the rules that apply in a folder."""
        result: returns.Details = await self._call("list_rules", request)
        return result

    async def list_grants(self, request: takes.Nothing) -> returns.GrantList:
        """List remembered rules."""
        result: returns.GrantList = await self._call("list_grants", request)
        return result

    async def revoke_grant(self, request: takes.OfGrant, *, key: str | None = None) -> returns.Grant:
        """Revoke a remembered rule."""
        result: returns.Grant = await self._call("revoke_grant", request, key)
        return result

    async def explain_policy(self, request: takes.ExplainPolicy) -> returns.Details:
        """Explain what the policy would decide, and why."""
        result: returns.Details = await self._call("explain_policy", request)
        return result

    async def try_rule(self, request: takes.TryRule) -> returns.Details:
        """Show what a new rule would have decided on past requests."""
        result: returns.Details = await self._call("try_rule", request)
        return result

    async def get_usage(self, request: takes.GetUsage) -> returns.UsageList:
        """Get tokens and cost, grouped."""
        result: returns.UsageList = await self._call("get_usage", request)
        return result

    async def get_budgets(self, request: takes.Nothing) -> returns.Details:
        """Get the host's budgets."""
        result: returns.Details = await self._call("get_budgets", request)
        return result

    async def set_budgets(self, request: takes.Settings, *, key: str | None = None) -> returns.Details:
        """Replace the host's budgets."""
        result: returns.Details = await self._call("set_budgets", request, key)
        return result

    async def get_alerts(self, request: takes.Nothing) -> returns.Details:
        """Get the alerts."""
        result: returns.Details = await self._call("get_alerts", request)
        return result

    async def set_alerts(self, request: takes.Settings, *, key: str | None = None) -> returns.Details:
        """Replace the alerts."""
        result: returns.Details = await self._call("set_alerts", request, key)
        return result

    async def get_presets(self, request: takes.Nothing) -> returns.Details:
        """Get the presets: named sets of options for new sessions."""
        result: returns.Details = await self._call("get_presets", request)
        return result

    async def set_presets(self, request: takes.Settings, *, key: str | None = None) -> returns.Details:
        """Replace the presets."""
        result: returns.Details = await self._call("set_presets", request, key)
        return result

    async def list_audit(self, request: takes.ListAudit) -> returns.AuditList:
        """List who decided or changed what."""
        result: returns.AuditList = await self._call("list_audit", request)
        return result

    async def list_folders(self, request: takes.ListFolders) -> returns.FolderList:
        """List folders in which sessions are allowed."""
        result: returns.FolderList = await self._call("list_folders", request)
        return result

    async def list_transcripts(self, request: takes.ListTranscripts) -> returns.Details:
        """List transcripts on disk."""
        result: returns.Details = await self._call("list_transcripts", request)
        return result

    async def adopt_transcript(self, request: takes.OfTranscript, *, key: str | None = None) -> returns.Session:
        """Turn a transcript into a session."""
        result: returns.Session = await self._call("adopt_transcript", request, key)
        return result

    async def list_worktrees(self, request: takes.InFolder) -> returns.Details:
        """List the worktrees of a repository."""
        result: returns.Details = await self._call("list_worktrees", request)
        return result

    async def create_worktree(self, request: takes.CreateWorktree, *, key: str | None = None) -> returns.Details:
        """Create a worktree."""
        result: returns.Details = await self._call("create_worktree", request, key)
        return result

    async def delete_worktree(self, request: takes.DeleteWorktree, *, key: str | None = None) -> returns.Accepted:
        """Remove a worktree."""
        result: returns.Accepted = await self._call("delete_worktree", request, key)
        return result

    async def list_tokens(self, request: takes.Nothing) -> returns.TokenList:
        """List tokens and their scopes."""
        result: returns.TokenList = await self._call("list_tokens", request)
        return result

    async def create_token(self, request: takes.CreateToken, *, key: str | None = None) -> returns.Token:
        """Create a token; its secret is shown once."""
        result: returns.Token = await self._call("create_token", request, key)
        return result

    async def revoke_token(self, request: takes.OfToken, *, key: str | None = None) -> returns.Token:
        """Revoke a token."""
        result: returns.Token = await self._call("revoke_token", request, key)
        return result

    async def get_limits(self, request: takes.Nothing) -> returns.Details:
        """Get the rate limits of each account."""
        result: returns.Details = await self._call("get_limits", request)
        return result

    async def get_host(self, request: takes.Nothing) -> returns.HostView:
        """Get versions, machine and limits."""
        result: returns.HostView = await self._call("get_host", request)
        return result

    async def get_health(self, request: takes.Nothing) -> returns.Health:
        """Check whether the host accepts work."""
        result: returns.Health = await self._call("get_health", request)
        return result

    async def get_metrics(self, request: takes.Nothing) -> returns.Details:
        """Get counters and gauges."""
        result: returns.Details = await self._call("get_metrics", request)
        return result
