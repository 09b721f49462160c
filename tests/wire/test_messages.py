from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from quarterdeck.wire import decode
from quarterdeck.wire import messages as m
from quarterdeck.wire.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from quarterdeck.wire.notices import HookEventMessage
from quarterdeck.wire.result import DeferredToolUse, MessageOrigin
from quarterdeck.wire.system_types import SYSTEM_TYPES
from quarterdeck.wire.tasks import TERMINAL_TASK_STATUSES, TaskPatch
from quarterdeck.wire.usage import RateLimitInfo, Usage
from wire_lines import class_of, received, typed

IDS = {"uuid": "u-1", "session_id": "s-1"}
USAGE = {
    "input_tokens": 10,
    "output_tokens": 4,
    "cache_creation_input_tokens": 1,
    "cache_read_input_tokens": 2,
    "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 0},
    "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0},
    "service_tier": "standard",
    "inference_geo": "eu",
    "speed": "fast",
    "iterations": [{"type": "message", "model": "m", "input_tokens": 10, "output_tokens": 4}],
    "output_tokens_details": {"thinking_tokens": 2},
    "fallback_credit": {"status": {"type": "redeemed"}},
}
MODEL_USAGE = {
    "inputTokens": 10,
    "outputTokens": 4,
    "cacheReadInputTokens": 2,
    "cacheCreationInputTokens": 1,
    "webSearchRequests": 0,
    "costUSD": 0.25,
    "contextWindow": 200000,
    "maxOutputTokens": 32000,
    "thinkingTokens": 2,
    "cacheCreationEphemeral5mInputTokens": 1,
    "cacheCreationEphemeral1hInputTokens": 0,
    "canonicalModel": "m",
    "provider": "firstParty",
    "costBasis": "list",
}
API_MESSAGE = {
    "type": "message",
    "content": [{"type": "text", "text": "Done."}],
    "model": "claude-x",
    "id": "msg_1",
    "role": "assistant",
    "stop_reason": "end_turn",
    "stop_sequence": "###",
    "stop_details": {"type": "refusal", "category": "bio"},
    "usage": USAGE,
    "container": {"id": "c", "expires_at": "2030-01-01", "skills": []},
    "context_management": {"applied_edits": [{"type": "clear_thinking_20251015", "cleared_input_tokens": 5}]},
    "diagnostics": {"cache_miss_reason": {"type": "model_changed"}},
}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "tu", "content": "ok", "is_error": False}


def system(subtype: str, **fields: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype, **IDS, **fields}


LINES: list[dict[str, Any]] = [
    {
        "type": "assistant",
        "message": API_MESSAGE,
        **IDS,
        "parent_tool_use_id": "tu",
        "error": "rate_limit",
        "request_id": "req",
        "timestamp": "2030-01-01T00:00:00Z",
        "user_message_uuid": "um",
        "user_message_uuids": ["um"],
        "agent_id": "a",
        "subagent_type": "Explore",
        "task_description": "look",
        "tool_use_meta": [{"id": "tu", "tool_name": "t", "display_name": "T", "server_display_name": "S"}],
        "aborted": True,
        "supersedes": ["u-0"],
        "resume_reason": "r",
        "resumed_from_incomplete_thinking": True,
        "thinking_display": "updates",
        "thinking_duration_ms": 5,
        "context_usage": {"model": "m", "total_tokens": 5, "percentage": 0.5, "categories": [{"name": "System"}]},
        "usage_report": {"session": {"total_cost_usd": 1, "model_usage": {"m": MODEL_USAGE}}, "rate_limits": {}},
        "is_api_error_message": True,
        "api_error": "max_output_tokens",
        "api_error_type": "invalid_request_error",
        "api_error_status": 400,
        "api_error_params": {"cut": "output_limit"},
        "refused_message_id": "msg_0",
        "local_command_source": "out",
        "local_command_run": {"command": "goal", "args": "x"},
        "local_command_outcome": {"kind": "done"},
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [TOOL_RESULT]},
        **IDS,
        "parent_tool_use_id": "tu",
        "tool_use_result": {"stdout": "ok"},
        "origin": {"kind": "peer", "from": "them", "fromMode": "prompting", "verifiedPeerPid": 7},
        "timestamp": "2030-01-01T00:00:00Z",
        "isSynthetic": True,
        "isReplay": True,
        "priority": "later",
        "shouldQuery": False,
        "client_composed": True,
        "pasted_content": ["pasted", [{"type": "text", "text": "block"}]],
        "inline_pastes": ["p"],
        "file_attachments": [{"name": "f"}],
        "agent_id": "a",
        "subagent_type": "Explore",
        "task_description": "look",
        "tool_result_meta": [{"id": "tu", "permission_decision": {"decision": "accept"}, "non_execution_kind": "x"}],
        "refused_message_id": "msg_0",
    },
    {
        "type": "result",
        "subtype": "success",
        **IDS,
        "duration_ms": 1200,
        "duration_api_ms": 900.5,
        "is_error": False,
        "num_turns": 2,
        "stop_reason": "end_turn",
        "total_cost_usd": 0.25,
        "usage": USAGE,
        "result": "Done.",
        "structured_output": {"n": 3},
        "modelUsage": {"claude-x": MODEL_USAGE},
        "permission_denials": [{"tool_name": "Bash", "tool_use_id": "tu", "tool_input": {"command": "rm"}}],
        "deferred_tool_use": {"id": "tu", "name": "Bash", "input": {}},
        "api_error_status": 529,
        "terminal_reason": "completed",
        "origin": {"kind": "task-notification", "producer": "session-task", "runId": "r"},
        "api_error": "max_output_tokens",
        "api_error_type": "overloaded_error",
        "user_message_uuid": "um",
        "user_message_uuids": ["um"],
        "resume_reason": "r",
        "local_command": "compact",
        "queued_turn_count": 0,
        "result_index": 1,
        "credential_expires_at": "2030-01-01T00:00:00Z",
        "fast_mode_state": "off",
        "fast_mode_disabled_reason": "free",
        "model_usage_since_last_result": {"claude-x": MODEL_USAGE},
        "subagent_stats": {"spawned": 1, "requested": {"background": 1}, "by_type": {"Explore": 1}},
        "safety_stops": 0,
        "warm_spare_claimed": True,
        "first_request_input_tokens": 100,
        "first_request_cache_read_input_tokens": 0,
        "ttft_ms": 3,
        "ttft_stream_ms": 4,
        "time_to_request_ms": 5,
        "time_to_request_from_spawn_ms": 6,
        "time_origin_ms": 7,
        "request_sent_wall_ms": 8,
        "first_content_frame_ms": 9,
        "first_stream_post_ms": 10,
        "first_stream_post_ack_ms": 11,
        "first_stream_post_queue_wait_ms": 12,
        "first_stream_post_queued_behind": "none",
        "first_stream_post_wall_ms": 13,
        "first_text_post_ms": 14,
        "first_text_post_queue_wait_ms": 15,
        "first_text_post_queued_behind": "hold",
        "first_text_post_wall_ms": 16,
    },
    {
        "type": "result",
        "subtype": "error_during_execution",
        **IDS,
        "duration_ms": 1,
        "duration_api_ms": 0,
        "is_error": True,
        "num_turns": 0,
        "errors": ["bad settings"],
        "startup_failure_reason": "config_file_invalid",
        "invalid_config_file": {"path": "/c.json", "is_global": True, "backup_searched": True, "backup_path": "/b"},
    },
    {"type": "stream_event", "event": {"type": "ping"}},
    {
        "type": "tool_progress",
        "tool_use_id": "tu-heartbeat-0",
        "tool_name": "Bash",
        "parent_tool_use_id": "tu",
        "elapsed_time_seconds": 30.5,
        "task_id": "t",
        **IDS,
        "heartbeat": True,
        "subagent_type": "Explore",
        "subagent_retry": {"agent_id": "a", "attempt": 1, "max_retries": 3, "error_category": "overloaded"},
    },
    {"type": "tool_use_summary", "summary": "Read two files", "preceding_tool_use_ids": ["tu"], **IDS},
    {"type": "auth_status", "isAuthenticating": True, "output": ["open the page"], "error": "late", **IDS},
    {
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": "allowed_warning",
            "resetsAt": 1900000000,
            "rateLimitType": "five_hour",
            "utilization": 0.92,
            "overageStatus": "rejected",
            "overageResetsAt": 1900000001,
            "overageDisabledReason": "org_level_disabled",
            "isUsingOverage": False,
            "overageInUse": False,
            "overageEnabled": False,
            "surpassedThreshold": 0.9,
            "limitScope": "service",
            "errorCode": "credits_required",
            "canUserPurchaseCredits": True,
            "hasChargeableSavedPaymentMethod": False,
            "unifiedWindows": {"five_hour": {"utilization": 0.92, "resetsAt": 1, "surpassedThreshold": 0.9}},
        },
        **IDS,
    },
    {
        "type": "conversation_reset",
        "new_conversation_id": "n",
        **IDS,
        "trigger": "clear",
        "user_message_uuid": "um",
        "timestamp": "2030-01-01T00:00:00Z",
    },
    {"type": "prompt_suggestion", "suggestion": "run the tests", **IDS},
    {
        "type": "active_goal",
        "value": {"condition": "green", "iterations": 2, "set_at": 1, "tokens_at_start": 9, "last_reason": "red"},
        **IDS,
    },
    {"type": "command_lifecycle", "command_uuid": "um", "state": "queued", **IDS},
    {"type": "transcript_mirror", "filePath": "/p/s.jsonl", "entries": [{"type": "user"}]},
    {"type": "keep_alive"},
    {"type": "update_environment_variables", "variables": {"A": "1"}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}, **IDS},
    system("subtype_of_tomorrow"),
    system(
        "init",
        cwd="/w",
        model="claude-x",
        permissionMode="plan",
        apiKeySource="none",
        claude_code_version="2.1.325",
        tools=["Bash"],
        mcp_servers=[{"name": "s", "status": "connected", "source": "sdk"}],
        slash_commands=["compact"],
        terminal_slash_commands=["exit"],
        agents=["Explore"],
        skills=["x"],
        plugins=[{"name": "p", "path": "/p", "version": "1", "source": "p@m"}],
        plugin_errors=[{"plugin": "q", "type": "path-not-found", "message": "no", "managed_lock": {"name": "q"}}],
        output_style="default",
        betas=["b"],
        capabilities=["interrupt_receipt_v1"],
        fast_mode_state="off",
        fast_mode_disabled_reason="free",
        effort="high",
        per_turn_effort_active=True,
        ultrathink_available=False,
        ultrathink_typed_raises=False,
        view_mode="focus",
        original_cwd="/w",
        additional_directories=["/x"],
        memory_paths={"auto": "/m"},
        messaging_socket_path="/s",
        analytics_disabled=True,
        product_feedback_disabled=True,
        user_message_uuids=["um"],
    ),
    system(
        "status",
        status="requesting",
        permissionMode="default",
        compact_result="failed",
        compact_error="no",
        compact_output_chars=7,
        user_message_uuids=["um"],
    ),
    system("session_state_changed", state="requires_action", sdk_host_only=True),
    system("session_title_changed", title="My title"),
    system("commands_changed", commands=[{"name": "deploy", "description": "d", "argumentHint": "", "aliases": ["d"]}]),
    system(
        "compact_boundary",
        compact_metadata={
            "trigger": "manual",
            "pre_tokens": 900,
            "post_tokens": 90,
            "duration_ms": 3,
            "cumulative_dropped_tokens": 810,
            "preserved_segment": {"head_uuid": "h", "anchor_uuid": "a", "tail_uuid": "t"},
            "preserved_messages": {"anchor_uuid": "a", "uuids": ["h"], "all_uuids": ["h", "t"]},
        },
        logical_parent_uuid="lp",
    ),
    system("worker_shutting_down", reason="restart"),
    system("session_writes_lost", error_code="ENOSPC", lost=["transcript"], transcript_session_ids=["s-1"]),
    system("mirror_error", key={"project_key": "p", "session_id": "s-1"}, error="timeout"),
    system("files_persisted", files=[{"filename": "f", "file_id": "i"}], failed=[], processed_at="2030"),
    system(
        "api_retry",
        attempt=1,
        max_retries=10,
        retry_delay_ms=596.5,
        error_status=529,
        error="overloaded",
        no_response={"waited_ms": 1, "retry_wait_ms": 2},
    ),
    system(
        "control_request_progress",
        request_id="r",
        status="api_retry",
        attempt=1,
        max_retries=2,
        retry_delay_ms=3,
        error_status=529,
    ),
    system("thinking_tokens", estimated_tokens=12, estimated_tokens_delta=2, user_message_uuid="um"),
    system("model_fallback", trigger="overloaded", original_model="a", fallback_model="b", content="switched"),
    system(
        "model_refusal_fallback",
        trigger="refusal",
        direction="retry",
        scope="local",
        original_model="a",
        fallback_model="b",
        request_id="req",
        api_refusal_category="bio",
        api_refusal_explanation="why",
        retracted_message_uuids=["u-0"],
        refused_user_message_uuid="um",
        content="switched",
    ),
    system(
        "model_refusal_no_fallback",
        original_model="a",
        request_id="req",
        api_refusal_category="bio",
        api_refusal_explanation="why",
        refused_user_message_uuid="um",
        content="refused",
    ),
    system("memory_recall", mode="select", memories=[{"path": "/m", "scope": "team"}]),
    system("hook_started", hook_id="h", hook_name="Stop:x", hook_event="Stop"),
    system("hook_progress", hook_id="h", hook_name="Stop:x", hook_event="Stop", stdout="a", stderr="b", output="ab"),
    system(
        "hook_response",
        hook_id="h",
        hook_name="Stop:x",
        hook_event="Stop",
        output="ab",
        stdout="a",
        stderr="b",
        exit_code=2,
        outcome="error",
    ),
    system(
        "permission_denied",
        tool_name="Bash",
        tool_use_id="tu",
        agent_id="a",
        decision_reason_type="rule",
        decision_reason="no rm",
        message="denied",
    ),
    system("plugin_install", status="failed", name="p", error="no network"),
    system("elicitation_complete", mcp_server_name="s", elicitation_id="e"),
    system(
        "informational",
        content="hook failed",
        level="warning",
        tool_use_id="tu",
        prevent_continuation=True,
        prompt_submit_outcome={"kind": "blocked_by_hook"},
        tag="hook_callback_failed",
    ),
    system("notification", key="k", text="look", priority="high", color="red", timeout_ms=3000),
    system("local_command_output", content="42 files"),
    system(
        "task_started",
        task_id="t",
        description="d",
        tool_use_id="tu",
        task_type="local_bash",
        run_id="r",
        subagent_type="Explore",
        is_backgrounded=True,
        spawn_depth=1,
        parent_task_id="t0",
        workflow_name="w",
        prompt="p",
        skip_transcript=False,
        ambient=False,
    ),
    system(
        "task_progress",
        task_id="t",
        description="d",
        usage={"total_tokens": 9, "tool_uses": 1, "duration_ms": 5},
        tool_use_id="tu",
        last_tool_name="Bash",
        run_id="r",
        subagent_type="Explore",
        summary="half",
    ),
    system(
        "task_notification",
        task_id="t",
        status="completed",
        output_file="/o",
        summary="all",
        tool_use_id="tu",
        usage={"total_tokens": 9, "tool_uses": 1, "duration_ms": 5},
        run_id="r",
        reason="worker_restart",
        resource_links=[{"uri": "file:///x", "name": "x", "mimeType": "text/plain", "size": 3}],
        skip_transcript=False,
        ambient=True,
    ),
    system("task_updated", task_id="t", patch={"status": "killed", "end_time": 5, "is_backgrounded": True}, run_id="r"),
    system("background_tasks_changed", tasks=[{"task_id": "t", "task_type": "local_bash", "description": "d"}]),
]


def example(kind: str, subtype: str | None = None) -> dict[str, Any]:
    return next(line for line in LINES if line["type"] == kind and subtype in (None, line.get("subtype")))


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['type']}.{line.get('subtype', '')}")
def test_a_line_becomes_its_class_and_every_key_is_typed(line: dict[str, Any]) -> None:
    message = typed(line)
    assert isinstance(message, class_of(line))
    by_fields = {key: value for key, value in line.items() if key != "tool_use_result"}  # that one is decoded apart
    assert message.to_dict() == by_fields  # the typed fields alone say all that the line said
    assert received(line).data == received(line).to_dict() == line


def test_every_class_has_an_example() -> None:
    assert {class_of(line) for line in LINES} == {*m.MESSAGE_TYPES, *SYSTEM_TYPES.values()}


def test_each_subtype_class_knows_its_subtype() -> None:
    for subtype, cls in SYSTEM_TYPES.items():
        line = example("system", subtype)
        fields = {name: value for name, value in line.items() if name not in ("type", "subtype")}
        without_subtype = msgspec.convert({"type": "system", **fields}, cls)
        assert without_subtype.subtype == subtype
        assert without_subtype.to_dict() == line


MINIMAL: list[dict[str, Any]] = [
    {"type": "assistant", "message": {"content": []}},
    {"type": "user", "message": {"content": "hi"}},
    {"type": "result", "subtype": "success"},
    {"type": "active_goal", "value": None},
    {"type": "auth_status"},
    {"type": "system", "subtype": "init"},
    {"type": "system", "subtype": "status", "status": None},
    {"type": "system", "subtype": "task_updated", "task_id": "t"},
    {"type": "system", "subtype": "compact_boundary"},
    {"type": "system", "subtype": "informational"},
]


@pytest.mark.parametrize("line", MINIMAL, ids=lambda line: f"{line['type']}.{line.get('subtype', '')}")
def test_what_a_line_leaves_out_is_no_error(line: dict[str, Any]) -> None:
    assert type(received(line)) is class_of(line)


def test_words_unknown_to_this_version_are_passed_on() -> None:
    assert received({**example("assistant"), "error": "gremlins"}).error == "gremlins"
    assert received({"type": "result", "subtype": "error_solar_flare"}).subtype == "error_solar_flare"
    assert received(system("status", status="levitating", permissionMode="zen")).permission_mode == "zen"


def test_an_assistant_message_shows_its_inner_message() -> None:
    message = received(example("assistant"))
    assert message.content == [TextBlock("Done.")]
    assert (message.model, message.message_id, message.stop_reason) == ("claude-x", "msg_1", "end_turn")
    assert (message.parent_tool_use_id, message.error) == ("tu", "rate_limit")
    assert (message.uuid, message.session_id) == ("u-1", "s-1")
    assert message.usage["input_tokens"] == message.typed_usage.input_tokens == 10
    match message:
        case m.AssistantMessage(content=[TextBlock(text=text)]):
            assert text == "Done."
        case _:
            pytest.fail("the official SDK's way of matching does not work")


def test_a_user_message_shows_its_inner_message() -> None:
    message = received(example("user"))
    assert message.content == [ToolResultBlock("tu", "ok", False)]
    assert message.tool_use_result == {"stdout": "ok"}
    assert (message.is_replay, message.is_synthetic, message.should_query) == (True, True, False)
    assert message.origin["from"] == MessageOrigin.of(message.origin).from_ == "them"
    assert received({"type": "user", "message": {"role": "user", "content": "hi"}}).content == "hi"


def test_a_user_message_built_here_is_what_the_cli_wants_on_stdin() -> None:
    message = m.UserMessage(message=m.MessageParam("hi"), session_id="", should_query=False)
    assert message.to_dict() == {
        "type": "user",
        "message": {"role": "user", "content": "hi"},
        "session_id": "",
        "shouldQuery": False,
    }


def test_a_result_has_the_official_names_and_order() -> None:
    message = received(example("result"))
    assert message.model_usage["claude-x"]["costUSD"] == message.typed_model_usage["claude-x"].cost_usd == 0.25
    assert message.usage["output_tokens"] == 4
    assert message.permission_denials[0]["tool_name"] == "Bash"
    assert message.deferred_tool_use == DeferredToolUse("tu", "Bash", {})
    assert message.origin["kind"] == "task-notification"
    built = m.ResultMessage("success", 5, 4, False, 1, "s")
    assert built.to_dict() == {
        "type": "result",
        "subtype": "success",
        "duration_ms": 5,
        "duration_api_ms": 4,
        "is_error": False,
        "num_turns": 1,
        "session_id": "s",
    }


def test_a_rate_limit_has_its_raw_dict() -> None:
    message = received(example("rate_limit_event"))
    info = message.rate_limit_info
    assert isinstance(info, RateLimitInfo)
    assert (info.status, info.resets_at, info.rate_limit_type) == ("allowed_warning", 1900000000, "five_hour")
    assert info.raw == example("rate_limit_event")["rate_limit_info"]
    assert RateLimitInfo("rejected", 5).raw == {}


def test_hook_lines_are_hook_events() -> None:
    for subtype in ("hook_started", "hook_progress", "hook_response"):
        message = received(example("system", subtype))
        assert isinstance(message, HookEventMessage)
        assert message.hook_event_name == "Stop"
    assert received({"type": "system", "subtype": "hook_started"}).hook_event_name == ""


def test_the_end_of_a_task_is_seen_in_both_its_messages() -> None:
    notified = received(example("system", "task_notification"))
    updated = received(example("system", "task_updated"))
    assert notified.status in TERMINAL_TASK_STATUSES
    assert updated.status in TERMINAL_TASK_STATUSES
    assert updated.patch["end_time"] == TaskPatch.of(updated.patch).end_time == 5
    assert received(system("task_updated", task_id="t")).status is None


def test_typed_system_messages_are_still_system_messages_with_data() -> None:
    for line in LINES:
        if line["type"] == "system":
            message = received(line)
            assert isinstance(message, m.SystemMessage)
            assert (message.subtype, message.data) == (line["subtype"], line)


def with_novelty(line: dict[str, Any], *path: str) -> dict[str, Any]:
    """The line with one more key in the object at ``path``."""
    if not path:
        return {**line, "novel": 1}
    return {**line, path[0]: with_novelty(line[path[0]], *path[1:])}


@pytest.mark.parametrize(
    ("kind", "subtype", "path", "attributes"),
    [
        ("assistant", None, ["message", "usage"], ["usage"]),
        ("assistant", None, ["message", "usage"], ["typed_usage"]),
        ("user", None, ["origin"], ["origin"]),
        ("result", None, ["usage"], ["usage"]),
        ("result", None, ["usage"], ["typed_usage"]),
        ("result", None, ["origin"], ["origin"]),
        ("rate_limit_event", None, ["rate_limit_info"], ["rate_limit_info"]),
        ("system", "task_updated", ["patch"], ["patch"]),
        ("system", "task_progress", ["usage"], ["usage"]),
    ],
)
def test_keys_of_tomorrow_are_answered(kind: str, subtype: str | None, path: list[str], attributes: list[str]) -> None:
    part = received(with_novelty(example(kind, subtype), *path))
    for name in attributes:
        part = getattr(part, name)
    assert part["novel"] == 1
    assert part.get("absent") is None
    assert "novel" in list(part)


def test_keys_of_tomorrow_are_in_the_data_of_every_message() -> None:
    for line in LINES:
        for key in (key for key, value in line.items() if isinstance(value, dict)):
            assert decode(json.dumps(with_novelty(line, key)).encode()).data[key]["novel"] == 1


def test_keys_of_tomorrow_are_answered_for_each_model() -> None:
    message = received(with_novelty(example("result"), "modelUsage", "claude-x"))
    assert message.model_usage["claude-x"]["novel"] == 1
    assert dict(message.model_usage["claude-x"])["novel"] == 1


def test_an_object_built_here_has_only_what_it_was_given() -> None:
    usage = Usage(input_tokens=3)
    assert dict(usage) == {"input_tokens": 3}
    with pytest.raises(KeyError):
        usage["output_tokens"]
    message = m.AssistantMessage([ToolUseBlock("i", "n", {})], "claude-x", usage=dict(usage))
    assert message.usage == {"input_tokens": 3}
    assert message.to_dict()["message"]["usage"] == {"input_tokens": 3}
