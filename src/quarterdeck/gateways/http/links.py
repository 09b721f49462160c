"""Follow-up calls as OpenAPI links: which field of an answer is the parameter of which operation."""

from __future__ import annotations

from typing import Any

from .decoding import path_fields
from .routes import ROUTES, Route

_ID = "$response.body#/id"
_SESSION = {"session_id": "$request.path.session_id"}

_NEXT: dict[str, dict[str, dict[str, str]]] = {
    "send_prompt": {
        name: {**_SESSION, "prompt_id": "$response.body#/prompt_id"} for name in ("update_prompt", "withdraw_prompt")
    },
    "list_mcp_servers": {
        name: {**_SESSION, "server": "$response.body#/servers/0/name"}
        for name in ("reconnect_mcp_server", "enable_mcp_server", "disable_mcp_server")
    },
    "list_tasks": {"stop_task": {**_SESSION, "task_id": "$response.body#/tasks/0/id"}},
    "list_sessions": {"get_session": {"session_id": "$response.body#/sessions/0/id"}},
    "list_approvals": {name: {"approval_id": "$response.body#/approvals/0/id"} for name in ("get_approval", "decide")},
    "list_grants": {"revoke_grant": {"grant_id": "$response.body#/grants/0/id"}},
    "create_token": {"revoke_token": {"token_id": _ID}},
    "list_transcripts": {"adopt_transcript": {"transcript_id": "$response.body#/transcripts/0/session_id"}},
    "create_worktree": {"delete_worktree": {"path": "$response.body#/path"}},
}
_MAKE_SESSIONS = ("create_session", "fork", "adopt_transcript")


def links_of(route: Route) -> dict[str, Any]:
    """By the name of the operation that they lead to."""
    if route.name in _MAKE_SESSIONS:
        return {name: {"$ref": f"#/components/links/{name}"} for name in of_session()}
    return {name: _link(name, given) for name, given in _NEXT.get(route.name, {}).items()}


def of_session() -> dict[str, Any]:
    """From a session to everything that needs nothing but its id, and to what it asks."""
    names = [route.name for route in ROUTES if path_fields(route) == ["session_id"]]
    return {name: _link(name, {"session_id": _ID}) for name in names} | {
        "list_approvals": _link("list_approvals", {"session": _ID})
    }


def _link(name: str, parameters: dict[str, str]) -> dict[str, Any]:
    return {"operationId": name, "parameters": parameters}
