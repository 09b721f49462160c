"""An example of every request and every answer, for people to read and for a test to try."""

from __future__ import annotations

from typing import Any

SESSION_ID = "0b5c2f6e-6c0e-4f0c-9a39-2a1d5d1f7f10"
APPROVAL_ID = "7d1f0c2a-38a4-4d0f-8a8e-0f6f4d2f9b11"
GRANT_ID = "f2a9a1f4-5a15-4f6b-a8d7-3f0a7b1c2d3e"
TOKEN_ID = "c3d2b1a0-1111-4222-8333-444455556666"  # noqa: S105  # an id
PROMPT_ID = "3a1f8f4e-95d1-4f8b-8a52-0f5d6f1f2a77"
EPOCH = "k3v9x2"
WHEN = "2026-01-15T09:30:00Z"

PATHS: dict[str, str] = {
    "session_id": SESSION_ID,
    "prompt_id": PROMPT_ID,
    "approval_id": APPROVAL_ID,
    "grant_id": GRANT_ID,
    "token_id": TOKEN_ID,
    "subagent_id": "toolu_01A9",
    "server": "github",
    "task_id": "b1x9k2",
    "transcript_id": "5e0e4b1e-9a77-4f5a-b7c4-8b9d6f0a1c22",
    "call_id": "c-17",
}

BODIES: dict[str, Any] = {
    "create_session": {"cwd": "/srv/repo", "prompt": "Which tests fail?", "name": "tests", "tags": ["ci"]},
    "update_session": {"name": "flaky tests", "tags": ["ci", "urgent"]},
    "send_prompt": {"content": "Now fix them.", "priority": "next"},
    "update_prompt": {"position": 0},
    "send_control": {"subtype": "get_status", "fields": {}},
    "fork": {"name": "another way"},
    "rewind": {"to": PROMPT_ID, "dry_run": True},
    "add_event": {"type": "ci", "data": {"job": "unit", "passed": False}, "prompt": "The job unit failed."},
    "set_mcp_servers": {"servers": {"docs": {"type": "http", "url": "http://127.0.0.1:9000/mcp"}}},
    "answer_callback": {"result": {"content": [{"type": "text", "text": "42"}]}},
    "decide": {"decision": "allow", "remember": {"rule": "Bash(npm test:*)", "scope": "session"}},
    "decide_many": {"filter": {"tool": "Read"}, "decision": {"decision": "allow"}, "dry_run": True},
    "explain_policy": {"tool": "Bash", "input": {"command": "rm -rf build"}, "cwd": "/srv/repo"},
    "try_rule": {"rule": "Bash(npm test:*)", "behavior": "allow", "cwd": "/srv/repo"},
    "set_budgets": {"day_usd": "20", "month_usd": "300"},
    "set_alerts": {"alerts": [{"on": ["approval"], "command": ["/usr/bin/notify-send", "Claude asks"]}]},
    "set_presets": {"presets": {"review": {"permission_mode": "plan", "budget_usd": "2"}}},
    "create_worktree": {"cwd": "/srv/repo", "name": "flaky"},
    "create_token": {"name": "ann's phone", "scope": "approve", "expires_s": 2_592_000, "folders": ["/srv"]},
}
"""Of those routes whose body has something in it."""

QUERIES: dict[str, Any] = {
    "list_sessions": {"state": "waiting,running", "limit": 20},
    "read_events": {"after": f"{EPOCH}-0", "limit": 100},
    "wait": {"for": "idle,waiting", "timeout_s": 30},
    "export_session": {"format": "md"},
    "list_files": {"q": "READ"},
    "list_folders": {"prefix": "/srv/"},
    "get_usage": {"by": "day,model"},
    "list_audit": {"limit": 20},
    "search": {"q": "race condition"},
    "import_session": {"name": "from another machine"},
    "upload": {"name": "screenshot.png"},
    "list_approvals": {"state": "pending"},
    "list_rules": {"cwd": "/srv/repo"},
    "list_worktrees": {"cwd": "/srv/repo"},
    "delete_worktree": {"path": "/srv/repo-flaky"},
}

SESSION: dict[str, Any] = {
    "id": SESSION_ID,
    "state": "waiting",
    "state_since": WHEN,
    "cwd": "/srv/repo",
    "created_at": WHEN,
    "last_activity_at": WHEN,
    "seq": 41,
    "epoch": EPOCH,
    "name": "tests",
    "tags": ["ci"],
    "model": "claude-sonnet-4-5",
    "permission_mode": "default",
    "pending_approvals": 1,
    "cost_usd": "0.0421",
    "current": "Bash: npm test",
}
APPROVAL: dict[str, Any] = {
    "id": APPROVAL_ID,
    "request_id": "r-9",
    "session_id": SESSION_ID,
    "kind": "permission",
    "state": "pending",
    "asked_at": WHEN,
    "tool": "Bash",
    "input": {"command": "npm test"},
    "summary": "npm test",
}
GRANT: dict[str, Any] = {
    "id": GRANT_ID,
    "rule": "Bash(npm test:*)",
    "scope": "project",
    "created_at": WHEN,
    "by": "ann",
    "cwd": "/srv/repo",
}
TOKEN: dict[str, Any] = {"id": TOKEN_ID, "name": "ann's phone", "scope": "approve", "created_at": WHEN}
PROMPT: dict[str, Any] = {"id": PROMPT_ID, "content": "Now fix them.", "state": "queued"}

RETURNED: dict[str, Any] = {
    "Session": SESSION,
    "SessionList": {"sessions": [SESSION], "next_cursor": "MjA"},
    "Approval": APPROVAL,
    "ApprovalList": {"approvals": [APPROVAL]},
    "Decisions": {"approvals": [APPROVAL], "dry_run": True},
    "Prompt": PROMPT,
    "PromptList": {"prompts": [PROMPT]},
    "PromptAccepted": {"prompt_id": PROMPT_ID, "seq": 42},
    "Accepted": {"seq": 42},
    "Frames": {
        "frames": [{"session": SESSION_ID, "seq": 1, "at": 1768469400.0, "events": []}],
        "last_seq": 41,
        "epoch": EPOCH,
    },
    "TimelineView": {"seq": 41, "epoch": EPOCH, "state": {"items": {}}},
    "Grant": GRANT,
    "GrantList": {"grants": [GRANT]},
    "Token": {**TOKEN, "secret": "qd_…"},
    "TokenList": {"tokens": [TOKEN]},
    "UsageList": {
        "usage": [
            {
                "cost_usd": "0.0421",
                "tokens": {"input": 9, "output": 512},
                "by": {"day": "2026-01-15", "model": "claude-sonnet-4-5"},
            }
        ]
    },
    "AuditList": {
        "audit": [{"id": 7, "at": WHEN, "who": "ann", "via": "http", "operation": "decide", "session_id": SESSION_ID}]
    },
    "FolderList": {"paths": ["/srv/repo"]},
    "Imported": {"import_id": "5c0f9a1e-7f0a-4c56-9a5e-2f1c3d4e5f60", "size_bytes": 20_480, "session": SESSION},
    "SearchResults": {
        "hits": [
            {
                "session_id": SESSION_ID,
                "name": "tests",
                "cwd": "/srv/repo",
                "seq": 12,
                "kind": "text",
                "excerpt": "… a \x02race\x03 \x02condition\x03 in the cache …",
            }
        ]
    },
    "HostView": {"api_version": "1", "version": "0.1.0", "features": ["keeper"], "cli_versions": ["2.1.325"]},
    "Health": {"ready": True},
}
"""By the type that an operation returns."""

DETAILS: dict[str, Any] = {
    "send_control": {"status": "ok"},
    "rewind": {"canRewind": True, "filesChanged": ["a.py"]},
    "get_info": {"model": "claude-sonnet-4-5", "tools": ["Bash", "Read"]},
    "get_context": {"context": {"tokens": 18_432}, "live": True},
    "list_mcp_servers": {"servers": [{"name": "github", "status": "connected"}], "live": True},
    "list_tasks": {"tasks": []},
    "get_stderr": {"stderr": "", "generation": 1},
    "get_diff": {
        "base": "9f2c1e0",
        "diff": "--- a/a.py\n+++ b/a.py\n",
        "truncated": False,
        "untracked": [],
        "left_out": [],
    },
    "get_result": {"status": "success", "text": "All tests pass."},
    "get_subagent": {"call": {"id": "toolu_01A9"}, "items": []},
    "upload": {"path": "/srv/uploads/screenshot.png", "media_type": "image/png", "size_bytes": 20_480},
    "set_mcp_servers": {"added": ["docs"], "removed": [], "errors": {}},
    "list_rules": {"cwd": "/srv/repo", "rules": [], "notes": []},
    "explain_policy": {"decision": "ask", "reason": "No rule applies.", "rule": None},
    "try_rule": {"requests": [], "looked_at": 0, "changed": 0, "more": False},
    "get_budgets": {"day_usd": "20", "month_usd": None, "spent": {"day_usd": "0.04", "month_usd": "1.2"}},
    "set_budgets": {"day_usd": "20", "month_usd": "300", "spent": {"day_usd": "0.04", "month_usd": "1.2"}},
    "get_alerts": {"alerts": []},
    "set_alerts": {"alerts": [{"on": ["approval"], "command": ["/usr/bin/notify-send", "Claude asks"]}]},
    "get_presets": {"presets": {"review": {"permission_mode": "plan", "budget_usd": "2"}}},
    "set_presets": {"presets": {"review": {"permission_mode": "plan", "budget_usd": "2"}}},
    "list_transcripts": {"transcripts": []},
    "list_worktrees": {"worktrees": [{"path": "/srv/repo", "branch": "main", "commit": "9f2c1e0"}]},
    "create_worktree": {"path": "/srv/repo-flaky", "branch": "flaky", "commit": "9f2c1e0"},
    "get_limits": {"accounts": {}},
}
"""By operation, where only Claude Code or the machine knows the answer."""
