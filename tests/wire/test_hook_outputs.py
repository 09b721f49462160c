"""The answers hooks give, in the words of the wire."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.wire import hook_outputs as outputs
from quarterdeck.wire.hook_outputs import (
    SPECIFIC_OUTPUT_TYPES,
    AsyncHookJSONOutput,
    SyncHookJSONOutput,
    hook_answer,
)
from quarterdeck.wire.hooks import (
    HOOK_EVENTS,
)
from quarterdeck.wire.permissions import PermissionRuleValue, PermissionUpdate

CONTEXT_ONLY = (
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "Setup",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PostModelSwitch",
)
SPECIFIC: list[tuple[dict[str, Any], outputs.HookSpecificOutput]] = [
    *(
        (
            {"hookEventName": event, "additionalContext": "c"},
            SPECIFIC_OUTPUT_TYPES[event](additional_context="c"),
        )
        for event in CONTEXT_ONLY
    ),
    (
        {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
            "updatedInput": {"command": "ls"},
            "additionalContext": "c",
        },
        outputs.PreToolUseHookSpecificOutput(
            permission_decision="deny",
            permission_decision_reason="no",
            updated_input={"command": "ls"},
            additional_context="c",
        ),
    ),
    (
        {
            "hookEventName": "PostToolUse",
            "additionalContext": "c",
            "classifierContext": "k",
            "updatedToolOutput": {"stdout": ""},
            "updatedMCPToolOutput": "m",
        },
        outputs.PostToolUseHookSpecificOutput(
            additional_context="c",
            classifier_context="k",
            updated_tool_output={"stdout": ""},
            updated_mcp_tool_output="m",
        ),
    ),
    (
        {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": "c",
            "sessionTitle": "t",
            "suppressOriginalPrompt": True,
        },
        outputs.UserPromptSubmitHookSpecificOutput(
            additional_context="c", session_title="t", suppress_original_prompt=True
        ),
    ),
    (
        {"hookEventName": "UserPromptExpansion", "additionalContext": "c", "suppressOriginalPrompt": False},
        outputs.UserPromptExpansionHookSpecificOutput(additional_context="c", suppress_original_prompt=False),
    ),
    (
        {
            "hookEventName": "SessionStart",
            "additionalContext": "c",
            "initialUserMessage": "hi",
            "sessionTitle": "t",
            "watchPaths": ["/w"],
            "reloadSkills": True,
        },
        outputs.SessionStartHookSpecificOutput(
            additional_context="c",
            initial_user_message="hi",
            session_title="t",
            watch_paths=["/w"],
            reload_skills=True,
        ),
    ),
    (
        {"hookEventName": "PreModelSwitch", "permissionDecision": "ask", "permissionDecisionReason": "cost"},
        outputs.PreModelSwitchHookSpecificOutput(permission_decision="ask", permission_decision_reason="cost"),
    ),
    (
        {
            "hookEventName": "PermissionRequest",
            "decision": {
                "behavior": "allow",
                "updatedInput": {"command": "ls"},
                "updatedPermissions": [
                    {
                        "type": "addRules",
                        "rules": [{"toolName": "Bash"}],
                        "behavior": "allow",
                        "destination": "session",
                    }
                ],
            },
        },
        outputs.PermissionRequestHookSpecificOutput(
            decision=outputs.HookPermissionAllow(
                updated_input={"command": "ls"},
                updated_permissions=[
                    PermissionUpdate(
                        type="addRules",
                        rules=[PermissionRuleValue(tool_name="Bash")],
                        behavior="allow",
                        destination="session",
                    )
                ],
            )
        ),
    ),
    (
        {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no", "interrupt": True}},
        outputs.PermissionRequestHookSpecificOutput(decision=outputs.HookPermissionDeny(message="no", interrupt=True)),
    ),
    ({"hookEventName": "PermissionDenied", "retry": True}, outputs.PermissionDeniedHookSpecificOutput(retry=True)),
    (
        {"hookEventName": "Elicitation", "action": "accept", "content": {"name": "Bob"}},
        outputs.ElicitationHookSpecificOutput(action="accept", content={"name": "Bob"}),
    ),
    (
        {"hookEventName": "ElicitationResult", "action": "decline", "content": {}},
        outputs.ElicitationResultHookSpecificOutput(action="decline", content={}),
    ),
    (
        {"hookEventName": "CwdChanged", "watchPaths": ["/w"]},
        outputs.CwdChangedHookSpecificOutput(watch_paths=["/w"]),
    ),
    (
        {"hookEventName": "FileChanged", "watchPaths": []},
        outputs.FileChangedHookSpecificOutput(watch_paths=[]),
    ),
    (
        {"hookEventName": "WorktreeCreate", "worktreePath": "/wt"},
        outputs.WorktreeCreateHookSpecificOutput(worktree_path="/wt"),
    ),
    (
        {"hookEventName": "MessageDisplay", "displayContent": "***"},
        outputs.MessageDisplayHookSpecificOutput(display_content="***"),
    ),
]


@pytest.mark.parametrize(("data", "typed"), SPECIFIC)
def test_a_specific_output_is_sent_as_spelled_on_the_wire(
    data: dict[str, Any], typed: outputs.HookSpecificOutput
) -> None:
    expected = {"hookSpecificOutput": data}

    assert hook_answer(SyncHookJSONOutput(hook_specific_output=typed)) == expected
    assert hook_answer(typed) == expected
    assert hook_answer({"hookSpecificOutput": typed}) == expected
    assert hook_answer({"hookSpecificOutput": data}) == expected
    assert type(typed)(**data) == typed  # built with the wire's names


def test_every_specific_output_has_a_case() -> None:
    assert {data["hookEventName"] for data, _ in SPECIFIC} == set(SPECIFIC_OUTPUT_TYPES)
    assert set(SPECIFIC_OUTPUT_TYPES) < set(HOOK_EVENTS)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (None, {}),
        ({}, {}),
        ({"continue_": False, "stopReason": "s"}, {"continue": False, "stopReason": "s"}),
        ({"async_": True, "asyncTimeout": 50}, {"async": True, "asyncTimeout": 50}),
        ({"continue": True, "not_ours": [1, {"continue_": 2}]}, {"continue": True, "not_ours": [1, {"continue_": 2}]}),
        (AsyncHookJSONOutput(), {"async": True}),
        (AsyncHookJSONOutput(async_=True, async_timeout=50), {"async": True, "asyncTimeout": 50}),
        (SyncHookJSONOutput(), {}),
        (
            SyncHookJSONOutput(
                continue_=False,
                stop_reason="s",
                suppress_output=True,
                decision="block",
                reason="r",
                system_message="m",
                terminal_sequence="\a",
            ),
            {
                "continue": False,
                "stopReason": "s",
                "suppressOutput": True,
                "decision": "block",
                "reason": "r",
                "systemMessage": "m",
                "terminalSequence": "\a",
            },
        ),
        (
            {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": outputs.HookPermissionDeny()}},
            {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny"}}},
        ),
    ],
)
def test_an_answer_is_the_output_in_the_words_of_the_wire(output: object, answer: dict[str, Any]) -> None:
    assert hook_answer(output) == answer


def test_the_output_given_is_not_changed() -> None:
    output = {"continue_": False}

    hook_answer(output)

    assert output == {"continue_": False}


@pytest.mark.parametrize("output", [True, "block", ["x"], outputs.HookPermissionDeny()])
def test_an_output_of_another_type_is_refused_with_what_is_accepted(output: object) -> None:
    with pytest.raises(TypeError, match=f"a hook must return None, a dict, .* not {type(output).__name__}"):
        hook_answer(output)


def test_a_specific_output_refuses_the_name_of_another_event() -> None:
    with pytest.raises(ValueError, match="PreToolUseHookSpecificOutput is for hookEventName 'PreToolUse' only"):
        outputs.PreToolUseHookSpecificOutput(hookEventName="Stop")  # type: ignore[call-arg]


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="Unexpected keyword argument 'stop_raeson'"):
        SyncHookJSONOutput(stop_raeson="x")  # type: ignore[call-arg]
