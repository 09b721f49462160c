"""Hook inputs of every event, as the CLI sends them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looping import for_each
from quarterdeck.wire import hook_inputs as inputs
from quarterdeck.wire.hook_inputs import HookInput, UnknownHookInput
from quarterdeck.wire.hook_outputs import (
    SPECIFIC_OUTPUT_TYPES,
)
from quarterdeck.wire.hooks import (
    FAILURE_NEVER_BLOCKS,
    HOOK_EVENTS,
    HOOK_INPUT_TYPES,
    MATCHER_EVENTS,
    PERMISSION_DECISIONS,
    parse_hook_input,
)
from quarterdeck.wire.mcp import McpServerProvenance

BASH = {"command": "touch a.txt", "description": "x"}
SUGGESTION = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
SWITCH = {
    "from_model": "claude-opus-5-5",
    "to_model": "claude-sonnet-5-5",
    "requested_model": "sonnet",
    "source": "sdk",
    "context_tokens": 120,
    "prompt_cache_warm": True,
    "cache_ttl": "5m",
    "estimated_cache_write_usd": 0.0003,
    "pricing": "catalog",
}
TASK = {
    "task_id": "1",
    "task_subject": "s",
    "task_description": "d",
    "teammate_name": "ann",
    "team_name": "t",
}
SHELL = {"id": "b1", "type": "shell", "status": "running", "description": "d", "command": "sleep 9"}
CRON = {"id": "c1", "schedule": "0 9 * * 1-5", "recurring": True, "prompt": "look"}
SERVER = McpServerProvenance(name="calc", source="sdk")

CASES: list[tuple[dict[str, Any], HookInput]] = [
    (
        {
            "hook_event_name": "PreToolUse",
            "session_id": "s1",
            "transcript_path": "/t.jsonl",
            "cwd": "/w",
            "prompt_id": "p1",
            "permission_mode": "default",
            "effort": {"level": "medium"},
            "agent_id": "a1",
            "agent_type": "general-purpose",
            "tool_name": "Bash",
            "tool_input": BASH,
            "tool_use_id": "toolu_1",
        },
        inputs.PreToolUseHookInput(
            session_id="s1",
            transcript_path="/t.jsonl",
            cwd="/w",
            prompt_id="p1",
            permission_mode="default",
            effort=inputs.HookEffort(level="medium"),
            agent_id="a1",
            agent_type="general-purpose",
            tool_name="Bash",
            tool_input=BASH,
            tool_use_id="toolu_1",
        ),
    ),
    (
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "mcp__calc__add",
            "tool_input": {"a": 1},
            "tool_response": [{"type": "text", "text": "3"}],
            "tool_use_id": "toolu_1",
            "duration_ms": 117,
            "mcp_server": {"name": "calc", "source": "sdk"},
        },
        inputs.PostToolUseHookInput(
            tool_name="mcp__calc__add",
            tool_input={"a": 1},
            tool_response=[{"type": "text", "text": "3"}],
            tool_use_id="toolu_1",
            duration_ms=117,
            mcp_server=SERVER,
        ),
    ),
    (
        {
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": BASH,
            "tool_use_id": "toolu_1",
            "error": "Exit code 3",
            "is_interrupt": False,
            "duration_ms": 58.5,
        },
        inputs.PostToolUseFailureHookInput(
            tool_name="Bash",
            tool_input=BASH,
            tool_use_id="toolu_1",
            error="Exit code 3",
            is_interrupt=False,
            duration_ms=58.5,
        ),
    ),
    (
        {
            "hook_event_name": "PostToolBatch",
            "tool_calls": [
                {"tool_name": "Bash", "tool_input": BASH, "tool_use_id": "toolu_1", "tool_response": "(no output)"}
            ],
        },
        inputs.PostToolBatchHookInput(
            tool_calls=[
                inputs.PostToolBatchToolCall(
                    tool_name="Bash", tool_input=BASH, tool_use_id="toolu_1", tool_response="(no output)"
                )
            ]
        ),
    ),
    (
        {"hook_event_name": "Notification", "message": "m", "title": "t", "notification_type": "idle_prompt"},
        inputs.NotificationHookInput(message="m", title="t", notification_type="idle_prompt"),
    ),
    (
        {"hook_event_name": "UserPromptSubmit", "prompt": "run", "source": "sdk", "session_title": "t"},
        inputs.UserPromptSubmitHookInput(prompt="run", source="sdk", session_title="t"),
    ),
    (
        {
            "hook_event_name": "UserPromptExpansion",
            "expansion_type": "slash_command",
            "command_name": "review",
            "command_args": "7",
            "command_source": "project",
            "prompt": "/review 7",
        },
        inputs.UserPromptExpansionHookInput(
            expansion_type="slash_command",
            command_name="review",
            command_args="7",
            command_source="project",
            prompt="/review 7",
        ),
    ),
    (
        {
            "hook_event_name": "SessionStart",
            "source": "fork",
            "model": "claude-sonnet-5-5",
            "session_title": "t",
            "seconds_since_last_response": 12.5,
            "context_tokens": 100,
            "prompt_cache_likely_expired": True,
            "estimated_cache_write_usd": 1,
        },
        inputs.SessionStartHookInput(
            source="fork",
            model="claude-sonnet-5-5",
            session_title="t",
            seconds_since_last_response=12.5,
            context_tokens=100,
            prompt_cache_likely_expired=True,
            estimated_cache_write_usd=1,
        ),
    ),
    ({"hook_event_name": "SessionEnd", "reason": "clear"}, inputs.SessionEndHookInput(reason="clear")),
    (
        {
            "hook_event_name": "Stop",
            "stop_hook_active": True,
            "last_assistant_message": "Done.",
            "background_tasks": [SHELL],
            "session_crons": [CRON],
        },
        inputs.StopHookInput(
            stop_hook_active=True,
            last_assistant_message="Done.",
            background_tasks=[
                inputs.BackgroundTaskSummary(
                    id="b1", type="shell", status="running", description="d", command="sleep 9"
                )
            ],
            session_crons=[inputs.SessionCronSummary(id="c1", schedule="0 9 * * 1-5", recurring=True, prompt="look")],
        ),
    ),
    (
        {
            "hook_event_name": "StopFailure",
            "error": "rate_limit",
            "error_details": "429",
            "last_assistant_message": "half",
        },
        inputs.StopFailureHookInput(error="rate_limit", error_details="429", last_assistant_message="half"),
    ),
    (
        {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "general-purpose"},
        inputs.SubagentStartHookInput(agent_id="a1", agent_type="general-purpose"),
    ),
    (
        {
            "hook_event_name": "SubagentStop",
            "stop_hook_active": True,
            "agent_id": "a1",
            "agent_type": "general-purpose",
            "agent_transcript_path": "/a.jsonl",
            "last_assistant_message": "ok",
            "background_tasks": [],
            "session_crons": [],
        },
        inputs.SubagentStopHookInput(
            stop_hook_active=True,
            agent_id="a1",
            agent_type="general-purpose",
            agent_transcript_path="/a.jsonl",
            last_assistant_message="ok",
            background_tasks=[],
            session_crons=[],
        ),
    ),
    (
        {"hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "short"},
        inputs.PreCompactHookInput(trigger="manual", custom_instructions="short"),
    ),
    (
        {"hook_event_name": "PostCompact", "trigger": "auto", "compact_summary": "sum"},
        inputs.PostCompactHookInput(trigger="auto", compact_summary="sum"),
    ),
    ({"hook_event_name": "PreModelSwitch", **SWITCH}, inputs.PreModelSwitchHookInput(**SWITCH)),
    ({"hook_event_name": "PostModelSwitch", **SWITCH}, inputs.PostModelSwitchHookInput(**SWITCH)),
    (
        {
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": BASH,
            "permission_suggestions": [SUGGESTION],
        },
        inputs.PermissionRequestHookInput(tool_name="Bash", tool_input=BASH, permission_suggestions=[SUGGESTION]),
    ),
    (
        {
            "hook_event_name": "PermissionDenied",
            "tool_name": "Bash",
            "tool_input": BASH,
            "tool_use_id": "toolu_1",
            "reason": "risky",
        },
        inputs.PermissionDeniedHookInput(tool_name="Bash", tool_input=BASH, tool_use_id="toolu_1", reason="risky"),
    ),
    ({"hook_event_name": "Setup", "trigger": "init"}, inputs.SetupHookInput(trigger="init")),
    (
        {"hook_event_name": "TeammateIdle", "teammate_name": "ann", "team_name": "t"},
        inputs.TeammateIdleHookInput(teammate_name="ann", team_name="t"),
    ),
    ({"hook_event_name": "TaskCreated", **TASK}, inputs.TaskCreatedHookInput(**TASK)),
    ({"hook_event_name": "TaskCompleted", **TASK}, inputs.TaskCompletedHookInput(**TASK)),
    (
        {
            "hook_event_name": "Elicitation",
            "mcp_server_name": "el",
            "message": "name?",
            "mode": "form",
            "url": "https://example.test",
            "elicitation_id": "e1",
            "requested_schema": {"type": "object"},
        },
        inputs.ElicitationHookInput(
            mcp_server_name="el",
            message="name?",
            mode="form",
            url="https://example.test",
            elicitation_id="e1",
            requested_schema={"type": "object"},
        ),
    ),
    (
        {
            "hook_event_name": "ElicitationResult",
            "mcp_server_name": "el",
            "elicitation_id": "e1",
            "mode": "form",
            "action": "accept",
            "content": {"name": "Bob"},
        },
        inputs.ElicitationResultHookInput(
            mcp_server_name="el", elicitation_id="e1", mode="form", action="accept", content={"name": "Bob"}
        ),
    ),
    (
        {"hook_event_name": "ConfigChange", "source": "user_settings", "file_path": "/s.json"},
        inputs.ConfigChangeHookInput(source="user_settings", file_path="/s.json"),
    ),
    ({"hook_event_name": "WorktreeCreate", "name": "wt"}, inputs.WorktreeCreateHookInput(name="wt")),
    (
        {"hook_event_name": "WorktreeRemove", "worktree_path": "/wt"},
        inputs.WorktreeRemoveHookInput(worktree_path="/wt"),
    ),
    (
        {
            "hook_event_name": "InstructionsLoaded",
            "file_path": "/CLAUDE.md",
            "memory_type": "Project",
            "load_reason": "include",
            "globs": ["*.py"],
            "trigger_file_path": "/a.py",
            "parent_file_path": "/b.md",
        },
        inputs.InstructionsLoadedHookInput(
            file_path="/CLAUDE.md",
            memory_type="Project",
            load_reason="include",
            globs=["*.py"],
            trigger_file_path="/a.py",
            parent_file_path="/b.md",
        ),
    ),
    (
        {"hook_event_name": "CwdChanged", "old_cwd": "/a", "new_cwd": "/b"},
        inputs.CwdChangedHookInput(old_cwd="/a", new_cwd="/b"),
    ),
    (
        {"hook_event_name": "FileChanged", "file_path": "/a", "event": "unlink"},
        inputs.FileChangedHookInput(file_path="/a", event="unlink"),
    ),
    (
        {"hook_event_name": "DirectoryAdded", "directory": "/d", "source": "slash_command"},
        inputs.DirectoryAddedHookInput(directory="/d", source="slash_command"),
    ),
    (
        {
            "hook_event_name": "MessageDisplay",
            "turn_id": "t1",
            "message_id": "m1",
            "index": 0,
            "final": True,
            "delta": "Done.",
        },
        inputs.MessageDisplayHookInput(turn_id="t1", message_id="m1", index=0, final=True, delta="Done."),
    ),
]


def attributes(view: HookInput) -> dict[str, Any]:
    return {name: getattr(view, name) for name in view.__struct_fields__ if name != "origin_"}


@for_each(("data", "typed"), CASES, ids=[data["hook_event_name"] for data, _ in CASES])
def test_an_input_is_typed_by_its_event_and_spelled_as_on_the_wire(data: dict[str, Any], typed: HookInput) -> None:
    view = parse_hook_input(data)

    assert attributes(view) == attributes(typed)
    assert view == typed
    assert typed.to_dict() == data
    assert view.hook_event_name == typed.hook_event_name == data["hook_event_name"]


def test_every_event_has_a_case_and_a_type() -> None:
    assert [data["hook_event_name"] for data, _ in sorted(CASES, key=_place)] == list(HOOK_EVENTS)
    assert [type(typed) for _, typed in sorted(CASES, key=_place)] == list(HOOK_INPUT_TYPES.values())
    assert len(HOOK_EVENTS) == 33


def _place(case: tuple[dict[str, Any], HookInput]) -> int:
    return HOOK_EVENTS.index(case[0]["hook_event_name"])


@for_each(("data", "typed"), CASES, ids=[data["hook_event_name"] for data, _ in CASES])
def test_an_input_still_reads_like_the_dict_it_was(data: dict[str, Any], typed: HookInput) -> None:
    newer = data | {"new_key": {"deep": 1}}
    view = parse_hook_input(newer)

    assert type(view) is type(typed)
    assert dict(view) == newer
    assert view["new_key"] == {"deep": 1}
    assert view.get("new_key") == {"deep": 1}
    assert "new_key" in view
    assert "other_key" not in view
    assert view.get("other_key", 5) == 5
    assert view["hook_event_name"] == data["hook_event_name"]


def test_keys_unknown_to_us_are_readable_inside_the_objects_of_an_input() -> None:
    view = parse_hook_input(
        {
            "hook_event_name": "Stop",
            "effort": {"level": "high", "budget": 3},
            "background_tasks": [SHELL | {"pid": 7}],
        }
    )

    assert isinstance(view, inputs.StopHookInput)
    assert view.effort is not None
    assert view.effort["budget"] == 3
    assert view.background_tasks is not None
    assert view.background_tasks[0]["pid"] == 7


def test_a_null_on_the_wire_is_none() -> None:
    view = parse_hook_input({"hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": None})

    assert isinstance(view, inputs.PreCompactHookInput)
    assert view.custom_instructions is None
    assert view["custom_instructions"] is None


def test_the_fields_of_old_versions_are_enough() -> None:
    view = parse_hook_input({"hook_event_name": "Stop", "session_id": "s1", "stop_hook_active": False})

    assert view == {"hook_event_name": "Stop", "session_id": "s1", "stop_hook_active": False}
    assert isinstance(view, inputs.StopHookInput)
    assert view.background_tasks is None
    assert view.cwd == ""
    assert "cwd" not in view


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"hook_event_name": "FromTheFuture", "cwd": "/w", "x": 1}, "unknown hook event 'FromTheFuture'"),
        ({"cwd": "/w"}, "unknown hook event None"),
        ({"hook_event_name": ["Stop"], "cwd": "/w"}, "unknown hook event ['Stop']"),
        (
            {"hook_event_name": "PreToolUse", "cwd": "/w", "tool_input": {}},
            "Object missing required field `tool_name`",
        ),
        (
            {"hook_event_name": "PreToolUse", "cwd": "/w", "tool_name": "Bash", "tool_input": "ls"},
            "Expected `object`, got `str` - at `$.tool_input`",
        ),
    ],
)
def test_what_does_not_fit_is_kept_with_the_reason(data: dict[str, Any], reason: str) -> None:
    view = parse_hook_input(data)

    assert isinstance(view, UnknownHookInput)
    assert view.reason == reason
    assert view.cwd == "/w"
    assert dict(view) == data
    name = data.get("hook_event_name")
    assert view.hook_event_name == (name if isinstance(name, str) else "")


def test_the_reason_does_not_hide_a_reason_on_the_wire() -> None:
    view = parse_hook_input({"hook_event_name": "FromTheFuture", "reason": "theirs"})

    assert isinstance(view, UnknownHookInput)
    assert (view.reason, view["reason"]) == ("unknown hook event 'FromTheFuture'", "theirs")


def test_an_input_whose_common_fields_are_odd_is_kept_too() -> None:
    view = parse_hook_input({"hook_event_name": "Stop", "cwd": 5})

    assert isinstance(view, UnknownHookInput)
    assert view.reason == "Expected `str`, got `int` - at `$.cwd`"
    assert (view.cwd, view["cwd"]) == ("", 5)


@pytest.mark.parametrize("data", [None, [], "Stop", 3])
def test_an_input_that_is_no_object_is_an_empty_unknown_one(data: object) -> None:
    view = parse_hook_input(data)

    assert isinstance(view, UnknownHookInput)
    assert view.reason == f"a hook input must be an object, not {type(data).__name__}"
    assert dict(view) == {}


def test_an_input_cannot_forge_its_own_origin() -> None:
    forged = {"hook_event_name": "Setup", "trigger": "init", "\ue000origin": {"trigger": "other"}}

    assert dict(parse_hook_input(forged)) == forged


KEYS = sorted({key for data, _ in CASES for key in data})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(event=st.sampled_from(HOOK_EVENTS) | st.text(), rest=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8))
def test_no_input_makes_us_raise_or_lose_a_key(event: str, rest: dict[str, Any]) -> None:
    data = rest | {"hook_event_name": event}

    assert dict(parse_hook_input(data)) == data


def test_the_facts_about_events_name_real_events() -> None:
    assert {"PreToolUse", "SessionStart", "FileChanged"} < MATCHER_EVENTS < set(HOOK_EVENTS)
    assert MATCHER_EVENTS.isdisjoint({"UserPromptSubmit", "Stop", "MessageDisplay"})
    assert set(HOOK_EVENTS) > FAILURE_NEVER_BLOCKS
    assert set(SPECIFIC_OUTPUT_TYPES) > set(PERMISSION_DECISIONS)
