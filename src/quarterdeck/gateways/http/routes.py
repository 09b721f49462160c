"""Every operation of the host as a route: one table, compared by a test with ``quarterdeck.host.operations``.

Path parameters have the names of the request's fields. What is not in the path is in the query for GET and DELETE, and
in a JSON body otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from quarterdeck.host.operations import OPERATIONS, Operation

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
PREFIX = "/v1"


class Route(msgspec.Struct, frozen=True):
    """One operation over HTTP."""

    method: Method
    path: str
    name: str
    """Of the operation."""
    status: int = 200
    whole: str = ""
    """The field of the request that the body is, where it is not the request itself."""
    raw: str = ""
    """The field that takes the body as it is: a file."""
    public: bool = False
    """Answered without a token, and then with less."""

    @property
    def operation(self) -> Operation:
        return OPERATIONS[self.name]

    @property
    def takes_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH")

    @property
    def streams(self) -> bool:
        return self.operation.streams


def _get(path: str, name: str, *, public: bool = False) -> Route:
    return Route("GET", path if public or path == "/metrics" else PREFIX + path, name, public=public)


def _post(path: str, name: str, status: int = 200, *, whole: str = "", raw: str = "") -> Route:
    return Route("POST", PREFIX + path, name, status, whole, raw)


def _put(path: str, name: str, *, whole: str = "") -> Route:
    return Route("PUT", PREFIX + path, name, whole=whole)


def _patch(path: str, name: str) -> Route:
    return Route("PATCH", PREFIX + path, name)


def _delete(path: str, name: str) -> Route:
    return Route("DELETE", PREFIX + path, name)


_SESSION = "/sessions/{session_id}"

_SESSIONS = (
    _post("/sessions", "create_session", 201),
    _get("/sessions", "list_sessions"),
    _post("/sessions/import", "import_session", 201, raw="body"),
    _get(_SESSION, "get_session"),
    _patch(_SESSION, "update_session"),
    _delete(_SESSION, "delete_session"),
    _post(f"{_SESSION}/prompts", "send_prompt", 202),
    _get(f"{_SESSION}/prompts", "list_prompts"),
    _patch(f"{_SESSION}/prompts/{{prompt_id}}", "update_prompt"),
    _delete(f"{_SESSION}/prompts/{{prompt_id}}", "withdraw_prompt"),
    _post(f"{_SESSION}/control", "send_control"),
    _post(f"{_SESSION}/interrupt", "interrupt"),
    _post(f"{_SESSION}/stop", "stop"),
    _post(f"{_SESSION}/resume", "resume"),
    _post(f"{_SESSION}/fork", "fork", 201),
    _post(f"{_SESSION}/rewind", "rewind"),
    _post(f"{_SESSION}/compact", "compact", 202),
)

_LOOKING = (
    _get(f"{_SESSION}/timeline", "get_timeline"),
    _get(f"{_SESSION}/info", "get_info"),
    _get(f"{_SESSION}/context", "get_context"),
    _get(f"{_SESSION}/mcp", "list_mcp_servers"),
    _get(f"{_SESSION}/tasks", "list_tasks"),
    _get(f"{_SESSION}/stderr", "get_stderr"),
    _get(f"{_SESSION}/diff", "get_diff"),
    _get(f"{_SESSION}/result", "get_result"),
    _get(f"{_SESSION}/subagents/{{subagent_id}}", "get_subagent"),
    _get(f"{_SESSION}/files", "list_files"),
    _get(f"{_SESSION}/events", "read_events"),
    _get(f"{_SESSION}/wait", "wait"),
    _get(f"{_SESSION}/export", "export_session"),
    _get(f"{_SESSION}/stream", "watch_session"),
    _get(f"{_SESSION}/callbacks", "attach_callbacks"),
    _get("/stream", "watch_host"),
    _get("/approvals/stream", "watch_approvals"),
)

_CHANGING = (
    _post(f"{_SESSION}/events", "add_event", 202),
    _post(f"{_SESSION}/uploads", "upload", 201, raw="body"),
    _post(f"{_SESSION}/mcp/{{server}}/reconnect", "reconnect_mcp_server"),
    _post(f"{_SESSION}/mcp/{{server}}/enable", "enable_mcp_server"),
    _post(f"{_SESSION}/mcp/{{server}}/disable", "disable_mcp_server"),
    _put(f"{_SESSION}/mcp", "set_mcp_servers"),
    _post(f"{_SESSION}/callbacks/{{call_id}}", "answer_callback"),
    _post(f"{_SESSION}/tasks/{{task_id}}/stop", "stop_task"),
)

_APPROVALS = (
    _get("/approvals", "list_approvals"),
    _get("/approvals/{approval_id}", "get_approval"),
    _post("/approvals/{approval_id}/decision", "decide", whole="decision"),
    _post("/approvals/decisions", "decide_many"),
    _get("/policy/rules", "list_rules"),
    _get("/policy/grants", "list_grants"),
    _delete("/policy/grants/{grant_id}", "revoke_grant"),
    _post("/policy/explain", "explain_policy"),
    _post("/policy/try", "try_rule"),
)

_HOST = (
    _get("/usage", "get_usage"),
    _get("/budgets", "get_budgets"),
    _put("/budgets", "set_budgets", whole="settings"),
    _get("/alerts", "get_alerts"),
    _put("/alerts", "set_alerts", whole="settings"),
    _get("/presets", "get_presets"),
    _put("/presets", "set_presets", whole="settings"),
    _get("/search", "search"),
    _get("/audit", "list_audit"),
    _get("/folders", "list_folders"),
    _get("/transcripts", "list_transcripts"),
    _post("/transcripts/{transcript_id}/adopt", "adopt_transcript", 201),
    _get("/worktrees", "list_worktrees"),
    _post("/worktrees", "create_worktree", 201),
    _delete("/worktrees", "delete_worktree"),
    _get("/tokens", "list_tokens"),
    _post("/tokens", "create_token", 201),
    _delete("/tokens/{token_id}", "revoke_token"),
    _get("/limits", "get_limits"),
    _get("/host", "get_host"),
    _get("/healthz", "get_health", public=True),
    _get("/readyz", "get_health", public=True),
    _get("/metrics", "get_metrics"),
)

ROUTES: tuple[Route, ...] = (*_SESSIONS, *_LOOKING, *_CHANGING, *_APPROVALS, *_HOST)

SOCKET = f"{PREFIX}/ws"
"""One WebSocket for everything: every operation by name, and all streams."""

BY_OPERATION: Mapping[str, Route] = MappingProxyType({route.name: route for route in ROUTES})
