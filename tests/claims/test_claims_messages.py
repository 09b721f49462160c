"""What the CLI writes: every message type the specifications describe, on the real lines."""

from __future__ import annotations

import pytest

from claims.reading import NEWEST, OLD, VERSIONS, every_talk, talk
from quarterdeck.wire import MESSAGE_TYPES, SYSTEM_TYPES, AssistantMessage, decode, encode
from quarterdeck.wire.usage import RateLimitType

INIT_KEYS = {
    "agents",
    "apiKeySource",
    "claude_code_version",
    "cwd",
    "mcp_servers",
    "model",
    "output_style",
    "permissionMode",
    "plugins",
    "session_id",
    "skills",
    "slash_commands",
    "subtype",
    "tools",
    "type",
    "uuid",
}
RESULT_KEYS = {
    "duration_api_ms",
    "duration_ms",
    "is_error",
    "modelUsage",
    "num_turns",
    "permission_denials",
    "session_id",
    "subtype",
    "total_cost_usd",
    "type",
    "usage",
    "uuid",
}
USAGE_KEYS = {"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}
MODEL_USAGE_KEYS = {
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
    "webSearchRequests",
    "costUSD",
    "contextWindow",
}
IDENTITY = {"session_id", "uuid"}


@pytest.mark.parametrize("version", VERSIONS)
def test_init_has_the_keys_of_the_specifications_and_tools_are_names(version: str) -> None:
    init = talk("plain_turn", version).init
    assert set(init) >= INIT_KEYS
    assert init["claude_code_version"] == version
    assert all(isinstance(tool, str) for tool in init["tools"])
    assert {"Task", "Bash", "Read", "Write", "Edit"} <= set(init["tools"])
    assert all(isinstance(command, str) for command in init["slash_commands"])
    assert init["output_style"] == "default"


@pytest.mark.parametrize("version", VERSIONS)
def test_init_names_mcp_servers_with_their_status(version: str) -> None:
    (server,) = talk("mcp_status_and_set_servers", version).init["mcp_servers"]
    assert (server["name"], server["status"]) == ("st", "connected")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_source_of_the_key_is_a_variable_or_none(version: str) -> None:
    sources = {line["apiKeySource"] for one in every_talk(version) for line in one.of("system", "init")}
    assert sources <= {"ANTHROPIC_API_KEY", "none"}
    assert "ANTHROPIC_API_KEY" in sources


def test_without_a_key_its_source_is_none() -> None:
    assert talk("no_api_key").init["apiKeySource"] == "none"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_assistant_message_has_one_block_and_shares_its_id_with_the_others(version: str) -> None:
    run = talk("assistant_multi_block_split", version)
    first = [line["message"] for line in run.of("assistant")][:4]
    assert [[block["type"] for block in message["content"]] for message in first] == [
        ["thinking"],
        ["text"],
        ["tool_use"],
        ["tool_use"],
    ]
    assert len({message["id"] for message in first}) == 1
    everything = [line for one in every_talk(version) for line in one.of("assistant")]
    assert {len(line["message"]["content"]) for line in everything} == {1}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_assistant_message_has_the_envelope_of_the_specifications(version: str) -> None:
    (line,) = talk("plain_turn", version).of("assistant")
    assert set(line) >= {"message", "parent_tool_use_id", "type"} | IDENTITY
    assert line["parent_tool_use_id"] is None
    message = line["message"]
    assert set(message) >= {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}
    assert set(message["usage"]) >= USAGE_KEYS
    assert message["content"] == [{"type": "text", "text": "Hello from the scripted model."}]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_stop_reason_of_an_assistant_message_is_null_but_sometimes_filled_on_2_0_77(version: str) -> None:
    reasons = {line["message"]["stop_reason"] for line in talk("assistant_multi_block_split", version).of("assistant")}
    assert reasons == ({None, "tool_use", "end_turn"} if version == "2.0.77" else {None})


def test_an_answer_cut_by_its_length_is_continued_by_the_cli_itself() -> None:
    run = talk("api_stop_max_tokens")
    assert run.texts()[:4] == ["Cut off by the lim"] * 4
    assert (run.result["subtype"], run.result["is_error"]) == ("success", True)
    assert run.of("assistant")[-1]["error"] == "max_output_tokens"


@pytest.mark.parametrize("version", VERSIONS)
def test_thinking_is_a_block_of_its_own_and_streams_as_thinking_deltas(version: str) -> None:
    run = talk("thinking_blocks", version)
    assert [line["message"]["content"][0]["type"] for line in run.of("assistant")] == ["thinking", "text"]
    deltas = [line["event"]["delta"].get("type") for line in run.of("stream_event") if "delta" in line["event"]]
    assert {"thinking_delta", "signature_delta", "text_delta"} <= set(deltas)


def test_thinking_may_be_redacted() -> None:
    run = talk("redacted_thinking_and_tool_summary")
    assert "redacted_thinking" in [line["message"]["content"][0]["type"] for line in run.of("assistant")]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_tool_result_comes_as_a_user_message_with_its_structure(version: str) -> None:
    run = talk("perm_allow", version)
    (line,) = run.of("user")
    (block,) = line["message"]["content"]
    call = next(b for one in run.of("assistant") for b in one["message"]["content"] if b["type"] == "tool_use")
    assert (block["type"], block["tool_use_id"], block["is_error"]) == ("tool_result", call["id"], False)
    assert {"stdout", "stderr", "interrupted"} <= set(line["tool_use_result"])
    assert line["parent_tool_use_id"] is None
    assert line["message"]["role"] == "user"
    assert set(line) >= IDENTITY


@pytest.mark.parametrize("version", VERSIONS)
def test_prompts_are_echoed_only_when_asked_for(version: str) -> None:
    assert talk("plain_turn", version).of("user") == []
    echoed = [line for line in talk("replay_user_messages_echo", version).of("user") if line.get("isReplay")]
    assert [line["message"]["content"] for line in echoed] == [[{"type": "text", "text": "echo me"}]]


@pytest.mark.parametrize("version", VERSIONS)
def test_synthetic_marks_words_of_the_cli_itself_and_never_a_tool_result(version: str) -> None:
    marked = [line for one in every_talk(version) for line in one.of("user") if line.get("isSynthetic")]
    assert bool(marked) is (version == NEWEST)
    assert not any("tool_result" in str(line["message"]["content"]) for line in marked)


@pytest.mark.parametrize("version", VERSIONS)
def test_deltas_come_only_when_asked_for_and_follow_the_api(version: str) -> None:
    assert talk("plain_turn", version).of("stream_event") == []
    lines = talk("partial_messages", version).of("stream_event")
    types = [line["event"]["type"] for line in lines]
    assert types[:2] == ["message_start", "content_block_start"]
    assert types[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(types[2:-3]) == {"content_block_delta"}
    text = "".join(line["event"]["delta"]["text"] for line in lines if line["event"]["type"] == "content_block_delta")
    assert text == talk("partial_messages", version).result["result"]
    assert all(set(line) >= {"event", "parent_tool_use_id"} | IDENTITY for line in lines)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_input_of_a_tool_streams_as_json_deltas(version: str) -> None:
    events = [line["event"] for line in talk("perm_allow", version).of("stream_event")]
    starts = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    assert starts == ["text", "tool_use", "text"]
    assert "input_json_delta" in {event["delta"]["type"] for event in events if event["type"] == "content_block_delta"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_result_has_the_keys_of_the_specifications(version: str) -> None:
    result = talk("plain_turn", version).result
    assert set(result) >= RESULT_KEYS | {"result"}
    assert (result["subtype"], result["is_error"], result["result"]) == (
        "success",
        False,
        "Hello from the scripted model.",
    )
    assert set(result["usage"]) >= USAGE_KEYS
    (of_model,) = result["modelUsage"].values()
    assert set(of_model) >= MODEL_USAGE_KEYS
    assert ("maxOutputTokens" in of_model) is (version != "2.0.77")
    assert result["permission_denials"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_denial_is_listed_in_the_result(version: str) -> None:
    (denial,) = talk("perm_deny", version).result["permission_denials"]
    assert denial == {
        "tool_name": "Bash",
        "tool_use_id": denial["tool_use_id"],
        "tool_input": {"command": "touch made.txt", "description": "Make a file"},
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_result_that_broke_the_turn_limit_has_errors_in_place_of_a_result(version: str) -> None:
    run = talk("max_turns_error", version)
    limited, fine = run.of("result")
    assert (limited["subtype"], limited["num_turns"]) == ("error_max_turns", 2)
    assert "result" not in limited
    if version == NEWEST:
        assert (limited["is_error"], limited["errors"]) == (True, ["Reached maximum number of turns (1)"])
    else:
        assert (limited["is_error"], limited["errors"]) == (False, [])
    assert fine["subtype"] == "success"


def test_a_result_that_broke_the_budget_says_so_each_time() -> None:
    results = talk("max_budget_error").of("result")
    assert [result["subtype"] for result in results] == ["error_max_budget_usd"] * 2
    assert all(result["errors"] and result["is_error"] for result in results)


def test_a_result_without_valid_structure_says_so() -> None:
    result = talk("structured_output_never_valid").result
    assert (result["subtype"], result["is_error"]) == ("error_max_structured_output_retries", True)
    assert "Failed to provide valid structured output" in result["errors"][0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_failed_api_call_is_a_success_with_is_error_and_never_a_line_of_type_error(version: str) -> None:
    run = talk("api_error_400", version)
    assert (run.result["subtype"], run.result["is_error"]) == ("success", True)
    assert run.result["result"].startswith("API Error: 400")
    assert (run.of("assistant")[0]["message"]["model"], run.of("assistant")[0]["error"]) == ("<synthetic>", "unknown")
    assert run.header.exit_code == 1
    assert not any(one.of("error") for one in every_talk(version))


def test_an_overloaded_api_is_told_as_retries_and_then_as_a_result() -> None:
    run = talk("api_error_529_exhausted")
    assert [(line["attempt"], line["error_status"], line["error"]) for line in run.of("system", "api_retry")] == [
        (1, 529, "overloaded"),
        (2, 529, "overloaded"),
    ]
    assert run.result["api_error_status"] == 529


@pytest.mark.parametrize("version", OLD)
def test_older_versions_retry_without_a_word(version: str) -> None:
    run = talk("api_error_529_then_ok", version)
    assert run.kinds() == ["control_response", "system/init", "assistant", "result"]
    assert run.texts() == ["The second try worked."]


@pytest.mark.parametrize("version", OLD)
def test_after_a_broken_stream_older_versions_just_say_it_again_whole(version: str) -> None:
    run = talk("api_stream_cut", version)
    types = [line["event"]["type"] for line in run.of("stream_event")]
    assert types == ["message_start", "content_block_start", "content_block_delta"]
    assert run.texts() == ["The second try is whole."]
    assert run.result["usage"]["input_tokens"] == 0  # the second call is not counted


def test_after_a_broken_stream_the_newest_version_says_which_blocks_are_void() -> None:
    run = talk("api_stream_error_event")
    last = run.of("stream_event")[-1]
    started = run.of("stream_event")[0]["event"]["message"]["id"]
    assert last["event"]["type"] == "message_stop"
    assert last["abandoned_blocks"] == {"api_message_id": started, "from_block_index": 0}
    assert run.of("assistant")[0]["message"]["id"] != started


@pytest.mark.parametrize("version", VERSIONS)
def test_a_compaction_is_told_by_status_and_boundary(version: str) -> None:
    run = talk("compact_slash", version)
    told = [line["status"] for line in run.of("system", "status") if line["status"] != "requesting"]
    assert told == ["compacting", None]
    (boundary,) = run.of("system", "compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert boundary["compact_metadata"]["pre_tokens"] > 0
    assert set(boundary) >= IDENTITY


def test_the_status_also_tells_requests_and_modes_on_the_newest_version() -> None:
    statuses = {line["status"] for one in every_talk(NEWEST) for line in one.of("system", "status")}
    assert statuses == {"requesting", "compacting", None}
    modes = [line.get("permissionMode") for line in talk("set_model_mode_thinking").of("system", "status")]
    assert modes == ["acceptEdits"]
    for one in every_talk(NEWEST):
        if any(line["status"] == "requesting" for line in one.of("system", "status")):
            assert "--include-partial-messages" in one.header.argv


def test_progress_of_a_tool_is_a_heartbeat_after_thirty_seconds() -> None:
    run = talk("tool_progress_slow_mcp_tool")
    call = run.of("assistant")[0]["message"]["content"][0]["id"]
    (line,) = run.of("tool_progress")
    assert {key: line[key] for key in line if key not in IDENTITY} == {
        "type": "tool_progress",
        "tool_use_id": f"{call}-heartbeat-0",
        "tool_name": "mcp__st__slow",
        "parent_tool_use_id": call,
        "elapsed_time_seconds": 30,
        "heartbeat": True,
    }


def test_tool_calls_may_be_summed_up() -> None:
    run = talk("redacted_thinking_and_tool_summary")
    (line,) = run.of("tool_use_summary")
    calls = [b["id"] for one in run.of("assistant") for b in one["message"]["content"] if b["type"] == "tool_use"]
    assert (line["summary"], line["preceding_tool_use_ids"]) == ("ok", calls)


def test_the_state_of_a_login_is_told_when_asked_for() -> None:
    (line,) = talk("enable_auth_status").of("auth_status")
    assert (line["isAuthenticating"], line["output"]) == (False, [])


@pytest.mark.parametrize("version", VERSIONS)
def test_keep_alive_is_rare_and_not_periodic(version: str) -> None:
    found = [(one.header.scenario, len(one.of("keep_alive"))) for one in every_talk(version) if one.of("keep_alive")]
    assert found == ([("keep_alive_in_slow_mcp_call", 1)] if version == NEWEST else [])


def test_a_rate_limit_is_told_in_the_shape_of_the_specification() -> None:
    (line,) = talk("rate_limit_event").of("rate_limit_event")
    assert line["rate_limit_info"] == {
        "status": "allowed_warning",
        "resetsAt": 1900000000,
        "rateLimitType": "five_hour",
        "utilization": 0.92,
        "overageStatus": "rejected",
        "isUsingOverage": False,
        "surpassedThreshold": 0.9,
    }
    assert "hourly" not in RateLimitType.__args__  # type: ignore[attr-defined]
    assert set(line) >= IDENTITY


def test_every_message_type_of_the_specifications_has_a_class() -> None:
    types = {str(cls.__struct_config__.tag) for cls in MESSAGE_TYPES}
    assert types >= {
        "assistant",
        "user",
        "result",
        "stream_event",
        "system",
        "tool_progress",
        "tool_use_summary",
        "auth_status",
        "keep_alive",
        "rate_limit_event",
        "error",
    }
    assert set(SYSTEM_TYPES) >= {
        "init",
        "task_notification",
        "task_started",
        "task_progress",
        "compact_boundary",
        "status",
        "hook_started",
        "hook_progress",
        "hook_response",
        "files_persisted",
    }


def test_a_message_of_several_blocks_as_the_specifications_draw_it_is_understood_all_the_same() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]
    message = {"role": "assistant", "model": "m", "content": content, "stop_reason": "tool_use"}
    decoded = decode(encode({"type": "assistant", "message": message}))
    assert isinstance(decoded, AssistantMessage)
    assert [type(block).__name__ for block in decoded.content] == ["TextBlock", "ToolUseBlock"]


def test_a_line_can_be_longer_than_any_fixed_buffer_for_lines() -> None:
    assert max(len(text) for text in talk("big_stdout_line").texts()) == 1024 * 1024


@pytest.mark.parametrize("version", VERSIONS)
def test_the_model_can_be_told_by_a_short_name(version: str) -> None:
    assert "haiku" in talk("set_model_mode_thinking", version).of("assistant")[-1]["message"]["model"]
    value = talk("plain_turn", version).answers("initialize")[0]["response"]["models"][0]
    assert {"value", "displayName", "description"} <= set(value)
