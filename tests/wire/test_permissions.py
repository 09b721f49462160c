"""Permission answers: what we write for every CLI, and what the CLI makes of what others write."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quarterdeck.wire.inbound import CanUseToolRequest
from quarterdeck.wire.permissions import (
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionRuleValue,
    PermissionUpdate,
    ToolPermissionContext,
    parse_permission_answer,
    permission_answer,
)

REQUEST = CanUseToolRequest("Bash", {"command": "ls"}, "toolu_1")

UPDATES: list[tuple[PermissionUpdate, dict[str, Any]]] = [
    (
        PermissionUpdate(
            "addRules",
            rules=[PermissionRuleValue("Bash", "git *"), PermissionRuleValue("Read")],
            behavior="allow",
            destination="localSettings",
        ),
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "git *"}, {"toolName": "Read"}],
            "behavior": "allow",
            "destination": "localSettings",
        },
    ),
    (
        PermissionUpdate("setMode", mode="acceptEdits", destination="session"),
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ),
    (
        PermissionUpdate("removeDirectories", directories=["/a"], destination="session"),
        {"type": "removeDirectories", "directories": ["/a"], "destination": "session"},
    ),
]


@pytest.mark.parametrize(("update", "wire"), UPDATES, ids=lambda value: getattr(value, "type", None))
def test_an_update_is_written_and_read_as_on_the_wire(update: PermissionUpdate, wire: dict[str, Any]) -> None:
    assert update.to_dict() == wire
    assert PermissionUpdate.from_dict(wire) == update


def test_an_update_leaves_out_what_its_type_does_not_have() -> None:
    update = PermissionUpdate("setMode", rules=[PermissionRuleValue("Bash")], mode="plan", directories=["/a"])
    assert update.to_dict() == {"type": "setMode", "mode": "plan"}


def test_an_update_of_a_type_to_come_keeps_all_it_was_given() -> None:
    update = PermissionUpdate("pauseRules", mode="plan", destination="session")
    assert update.to_dict() == {"type": "pauseRules", "mode": "plan", "destination": "session"}


def test_an_update_can_be_filled_step_by_step() -> None:
    update = PermissionUpdate(type="addDirectories")
    update.directories = ["/a"]
    update.destination = "session"
    assert update.to_dict() == {"type": "addDirectories", "directories": ["/a"], "destination": "session"}


def test_an_update_that_is_none_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="type"):
        PermissionUpdate.from_dict({"rules": []})


ANSWERS: list[tuple[str, PermissionResult, dict[str, Any]]] = [
    (
        "allow repeats the input, for 2.0.77 and 2.1.25",
        PermissionResultAllow(),
        {"behavior": "allow", "updatedInput": {"command": "ls"}, "toolUseID": "toolu_1"},
    ),
    (
        "an emptied input is an input",
        PermissionResultAllow(updated_input={}),
        {"behavior": "allow", "updatedInput": {}, "toolUseID": "toolu_1"},
    ),
    (
        "allow with all it can carry",
        PermissionResultAllow(
            updated_input={"command": "ls -l"},
            updated_permissions=[PermissionUpdate("setMode", mode="plan", destination="session")],
            decision_classification="user_permanent",
        ),
        {
            "behavior": "allow",
            "updatedInput": {"command": "ls -l"},
            "updatedPermissions": [{"type": "setMode", "mode": "plan", "destination": "session"}],
            "toolUseID": "toolu_1",
            "decisionClassification": "user_permanent",
        },
    ),
    (
        "deny always has a message",
        PermissionResultDeny(),
        {"behavior": "deny", "message": "", "toolUseID": "toolu_1"},
    ),
    (
        "deny with all it can carry",
        PermissionResultDeny(message="no", interrupt=True, decision_classification="user_reject"),
        {
            "behavior": "deny",
            "message": "no",
            "interrupt": True,
            "toolUseID": "toolu_1",
            "decisionClassification": "user_reject",
        },
    ),
]


@pytest.mark.parametrize(("result", "wire"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS])
def test_a_result_is_written_exactly_so(result: PermissionResult, wire: dict[str, Any]) -> None:
    assert permission_answer(result, REQUEST) == wire


@pytest.mark.parametrize("wire", [case[2] for case in ANSWERS], ids=[case[0] for case in ANSWERS])
def test_what_we_write_the_cli_reads_as_the_same_decision(wire: dict[str, Any]) -> None:
    result = parse_permission_answer(wire)
    assert result is not None
    assert permission_answer(result, REQUEST) == wire


def test_updates_may_also_be_plain_dicts() -> None:
    wire = {"type": "setMode", "mode": "plan", "destination": "session"}
    result = PermissionResultAllow(updated_permissions=[wire])  # type: ignore[list-item]
    assert permission_answer(result, REQUEST)["updatedPermissions"] == [wire]


def test_a_callback_that_returns_something_else_is_told_so() -> None:
    with pytest.raises(TypeError, match=r"must return PermissionResult .* got <class .bool.>"):
        permission_answer(True, REQUEST)  # type: ignore[arg-type]


INVALID: list[Any] = [
    None,
    "allow",
    [],
    {},
    {"allowed": True},
    {"behavior": "ask"},
    {"behavior": "allow", "updatedInput": None},
    {"behavior": "allow", "updatedInput": "ls"},
    {"behavior": "allow", "toolUseID": 1},
    {"behavior": "deny"},
    {"behavior": "deny", "message": None},
    {"behavior": "deny", "message": "no", "interrupt": "yes"},
    {"behavior": "deny", "message": "no", "interrupt": None},
]


@pytest.mark.parametrize("payload", INVALID, ids=repr)
def test_what_the_cli_calls_invalid_is_no_answer(payload: Any) -> None:
    assert parse_permission_answer(payload) is None


def test_an_allow_without_input_is_valid_on_2_1_325() -> None:
    assert parse_permission_answer({"behavior": "allow"}) == PermissionResultAllow()


def test_a_wrong_tool_use_id_and_unknown_keys_do_not_matter() -> None:
    payload = {"behavior": "deny", "message": "no", "toolUseID": "other", "novelty": 1}
    assert parse_permission_answer(payload) == PermissionResultDeny(message="no")


MALFORMED_UPDATES: list[Any] = [
    None,
    "addRules",
    [{"type": "bogus"}],
    [{"type": "setMode", "mode": "plan"}],
    [{"type": "setMode", "mode": "delegate", "destination": "session"}],
    [{"type": "addRules", "rules": [], "behavior": "perhaps", "destination": "session"}],
    [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": None}],
            "behavior": "allow",
            "destination": "session",
        }
    ],
]


@pytest.mark.parametrize("updates", MALFORMED_UPDATES, ids=repr)
def test_malformed_updates_are_ignored_and_the_tool_runs(updates: Any) -> None:
    payload = {"behavior": "allow", "updatedPermissions": updates, "decisionClassification": "whatever"}
    assert parse_permission_answer(payload) == PermissionResultAllow()


def test_names_and_arguments_are_those_of_the_official_sdk() -> None:
    rules = [PermissionRuleValue(tool_name="Bash", rule_content="ls *")]
    update = PermissionUpdate("addRules", rules, "allow", None, None, "session")
    assert (update.rules, update.behavior, update.destination) == (rules, "allow", "session")
    allow = PermissionResultAllow("allow", {"a": 1}, [update])
    assert (allow.behavior, allow.updated_input, allow.updated_permissions) == ("allow", {"a": 1}, [update])
    deny = PermissionResultDeny("deny", "no", True)
    assert (deny.behavior, deny.message, deny.interrupt) == ("deny", "no", True)
    context = ToolPermissionContext(None, [update], "toolu_1", "agent_1")
    assert (context.suggestions, context.tool_use_id, context.agent_id) == ([update], "toolu_1", "agent_1")
    assert ToolPermissionContext().suggestions == []


def test_the_context_of_a_callback_is_made_from_the_request() -> None:
    suggestion = PermissionUpdate("setMode", mode="acceptEdits", destination="session")
    request = CanUseToolRequest(
        "Write",
        {},
        "toolu_2",
        permission_suggestions=[suggestion],
        blocked_path="/etc",
        decision_reason="outside",
        title="Write?",
        display_name="Write",
        description="to a file",
        agent_id="a1",
    )
    assert ToolPermissionContext.from_request(request, signal="s") == ToolPermissionContext(
        signal="s",
        suggestions=[suggestion],
        tool_use_id="toolu_2",
        agent_id="a1",
        blocked_path="/etc",
        decision_reason="outside",
        title="Write?",
        display_name="Write",
        description="to a file",
        request=request,
    )
