"""The simulator against what the real CLI did: the same scenario must give the same messages in the same order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conversations import ROOT, Entry, Recording, load
from conversations.scenarios import SCENARIOS
from testing.sim.stage import SimStage

NOT_CLAIMED = {
    "api_connection_refused": "the simulator has no network; script an error with status 0 instead",
    "no_api_key": "the simulator needs no key",
    "goal_command": "/goal is text for the model here",
    "refusal_with_fallback_model": "a refusal is not retried with another model",
    "hooks_settings_command_no_flag": "hooks that are commands of the settings are not run",
    "hooks_settings_command_include_events": "hooks that are commands of the settings are not run",
    "hooks_progress_slow_command": "hooks that are commands of the settings are not run",
    "keep_alive_in_slow_mcp_call": "takes 33 s; test_slow_work shows it in less",
    "tool_progress_slow_mcp_tool": "takes 33 s; test_slow_work shows it in less",
    "signal_SIGTERM_bash": "how much the CLI still says after SIGTERM is a matter of luck; the simulator says nothing",
}
IN_ANY_ORDER = {"subagent_background", "perm_parallel_two_subagents_in_flight", "user_first_then_initialize"}
"""Work side by side, or two writes while the CLI starts: the order depends on who is faster."""

PASSED_OVER = {"message_delta", "message_stop", "hook:InstructionsLoaded"}
"""Where the end of a stream falls among a tool's messages is a matter of time; instructions are not simulated."""


NOT_SAID = {
    "messaging_socket_path",  # there is no such socket
    "abandoned_blocks",
    "api_error_params",
    "refused_user_message_uuid",
    "refused_message_id",
    "thinking_display",  # on a few stream events
    "ttft_ms",  # the second reply of a turn has it too, sometimes
    "time_to_request_ms",
}
"""Keys of real messages that simulated ones of the same kind may lack."""


def shape(entries: list[Entry]) -> list[str]:
    """What was said, as type and subtype; pieces of a stream count once, however they were cut."""
    found: list[str] = []
    for entry in entries:
        if entry.eof or entry.direction != "out":
            continue
        message = json.loads(entry.line)
        word = _word(message)
        if word in PASSED_OVER or message["type"] == "transcript_mirror":
            continue
        inside = " inside" if message.get("parent_tool_use_id") else ""
        item = f"{message['type']} {word}{inside}"
        if item == "stream_event content_block_delta" and found[-1:] == [item]:
            continue
        found.append(item)
    return found


def _word(message: dict[str, Any]) -> str:
    request = message.get("request") or {}
    hook = request.get("input", {}).get("hook_event_name") if request.get("subtype") == "hook_callback" else None
    if hook:
        return f"hook:{hook}"
    places = (message, request, message.get("response") or {})
    word = next((place["subtype"] for place in places if place.get("subtype")), None)
    state = message.get("state", "")
    return f"{word or (message.get('event') or {}).get('type', '')}{state and f' {state}'}"


def recorded(name: str) -> Recording:
    plain = ROOT / "2.1.325" / f"{name}.ndjson"
    return load(plain if plain.exists() else plain.with_name(f"{name}.ndjson.gz"))


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in NOT_CLAIMED])
def test_the_simulator_says_what_the_real_cli_said(name: str, tmp_path: Path) -> None:
    stage = SimStage(name, tmp_path.resolve())

    SCENARIOS[name].play(stage)  # type: ignore[arg-type]  # it has all of a Stage that scenarios use

    assert stage.runs
    for run_name, run in stage.runs:
        recording = recorded(run_name)
        expected, said = shape(recording.entries), shape(run.entries)
        if name in IN_ANY_ORDER:
            expected, said = sorted(expected), sorted(said)
        elif said == expected:
            assert _missing_keys(recording.entries, run.entries) <= NOT_SAID
        killed = recording.header.signal == "SIGKILL"
        assert (said, run.exit_code) == (expected, -9 if killed else recording.header.exit_code)


def _missing_keys(real: list[Entry], simulated: list[Entry]) -> set[str]:
    """What real messages have that simulated ones in the same place lack, requests of the CLI included."""
    missing: set[str] = set()
    for theirs, ours in zip(_plain(real), _plain(simulated), strict=True):
        missing |= theirs.keys() - ours.keys()
        if theirs["type"] == "control_request":
            missing |= theirs["request"].keys() - ours["request"].keys()
    return missing


def _plain(entries: list[Entry]) -> list[dict[str, Any]]:
    """The messages whose order is certain and whose number does not depend on how streams are cut."""
    lines = [json.loads(entry.line) for entry in entries if entry.direction == "out" and not entry.eof]
    moving = ("stream_event", "transcript_mirror")
    return [line for line in lines if line["type"] not in moving and _word(line) not in PASSED_OVER]


def test_what_is_not_claimed_is_a_scenario() -> None:
    assert set(NOT_CLAIMED) <= SCENARIOS.keys()


def _answers(entries: list[Entry]) -> list[dict[str, Any]]:
    lines = [json.loads(entry.line) for entry in entries if entry.direction == "out" and not entry.eof]
    return [line["response"] for line in lines if line["type"] == "control_response"]


@pytest.mark.parametrize("name", ["control_all_typed", "control_all_untyped", "mcp_toggle_reconnect_call"])
def test_answers_to_control_requests_have_the_real_shape(name: str, tmp_path: Path) -> None:
    stage = SimStage(name, tmp_path.resolve())
    SCENARIOS[name].play(stage)  # type: ignore[arg-type]

    pairs = list(zip(_answers(recorded(name).entries), _answers(stage.runs[0][1].entries), strict=True))

    for real, simulated in pairs:
        assert {key: real.get(key) for key in ("subtype", "error_code")} == {
            key: simulated.get(key) for key in ("subtype", "error_code")
        }
        missing = (real.get("response") or {}).keys() - (simulated.get("response") or {}).keys()
        assert missing <= {"messageBreakdown"}, real


def test_results_have_every_key_of_real_results(tmp_path: Path) -> None:
    stage = SimStage("perm_deny", tmp_path.resolve())
    SCENARIOS["perm_deny"].play(stage)  # type: ignore[arg-type]

    def result(entries: list[Entry]) -> dict[str, Any]:
        return next(
            json.loads(entry.line) for entry in reversed(entries) if b'"result"' in entry.line and not entry.eof
        )

    real, simulated = result(recorded("perm_deny").entries), result(stage.runs[0][1].entries)
    timings = {"ttft_ms", "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms"}
    assert real.keys() - simulated.keys() <= timings
    told = ("subtype", "is_error", "num_turns", "total_cost_usd", "usage", "modelUsage", "terminal_reason", "result")
    assert {key: real[key] for key in told} == {key: simulated[key] for key in told}
