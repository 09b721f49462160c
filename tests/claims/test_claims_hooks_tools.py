"""Hooks, and the built-in tools."""

from __future__ import annotations

from typing import Any

import pytest

from claims.reading import NEWEST, VERSIONS, talk
from quarterdeck.wire.hook_outputs import UserPromptSubmitHookSpecificOutput
from quarterdeck.wire.hooks import HOOK_EVENTS
from quarterdeck.wire.tools import TOOL_INPUT_TYPES, parse_tool_input
from quarterdeck.wire.untyped import wire_names

THIRTEEN = {
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PermissionRequest",
    "Setup",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_hook_is_called_by_its_id_with_the_input_of_its_event(version: str) -> None:
    run = talk("hooks_basic", version)
    registered = run.sent[0]["request"]["hooks"]["PreToolUse"]
    assert registered == [{"hookCallbackIds": ["hook_PreToolUse"]}]
    called = next(one for one in run.asked("hook_callback") if one["callback_id"] == "hook_PreToolUse")
    assert set(called) == {"subtype", "callback_id", "input", "tool_use_id"}
    given = called["input"]
    assert {"session_id", "transcript_path", "cwd", "hook_event_name"} <= set(given)
    assert (given["tool_name"], given["tool_input"]) == ("Bash", {"command": "echo hooked"})
    assert given["tool_use_id"] == called["tool_use_id"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_words_of_the_inputs_are_tool_response_and_prompt(version: str) -> None:
    run = talk("hooks_basic", version)
    (after,) = run.hook_inputs("PostToolUse")
    assert after["tool_response"]["stdout"] == "hooked"
    assert "tool_output" not in after
    (submitted,) = run.hook_inputs("UserPromptSubmit")
    assert submitted["prompt"] == "Run it"
    assert "prompt_text" not in submitted
    (stopped,) = run.hook_inputs("Stop")
    assert stopped["stop_hook_active"] is False


@pytest.mark.parametrize("version", VERSIONS)
def test_a_hook_may_deny_a_tool(version: str) -> None:
    run = talk("hooks_pretooluse_deny", version)
    assert run.sent[0]["request"]["hooks"]["PreToolUse"][0]["matcher"] == "Bash"
    assert run.tool_results()[0].endswith("house rule")
    assert run.asked() == []


def test_a_hook_may_allow_ask_or_change_the_input() -> None:
    run = talk("hooks_pretooluse_allow_ask_update")
    assert [request["input"]["command"] for request in run.asked()] == ["touch asked"]
    assert len(run.tool_results()) == 3


def test_a_failed_tool_has_its_own_event() -> None:
    (given,) = talk("hooks_all").hook_inputs("PostToolUseFailure")
    assert (given["tool_name"], given["error"]) == ("Bash", "Exit code 3")


def test_a_hook_may_block_a_prompt_or_add_to_it_but_not_change_it() -> None:
    assert talk("hooks_userprompt_block").of("assistant") == []
    assert talk("hooks_userprompt_context").texts() == ["I know the weather."]
    fields = set(wire_names(UserPromptSubmitHookSpecificOutput))
    assert fields == {"additionalContext", "sessionTitle", "suppressOriginalPrompt"}


def test_a_hook_may_stop_the_turn() -> None:
    run = talk("hooks_continue_false")
    assert "Never said." not in run.texts()
    assert run.result["terminal_reason"] == "hook_stopped"


def test_sub_agents_compaction_and_notifications_have_their_events() -> None:
    run = talk("hooks_all")
    (started,) = run.hook_inputs("SubagentStart")
    assert started["agent_id"]
    assert started["agent_type"] == "general-purpose"
    assert all(given["agent_transcript_path"] for given in run.hook_inputs("SubagentStop"))
    assert [given["trigger"] for given in run.hook_inputs("PreCompact")] == ["manual"]
    assert run.hook_inputs("PermissionRequest")[0]["permission_suggestions"]
    (notice,) = talk("hooks_more_events").hook_inputs("Notification")
    assert (notice["notification_type"], bool(notice["message"])) == ("elicitation_response", True)


def test_starts_and_ends_of_a_session_reach_callbacks_only_for_clear_and_compact() -> None:
    run = talk("hooks_all")
    assert [given["source"] for given in run.hook_inputs("SessionStart")] == ["compact", "clear"]
    assert [given["reason"] for given in run.hook_inputs("SessionEnd")] == ["clear"]


def test_the_events_of_the_specification_are_among_those_we_know() -> None:
    assert set(HOOK_EVENTS) >= THIRTEEN
    assert len(HOOK_EVENTS) == 33


def test_a_hook_that_does_not_answer_in_time_is_cancelled_and_the_tool_not_run() -> None:
    run = talk("hooks_timeout_control_cancel")
    (called,) = run.of("control_request")
    (cancelled,) = run.of("control_cancel_request")
    assert cancelled["request_id"] == called["request_id"]
    assert "did not respond before its timeout" in run.tool_results()[0]


def test_command_hooks_are_told_of_and_callbacks_are_not() -> None:
    silent = talk("hooks_basic")
    assert not any(kind.startswith("system/hook") for kind in silent.kinds())
    run = talk("hooks_settings_command_include_events")
    told = [line for line in run.of("system", "hook_response") if line["hook_event"] == "PostToolUse"]
    assert {key: told[0][key] for key in ("hook_name", "stdout", "stderr", "exit_code", "outcome")} == {
        "hook_name": "PostToolUse:Bash",
        "stdout": "",
        "stderr": "",
        "exit_code": 1,
        "outcome": "error",
    }
    assert len(run.of("system", "hook_started")) == len(run.of("system", "hook_response")) == 4
    plain = talk("hooks_settings_command_no_flag")
    assert [line["hook_event"] for line in plain.of("system", "hook_response")] == ["SessionStart"]


def test_a_slow_command_hook_tells_its_progress() -> None:
    outputs = [line["stdout"] for line in talk("hooks_progress_slow_command").of("system", "hook_progress")]
    assert outputs[-1] == "step 1\nstep 2\nstep 3\n"


TOOLS: dict[str, dict[str, Any]] = {
    "Task": {
        "prompt": "p",
        "description": "d",
        "subagent_type": "any-name",
        "model": "haiku",
        "resume": "a1",
        "run_in_background": True,
        "max_turns": 3,
        "mode": "plan",
    },
    "TaskOutput": {"task_id": "t", "block": True, "timeout": 5},
    "TaskStop": {"task_id": "t"},
    "Bash": {
        "command": "ls",
        "timeout": 600000,
        "description": "d",
        "run_in_background": True,
        "dangerouslyDisableSandbox": False,
    },
    "Read": {"file_path": "/f", "offset": 1, "limit": 2},
    "Write": {"file_path": "/f", "content": "c"},
    "Edit": {"file_path": "/f", "old_string": "a", "new_string": "b", "replace_all": True},
    "Glob": {"pattern": "*", "path": "/"},
    "Grep": {"pattern": "x", "path": "/", "glob": "*", "output_mode": "content", "multiline": True},
    "NotebookEdit": {
        "notebook_path": "/n",
        "new_source": "s",
        "cell_id": "c",
        "cell_type": "code",
        "edit_mode": "insert",
    },
    "WebFetch": {"url": "https://example.invalid", "prompt": "p"},
    "WebSearch": {"query": "q", "allowed_domains": ["a"], "blocked_domains": ["b"]},
    "TodoWrite": {"todos": [{"content": "c", "status": "in_progress", "activeForm": "f"}]},
    "ExitPlanMode": {"allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}], "pushToRemote": False},
    "AskUserQuestion": {"questions": [], "answers": {}, "metadata": {}},
    "Config": {"setting": "theme", "value": "dark"},
    "ListMcpResources": {"server": "s"},
    "ReadMcpResource": {"server": "s", "uri": "u"},
}


@pytest.mark.parametrize("tool", TOOLS)
def test_the_input_of_a_tool_has_its_type(tool: str) -> None:
    typed = parse_tool_input(tool, TOOLS[tool])
    assert type(typed) is TOOL_INPUT_TYPES[tool]
    assert {key: typed[key] for key in TOOLS[tool]} == TOOLS[tool]


def test_the_input_of_a_tool_from_elsewhere_is_any_object() -> None:
    given = {"anything": [1, {"deep": None}]}
    assert parse_tool_input("mcp__calc__add", given) == given


@pytest.mark.parametrize("version", VERSIONS)
def test_the_tools_that_a_version_lists(version: str) -> None:
    tools = set(talk("plain_turn", version).init["tools"])
    assert len(tools) == {"2.1.52": 19, NEWEST: 25}.get(version, 18)
    assert {"Config", "ListMcpResources", "ReadMcpResource"}.isdisjoint(tools)
    assert ("Glob" in tools) is ("Grep" in tools) is ("TodoWrite" in tools) is (version != NEWEST)
    assert ("KillShell" in tools) is (version in ("2.0.77", "2.1.17"))
    assert ("TaskStop" in tools) is (version not in ("2.0.77", "2.1.17"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_built_in_agents_of_a_version(version: str) -> None:
    agents = set(talk("plain_turn", version).init["agents"])
    assert agents >= {"general-purpose", "Explore", "Plan", "statusline-setup"}
    assert "claude-code-guide" not in agents
    assert ("Bash" in agents) is (version != NEWEST)
