"""The table of operations has everything the contract lists, once, with types that can be read and written."""

from __future__ import annotations

import inspect
from typing import get_args, get_type_hints

import msgspec
import pytest

from looping import for_each
from quarterdeck.host import Host, operations, requests, resources
from quarterdeck.host.operations import OPERATIONS, Operation

REST = {
    "POST /sessions": "create_session",
    "GET /sessions": "list_sessions",
    "POST /sessions/import": "import_session",
    "GET /search": "search",
    "GET /sessions/{id}": "get_session",
    "PATCH /sessions/{id}": "update_session",
    "DELETE /sessions/{id}": "delete_session",
    "POST /sessions/{id}/prompts": "send_prompt",
    "GET /sessions/{id}/prompts": "list_prompts",
    "PATCH /sessions/{id}/prompts/{prompt_id}": "update_prompt",
    "DELETE /sessions/{id}/prompts/{prompt_id}": "withdraw_prompt",
    "POST /sessions/{id}/control": "send_control",
    "POST /sessions/{id}/interrupt": "interrupt",
    "POST /sessions/{id}/stop": "stop",
    "POST /sessions/{id}/resume": "resume",
    "POST /sessions/{id}/fork": "fork",
    "POST /sessions/{id}/rewind": "rewind",
    "POST /sessions/{id}/compact": "compact",
    "POST /sessions/{id}/callbacks/{call}": "answer_callback",
    "GET /sessions/{id}/timeline": "get_timeline",
    "GET /sessions/{id}/info": "get_info",
    "GET /sessions/{id}/context": "get_context",
    "GET /sessions/{id}/mcp": "list_mcp_servers",
    "GET /sessions/{id}/tasks": "list_tasks",
    "GET /sessions/{id}/stderr": "get_stderr",
    "GET /sessions/{id}/diff": "get_diff",
    "GET /sessions/{id}/result": "get_result",
    "GET /sessions/{id}/subagents/{subagent}": "get_subagent",
    "POST /sessions/{id}/mcp/{server}/reconnect": "reconnect_mcp_server",
    "POST /sessions/{id}/mcp/{server}/enable": "enable_mcp_server",
    "POST /sessions/{id}/mcp/{server}/disable": "disable_mcp_server",
    "PUT /sessions/{id}/mcp": "set_mcp_servers",
    "POST /sessions/{id}/tasks/{task}/stop": "stop_task",
    "GET /sessions/{id}/events": "read_events",
    "POST /sessions/{id}/events": "add_event",
    "GET /approvals": "list_approvals",
    "GET /approvals/{id}": "get_approval",
    "POST /approvals/{id}/decision": "decide",
    "POST /approvals/decisions": "decide_many",
    "GET /policy/rules": "list_rules",
    "GET /policy/grants": "list_grants",
    "DELETE /policy/grants/{id}": "revoke_grant",
    "POST /policy/explain": "explain_policy",
    "POST /policy/try": "try_rule",
    "GET /usage": "get_usage",
    "GET /budgets": "get_budgets",
    "PUT /budgets": "set_budgets",
    "GET /presets": "get_presets",
    "PUT /presets": "set_presets",
    "GET /alerts": "get_alerts",
    "PUT /alerts": "set_alerts",
    "GET /folders": "list_folders",
    "GET /sessions/{id}/files": "list_files",
    "POST /sessions/{id}/uploads": "upload",
    "GET /sessions/{id}/wait": "wait",
    "GET /sessions/{id}/export": "export_session",
    "GET /audit": "list_audit",
    "GET /transcripts": "list_transcripts",
    "POST /transcripts/{id}/adopt": "adopt_transcript",
    "GET /worktrees": "list_worktrees",
    "POST /worktrees": "create_worktree",
    "DELETE /worktrees": "delete_worktree",
    "GET /tokens": "list_tokens",
    "POST /tokens": "create_token",
    "DELETE /tokens/{id}": "revoke_token",
    "GET /limits": "get_limits",
    "GET /host": "get_host",
    "GET /healthz": "get_health",
    "GET /readyz": "get_health",
    "GET /metrics": "get_metrics",
}
"""The contract's routes; ``/openapi.json`` and ``/docs`` belong to the face alone."""

STREAMS = {"watch_session", "watch_host", "watch_approvals", "attach_callbacks"}
READS_BY_POST = {"explain_policy", "try_rule"}

FIELDS = {
    "Session": """id name tags cwd state state_since state_reason model permission_mode agent cli_version transcript_id
        parent_id created_at last_activity_at seq epoch pending_approvals cost_usd tokens budget_usd current worktree
        host""",
    "Approval": """id request_id session_id kind state replaces asked_at tool input summary diffs risk reason
        suggestions questions plan decided_at decided_by via decision delivered_at applied_at waited_s""",
    "CreateSession": """cwd prompt name tags agent model permission_mode options policy budget_usd worktree resume
        fork account cli_version lifecycle callbacks""",
    "UpdateSession": "name tags model permission_mode max_thinking_tokens archived budget_usd",
    "Decision": "decision updated_input remember message interrupt answers plan mode",
    "CreateToken": "name scope expires_s folders",
    "Frame": "session seq at events",
}


def test_every_route_and_stream_of_the_contract_is_an_operation_and_nothing_else_is() -> None:
    assert {*REST.values(), *STREAMS} == set(OPERATIONS)


def test_names_are_unique() -> None:
    assert sum(map(len, operations.GROUPS)) == len(OPERATIONS)
    assert all(name == operation.name for name, operation in OPERATIONS.items())


@for_each(("route", "name"), REST.items(), ids=list(REST))
def test_what_changes_something_takes_an_idempotency_key_and_more_than_read(route: str, name: str) -> None:
    changes = not route.startswith("GET") and name not in READS_BY_POST
    assert OPERATIONS[name].writes == changes
    assert not (changes and OPERATIONS[name].scope == "read")


def test_streams_are_marked() -> None:
    assert {name for name, operation in OPERATIONS.items() if operation.streams} == STREAMS


@for_each(("name", "fields"), FIELDS.items(), ids=list(FIELDS))
def test_a_type_has_the_fields_of_the_contract(name: str, fields: str) -> None:
    cls = getattr(requests, name, None) or getattr(resources, name)
    assert set(fields.split()) <= {field.encode_name for field in msgspec.structs.fields(cls)}


@for_each("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_each_operation_says_what_it_is_about_and_has_a_schema(operation: Operation) -> None:
    assert operation.about.endswith(".")
    assert operation.takes.__doc__
    assert operation.returns.__doc__
    msgspec.json.schema_components([operation.takes, operation.returns])


@for_each("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_an_unknown_field_of_a_request_is_named(operation: Operation) -> None:
    needed = {
        field.encode_name: _example(field.type) for field in msgspec.structs.fields(operation.takes) if field.required
    }
    with pytest.raises(msgspec.ValidationError, match="`surprise`"):
        msgspec.convert({**needed, "surprise": 1}, operation.takes)


def _example(type_: object) -> object:
    """Something that fits a required field, so that only the unknown one is wrong."""
    for value in ("admin", {}, "allow", {"decision": "allow"}, "text", b"", 1):
        try:
            msgspec.convert(value, type_)
        except msgspec.ValidationError:
            continue
        return value
    raise AssertionError(f"no example for {type_}")


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        OPERATIONS["stop"].scope = "read"
    with pytest.raises(TypeError):
        OPERATIONS["stop"] = OPERATIONS["wait"]


def test_admin_alone_touches_tokens_alerts_and_what_runs_commands() -> None:
    assert {name for name, operation in OPERATIONS.items() if operation.scope == "admin"} == {
        "create_token",
        "get_alerts",
        "list_tokens",
        "revoke_token",
        "set_alerts",
        "set_budgets",
        "set_presets",
        "set_mcp_servers",
    }


@for_each("operation", OPERATIONS.values(), ids=list(OPERATIONS))
def test_every_operation_is_a_method_of_the_host_that_takes_its_request(operation: Operation) -> None:
    method = getattr(Host, operation.name)
    hints = get_type_hints(method)
    assert hints["request"] is operation.takes
    names = list(inspect.signature(method).parameters)
    assert names[:3] == ["self", "request", "caller"]
    assert ("key" in names) is operation.writes
    if operation.streams:
        yielded = get_args(hints["return"])[0]
        assert operation.returns in (yielded, *get_args(yielded))
    else:
        assert hints["return"] is operation.returns
