"""The handshake and the control requests of both directions."""

from __future__ import annotations

import pytest

from claims.reading import NEWEST, OLD, VERSIONS, every_talk, talk
from quarterdeck.wire import OUTGOING_REQUESTS, InitializeRequest
from quarterdeck.wire.inbound import INCOMING_REQUESTS

PAYLOAD = {"commands", "output_style", "available_output_styles", "models", "account"}


@pytest.mark.parametrize("version", VERSIONS)
def test_initialize_answers_with_commands_models_and_account(version: str) -> None:
    (answer,) = talk("plain_turn", version).answers("initialize")
    assert answer["subtype"] == "success"
    payload = answer["response"]
    assert set(payload) >= PAYLOAD
    assert {"name", "description", "argumentHint"} <= set(payload["commands"][0])
    assert set(payload["available_output_styles"]) >= {"default", "Explanatory", "Learning"}
    assert payload["account"]["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert ("pid" in payload) is (version in ("2.1.52", NEWEST))
    assert ("agents" in payload) is ("capabilities" in payload) is (version == NEWEST)


@pytest.mark.parametrize("version", VERSIONS)
def test_init_follows_the_prompt_and_not_the_handshake(version: str) -> None:
    assert talk("stdin_closed_after_initialize", version).kinds() == ["control_response"]


def test_no_handshake_is_needed() -> None:
    run = talk("no_initialize")
    assert run.kinds() == ["system/init", "assistant", "result"]


def test_prompt_and_handshake_may_come_in_either_order_or_at_once() -> None:
    for scenario in ("initialize_and_user_written_together", "user_first_then_initialize"):
        run = talk(scenario)
        assert [answer["subtype"] for answer in run.answers("initialize")] == ["success"]
        assert run.kinds()[-3:] == ["system/init", "assistant", "result"]


def test_the_handshake_may_be_repeated() -> None:
    assert [answer["subtype"] for answer in talk("initialize_twice").answers("initialize")] == ["success", "success"]


def test_unknown_fields_of_the_handshake_are_ignored() -> None:
    run = talk("initialize_unknown_fields")
    assert set(run.sent[0]["request"]) == {"subtype", "protocolVersion", "features", "mcpServers"}
    (answer,) = run.answers("initialize")
    assert set(answer["response"]) >= PAYLOAD
    assert run.init["mcp_servers"] == []


def test_a_pending_permission_is_listed_with_the_success_of_a_repeated_handshake() -> None:
    run = talk("initialize_again_with_pending_permission")
    first, second = run.answers("initialize")
    (asked,) = run.of("control_request")
    assert first["pending_permission_requests"] == []
    assert second["subtype"] == "success"
    (pending,) = second["pending_permission_requests"]
    assert (pending["request_id"], pending["request"]) == (asked["request_id"], asked["request"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_system_prompt_may_be_a_text(version: str) -> None:
    run = talk("system_prompt_text", version)
    assert run.sent[0]["request"]["systemPrompt"] == "Say PARROT-WORD."
    assert run.texts() == ["The prompt arrived."]


def test_the_fields_of_the_handshake_have_a_place_in_our_request() -> None:
    fields = set(InitializeRequest.__struct_encode_fields__)
    assert fields >= {"hooks", "sdkMcpServers", "jsonSchema", "systemPrompt", "appendSystemPrompt", "agents"}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_interrupt_is_acknowledged_and_ends_the_turn(version: str) -> None:
    run = talk("interrupt_mid_stream", version)
    (answer,) = run.answers("interrupt")
    assert answer.get("response") == ({"still_queued": []} if version == NEWEST else None)
    assert [result["subtype"] for result in run.of("result")] == ["error_during_execution", "success"]
    assert run.of("control_request") == []
    assert run.texts()[-1] == "Still here."


@pytest.mark.parametrize("version", VERSIONS)
def test_an_interrupt_takes_a_pending_permission_request_back(version: str) -> None:
    run = talk("interrupt_while_permission_pending", version)
    (asked,) = run.of("control_request")
    (cancelled,) = run.of("control_cancel_request")
    assert cancelled == {"type": "control_cancel_request", "request_id": asked["request_id"]}
    assert run.result["subtype"] == "error_during_execution"


def test_the_host_may_take_its_own_request_back() -> None:
    (answer,) = talk("sdk_control_cancel_request_own").answers("side_question")
    assert (answer["subtype"], answer["error"]) == ("error", "Side question cancelled")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_model_changes_in_mid_session(version: str) -> None:
    run = talk("set_model_mode_thinking", version)
    models = [line["message"]["model"] for line in run.of("assistant")]
    assert "haiku" not in models[0]
    assert "haiku" in models[1]
    (answer,) = run.answers("set_model")
    assert ("response" in answer) is (version == NEWEST)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_model_goes_back_to_the_default(version: str) -> None:
    run = talk("modes_and_model_reset", version)
    assert run.sent[-1]["request"] == {"subtype": "set_model"}
    (answer,) = run.answers("set_model")
    assert answer["subtype"] == "success"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_limit_for_thinking_is_set_and_cleared(version: str) -> None:
    answers = talk("thinking_limit_cleared", version).answers("set_max_thinking_tokens")
    assert [set(answer) for answer in answers] == [{"subtype", "request_id"}] * 2
    assert [answer["subtype"] for answer in answers] == ["success", "success"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_change_of_mode_is_answered_twice_up_to_2_1_25(version: str) -> None:
    answers = talk("set_model_mode_thinking", version).answers("set_permission_mode")
    bare = {"subtype": "success", "request_id": "req_3"}
    twice = version in ("2.0.77", "2.1.17", "2.1.25")
    assert answers == [bare | {"response": {"mode": "acceptEdits"}}, *([bare] if twice else [])]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_status_of_servers_is_an_object_with_a_list(version: str) -> None:
    first, _ = talk("mcp_status_and_set_servers", version).answers("mcp_status")
    (server,) = first["response"]["mcpServers"]
    assert (server["name"], server["status"]) == ("st", "connected")
    assert server["serverInfo"] == {"name": "echo", "version": "1"}


@pytest.mark.parametrize("version", VERSIONS)
def test_servers_are_added_while_the_session_runs(version: str) -> None:
    run = talk("mcp_status_and_set_servers", version)
    (answer,) = run.answers("mcp_set_servers")
    result = answer["response"]
    assert (result["added"], result["removed"], list(result["errors"])) == (["second", "bad"], [], ["bad"])
    _, after = run.answers("mcp_status")
    assert {server["name"] for server in after["response"]["mcpServers"]} == {"st", "second", "bad"}


@pytest.mark.parametrize("version", VERSIONS)
def test_servers_are_reconnected_and_toggled_since_2_1_17(version: str) -> None:
    run = talk("mcp_reconnect_and_toggle", version)
    answers = [*run.answers("mcp_reconnect"), *run.answers("mcp_toggle")]
    expected = {"2.0.77": [], "2.1.17": ["error", "error"]}  # 2.1.17 knows no servers of --mcp-config here
    assert [answer["subtype"] for answer in answers] == expected.get(version, ["success", "success"])


@pytest.mark.parametrize("version", VERSIONS)
def test_an_unknown_request_is_answered_with_an_error_since_2_1_52(version: str) -> None:
    run = talk("control_unknown_subtype", version)
    answers = run.answers("totally_unknown_subtype")
    if version in ("2.0.77", "2.1.17", "2.1.25"):
        assert answers == []
    else:
        (answer,) = answers
        assert answer["error"] == "Unsupported control request subtype: totally_unknown_subtype"
        assert answer.get("error_code") == ("unsupported_request" if version == NEWEST else None)
    assert run.result["subtype"] == "success"


@pytest.mark.parametrize("version", VERSIONS)
def test_files_that_cannot_be_rewound_are_a_result_when_dry_and_else_an_error(version: str) -> None:
    dry, real = talk("rewind_without_checkpoint", version).answers("rewind_files")
    reason = "No file checkpoint found for this message."
    assert dry["response"] == {"canRewind": False, "error": reason}
    assert (real["subtype"], real["error"]) == ("error", reason)


def test_files_are_rewound_and_a_dry_run_counts_first() -> None:
    dry, real, unknown = talk("rewind_files").answers("rewind_files")
    assert dry["response"] == {
        "canRewind": True,
        "filesChanged": ["/tmp/qd/rewind_files/repo/new.txt"],
        "insertions": dry["response"]["insertions"],
        "deletions": dry["response"]["deletions"],
    }
    assert real["response"]["canRewind"] is True
    assert unknown["subtype"] == "error"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_mcp_server_in_the_host_is_reached_by_messages(version: str) -> None:
    run = talk("sdk_server_by_initialize_alone", version)
    asked = run.asked("mcp_message")
    assert [request["message"]["method"] for request in asked] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
    ]
    assert {request["server_name"] for request in asked} == {"calc"}
    assert all(request["message"]["jsonrpc"] == "2.0" for request in asked)
    assert run.tool_results() == [[{"type": "text", "text": "5"}]]
    answers = [line["response"]["response"] for line in run.sent if line["type"] == "control_response"]
    assert all(set(answer) == {"mcp_response"} for answer in answers)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_named_twice_is_connected_twice_up_to_2_1_52(version: str) -> None:
    methods = [request["message"]["method"] for request in talk("sdk_mcp", version).asked("mcp_message")]
    assert methods.count("initialize") == (2 if version in OLD else 1)


def test_the_host_may_send_messages_of_its_server_too() -> None:
    run = talk("sdk_mcp_error_and_list_changed")
    assert [answer["subtype"] for answer in run.answers("mcp_message")] == ["success"]
    assert [request["message"]["method"] for request in run.asked("mcp_message")].count("tools/list") == 2


def test_several_requests_are_answered_in_mid_turn() -> None:
    run = talk("parallel_control_requests_in_turn")
    before_result = run.kinds()[: run.kinds().index("result")]
    assert before_result.count("control_response") == 5


@pytest.mark.parametrize("version", VERSIONS)
def test_the_cli_asks_only_what_we_know(version: str) -> None:
    asked = {line["request"]["subtype"] for one in every_talk(version) for line in one.of("control_request")}
    assert asked <= set(INCOMING_REQUESTS) - {"sdk_control_interrupt"}
    assert asked >= {"can_use_tool", "hook_callback", "mcp_message"}


def test_every_request_of_the_specifications_has_a_class() -> None:
    assert set(OUTGOING_REQUESTS) >= {
        "initialize",
        "interrupt",
        "set_model",
        "set_max_thinking_tokens",
        "set_permission_mode",
        "mcp_status",
        "mcp_set_servers",
        "mcp_message",
        "mcp_reconnect",
        "mcp_toggle",
        "rewind_files",
    }
    assert set(INCOMING_REQUESTS) >= {"can_use_tool", "hook_callback", "mcp_message", "sdk_control_interrupt"}


def test_keep_alive_on_stdin_is_taken_without_a_word() -> None:
    run = talk("keep_alive_on_stdin")
    assert run.sent[0] == {"type": "keep_alive"}
    assert run.kinds() == ["system/init", "assistant", "result"]
