"""Turns, sessions and ends."""

from __future__ import annotations

import pytest

from claims.reading import NEWEST, OLD, VERSIONS, talk
from protocol.pair import Pair, init, kinds, result, system
from quarterdeck.protocol import InputClosed


@pytest.mark.parametrize("version", VERSIONS)
def test_a_single_turn_has_this_order(version: str) -> None:
    assert talk("plain_turn", version).kinds() == ["control_response", "system/init", "assistant", "result"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_turn_has_its_own_init_and_result(version: str) -> None:
    run = talk("multi_turn", version)
    assert run.kinds()[1:] == ["system/init", "assistant", "result"] * 3
    assert len({line["session_id"] for line in run.of("system", "init")}) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_costs_add_up_over_the_process_and_usage_is_of_the_turn(version: str) -> None:
    results = talk("multi_turn", version).of("result")
    costs = [result["total_cost_usd"] for result in results]
    assert costs == sorted(set(costs))
    assert [result["usage"]["input_tokens"] for result in results] == [50, 50, 50]
    assert [result["num_turns"] for result in results] == [1, 1, 1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_prompt_in_mid_turn_waits_for_its_own_turn(version: str) -> None:
    run = talk("two_prompts_at_once", version)
    assert [result["result"] for result in run.of("result")] == ["First answer.", "Second answer."]


def test_a_queued_prompt_with_an_id_is_followed() -> None:
    lines = talk("user_message_queued_mid_turn").of("command_lifecycle")
    states: dict[str, list[str]] = {}
    for line in lines:
        states.setdefault(line["command_uuid"], []).append(line["state"])
    assert list(states.values()) == [["queued", "started", "completed"]] * 2


def test_the_content_of_a_prompt_is_a_text_or_blocks_also_an_image() -> None:
    assert talk("user_content_string").result["subtype"] == "success"
    run = talk("image_in_user_message")
    text, image = run.sent[0]["message"]["content"]
    assert (text["type"], image["type"], image["source"]["type"]) == ("text", "image", "base64")
    assert run.result["subtype"] == "success"


def test_the_session_id_of_a_prompt_is_ignored() -> None:
    run = talk("user_message_with_wrong_session_id")
    assert run.sent[0]["session_id"] not in ("", run.init["session_id"])
    assert run.result["subtype"] == "success"


@pytest.mark.parametrize("version", VERSIONS)
def test_resume_keeps_the_id_and_replays_nothing(version: str) -> None:
    original, resumed = talk("resume_0_original", version), talk("resume_1_resumed", version)
    assert resumed.init["session_id"] == original.init["session_id"]
    assert resumed.kinds() == ["control_response", "system/init", "assistant", "result"]
    assert resumed.texts() == ["resumed"]


def test_resume_replays_nothing_even_with_the_flag_for_echoes() -> None:
    run = talk("resume_more_3_replay_flag")
    assert [line["message"]["content"] for line in run.of("user")] == [[{"type": "text", "text": "five"}]]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fork_has_a_new_id(version: str) -> None:
    assert talk("resume_2_forked", version).init["session_id"] != talk("resume_0_original", version).init["session_id"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_cost_of_a_resumed_session_goes_on_only_on_the_newest_version(version: str) -> None:
    before = talk("resume_0_original", version).result["total_cost_usd"]
    after = talk("resume_1_resumed", version).result
    own = sum(usage["costUSD"] for usage in after["modelUsage"].values())
    assert after["total_cost_usd"] == pytest.approx(own)
    if version == NEWEST:
        assert after["total_cost_usd"] == pytest.approx(2 * before)
    elif version != "2.0.77":  # whose first turn has an errand of its own that costs too
        assert after["total_cost_usd"] == pytest.approx(before)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_unknown_session_cannot_be_resumed(version: str) -> None:
    run = talk("resume_unknown", version)
    reason = "No conversation found with session ID: 99999999-2222-4333-8444-555555555555"
    assert run.header.exit_code == 1
    if version == "2.0.77":
        assert (run.out, run.header.stderr.strip()) == ([], reason)
    else:
        assert (run.result["subtype"], run.result["is_error"]) == ("error_during_execution", True)
        assert (run.result["errors"], run.result["num_turns"]) == ([reason], 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_closing_stdin_lets_the_running_turn_end(version: str) -> None:
    run = talk("stdin_closed_mid_stream", version)
    assert (run.result["result"], run.header.exit_code) == ("The whole answer still comes.", 0)


def test_closing_stdin_denies_what_is_pending() -> None:
    run = talk("stdin_closed_while_permission_pending")
    assert "stream closed before response" in run.tool_results()[0]
    assert run.header.exit_code == 0


def test_the_exit_code_repeats_the_last_result() -> None:
    for scenario in ("plain_turn", "max_turns_error", "max_budget_error", "plan_reject", "api_error_401"):
        run = talk(scenario)
        assert run.header.exit_code == int(run.result["is_error"]), scenario


@pytest.mark.parametrize("version", VERSIONS)
def test_sigterm_ends_the_cli_at_once_with_143(version: str) -> None:
    run = talk("signal_SIGTERM_stream", version)
    assert (run.header.exit_code, run.of("result")) == (143, [])


def test_other_signals_have_their_own_ends() -> None:
    assert talk("signal_SIGINT_stream").header.exit_code == 0
    assert talk("signal_SIGINT_stream").result["subtype"] == "error_during_execution"
    assert talk("signal_SIGHUP_idle").header.exit_code == 129
    assert talk("signal_SIGKILL_idle").header.signal == "SIGKILL"


def test_our_input_stays_open_until_the_last_result_and_the_work_behind_it() -> None:
    pair = Pair()
    pair.host.send_user("hi")
    pair.host.finish_input()
    pair.cli.say(init())
    pair.cli.say(system("background_tasks_changed", tasks=[{"task_id": "b", "task_type": "local_bash"}]))
    pair.cli.say(result())
    assert InputClosed not in map(type, pair.to_host())
    pair.cli.say(system("background_tasks_changed", tasks=[]))
    assert kinds(pair.to_host())[-1] == "InputClosed"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_command_in_the_background_is_told_of_since_2_1_52(version: str) -> None:
    open_, closed = talk("background_bash_stdin_open", version), talk("background_bash", version)
    told = version in ("2.1.52", NEWEST)
    for run in (open_, closed):
        assert "Command running in background with ID: " in run.tool_results()[0]
        ends = [(line["status"], bool(line["output_file"])) for line in run.of("system", "task_notification")]
        assert ends == ([("completed", True)] if told else [])
        assert len(run.of("result")) == (2 if told else 1)
        assert len(run.of("system", "init")) == (2 if told else 1)


def test_tasks_are_told_of_in_full_on_the_newest_version() -> None:
    run = talk("background_bash_task_notification")
    (started,) = run.of("system", "task_started")
    (ended,) = run.of("system", "task_notification")
    assert (started["task_type"], started["description"]) == ("local_bash", "sleep 2; echo bgdone")
    assert (ended["task_id"], ended["tool_use_id"]) == (started["task_id"], started["tool_use_id"])
    assert ended["summary"]
    assert [len(line["tasks"]) for line in run.of("system", "background_tasks_changed")] == [1, 0]
    assert [line["patch"]["status"] for line in run.of("system", "task_updated")] == ["completed"]


def test_a_stopped_task_says_so() -> None:
    (ended,) = talk("background_bash_stop_task").of("system", "task_notification")
    assert ended["status"] == "stopped"


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_of_a_sub_agent_carry_the_call_it_came_from(version: str) -> None:
    run = talk("subagent_foreground", version)
    call = next(
        block["id"]
        for line in run.of("assistant")
        for block in line["message"]["content"]
        if block["type"] == "tool_use" and block["name"] == "Task"
    )
    below = [line for line in run.out if line.get("parent_tool_use_id")]
    assert [line["type"] for line in below] == ["user", "assistant", "user"]
    assert {line["parent_tool_use_id"] for line in below} == {call}
    assert all(line["parent_tool_use_id"] is None for line in run.of("stream_event"))


def test_progress_of_a_sub_agent_tells_its_tool_and_its_usage() -> None:
    (line,) = talk("subagent_foreground").of("system", "task_progress")
    assert line["last_tool_name"] == "Bash"
    assert set(line["usage"]) == {"duration_ms", "tool_uses", "total_tokens"}
    (ended,) = talk("subagent_foreground").of("system", "task_notification")
    assert set(ended["usage"]) >= {"duration_ms", "tool_uses", "total_tokens"}


def test_a_sub_agent_runs_in_the_background_unless_told_otherwise_on_the_newest_version() -> None:
    (background,) = talk("subagent_background").of("system", "task_started")
    (foreground,) = talk("subagent_foreground").of("system", "task_started")
    assert (background["is_backgrounded"], foreground["is_backgrounded"]) == (True, False)
    assert len(talk("subagent_background").of("result")) == 2


@pytest.mark.parametrize("version", OLD)
def test_a_sub_agent_blocks_on_older_versions(version: str) -> None:
    run = talk("subagent_foreground", version)
    assert run.texts()[-1] == "The helper is back."
    assert len(run.of("result")) == 1
