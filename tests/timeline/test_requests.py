"""What people are asked: permissions, questions, plan reviews, elicitations, dialogs; and what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline import Limits
from quarterdeck.timeline.events import (
    DialogAsked,
    ElicitationAsked,
    ElicitationCompleted,
    ModeChanged,
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestAnswered,
    RequestCancelled,
    ToolEnded,
)
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions, ToolCall
from quarterdeck.timeline.parts import Choice, PermissionSuggestion, Question

from .talk import Talk, answer, ask, assistant, call, cancel, failure, init, kinds, may, only, result, system

LS = assistant(call(command="ls"))
RULE: dict[str, Any] = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls *"}],
    "behavior": "allow",
    "destination": "localSettings",
}


def test_a_permission_is_asked_with_all_that_helps_to_decide() -> None:
    talk = Talk()
    talk.hear(LS)
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    folders = {"type": "addDirectories", "directories": ["/tmp"], "destination": "session"}
    talk.hear(
        may(
            display_name="Shell",
            description="List files",
            permission_suggestions=[RULE, mode, folders],
            blocked_path="/tmp/x",
            decision_reason="outside",
            decision_reason_type="workingDir",
            agent_id="a1",
            mcp_server={"name": "st"},
            default_to_no=True,
        )
    )
    expected = Permission(
        id="ask_1",
        at=2.0,
        tool_id="tool_1",
        agent_id="a1",
        tool_name="Bash",
        label="Shell",
        about="ls",
        input={"command": "ls"},
        description="List files",
        suggestions=[
            PermissionSuggestion("allow Bash(ls *)", "localSettings", RULE, ["Bash(ls *)"]),
            PermissionSuggestion("mode acceptEdits", "session", mode),
            PermissionSuggestion("add /tmp", "session", folders),
        ],
        reason="outside",
        reason_kind="workingDir",
        blocked_path="/tmp/x",
        mcp_server="st",
        default_to_no=True,
    )
    assert only(PermissionAsked, talk.events) == PermissionAsked(2.0, expected)
    assert talk.state.requests() == [expected]
    assert talk.state.activity == "waiting"


def test_the_rule_because_of_which_it_asks_is_the_reason() -> None:
    talk = Talk()
    rule = {"source": "userSettings", "tool_name": "Bash", "rule_content": "ls"}
    talk.hear(LS, may(matched_ask_rule=rule))
    assert only(PermissionAsked, talk.events).request.reason == "rule Bash(ls) (userSettings)"


def test_nothing_is_offered_for_good_when_the_cli_does_not_want_it() -> None:
    talk = Talk()
    talk.hear(LS, may(permission_suggestions=[RULE], suppress_always_allow_rule=True))
    assert only(PermissionAsked, talk.events).request.suggestions == []


def test_an_allow_is_told_with_the_rules_and_the_mode_it_brings() -> None:
    talk = Talk()
    talk.hear(init(), LS, may())
    updates = [RULE, {"type": "setMode", "mode": "acceptEdits", "destination": "session"}, {"odd": True}]
    payload = {"behavior": "allow", "updatedInput": {"command": "ls -a"}, "updatedPermissions": updates}
    told = only(RequestAnswered, talk.say(answer("ask_1", payload)))
    assert told == RequestAnswered(
        4.0,
        "ask_1",
        "permission",
        "allow",
        rules_added=["Bash(ls *)"],
        mode="acceptEdits",
        input_changed=True,
        tool_id="tool_1",
    )
    item = talk.item(Permission, "ask_1")
    assert (item.status, item.allowed, item.rules_added, item.closed_at) == ("answered", True, ["Bash(ls *)"], 4.0)
    assert (talk.state.waiting, talk.state.activity) == ([], "working")
    talk.hear(system("status", status=None, permissionMode="acceptEdits"))
    assert talk.events[-1] == ModeChanged(5.0, "acceptEdits", "us", "default")


def test_an_unchanged_input_is_not_called_changed_however_long_it_is() -> None:
    talk = Talk(limits=Limits(input_chars=10))
    given = {"command": "x" * 1_000}
    talk.hear(assistant(call(**given)), may(input=given))
    assert only(PermissionAsked, talk.events).request.input == given
    assert len(talk.item(Permission, "ask_1").input["command"]) < 100
    assert not only(
        RequestAnswered, talk.say(answer("ask_1", {"behavior": "allow", "updatedInput": given}))
    ).input_changed


def test_a_denial_is_told_with_its_note_and_whether_it_stops_the_turn() -> None:
    talk = Talk()
    talk.hear(LS, may())
    told = only(RequestAnswered, talk.say(answer("ask_1", {"behavior": "deny", "message": "No", "interrupt": True})))
    assert (told.answer, told.note, told.interrupts) == ("deny", "No", True)
    item = talk.item(Permission, "ask_1")
    assert (item.allowed, item.note, item.interrupted) == (False, "No", True)


@pytest.mark.parametrize("payload", [{"allowed": True}, {"behavior": "deny"}, {"behavior": "ask"}, None])
def test_an_answer_that_the_cli_will_not_take_is_called_invalid(payload: Any) -> None:
    talk = Talk()
    talk.hear(LS, may())
    assert only(RequestAnswered, talk.say(answer("ask_1", payload))).answer == "invalid"


def test_a_handler_that_failed_has_answered_too() -> None:
    talk = Talk()
    talk.hear(LS, may())
    told = only(RequestAnswered, talk.say(failure("ask_1", "host exploded")))
    assert (told.answer, told.note) == ("error", "host exploded")


def test_a_request_that_the_cli_takes_back_is_cancelled_and_a_late_answer_is_nothing() -> None:
    talk = Talk()
    talk.hear(LS, may())
    assert kinds(talk.hear(cancel("ask_1"))) == ["request_cancelled"]
    assert talk.item(Permission, "ask_1").status == "cancelled"
    assert talk.say(answer("ask_1", {"behavior": "allow"})) == []
    assert talk.hear(cancel("ask_1"), cancel("never asked")) == []


def test_a_request_whose_call_ends_all_the_same_is_cancelled() -> None:
    talk = Talk()
    talk.hear(LS, may(), result(output="Tool permission request failed: AbortError", error=True))
    assert only(RequestCancelled, talk.events) == RequestCancelled(3.0, "ask_1", "permission", "tool_1")
    assert talk.state.waiting == []


def test_a_request_of_a_sub_agent_belongs_to_its_conversation() -> None:
    talk = Talk()
    talk.hear(assistant(call("tool_2", command="ls"), message="m", parent_tool_use_id="tool_1"), may(tool="tool_2"))
    assert only(PermissionAsked, talk.events).request.parent_id == "tool_1"


def test_a_request_that_overtakes_its_call_finds_it_later() -> None:
    """A reader that hands control messages on at once may see them before the content that stood before them."""
    talk = Talk()
    nested = {"parent_tool_use_id": "agent"}
    talk.hear(may("one"), may("two", tool="tool_2"))
    talk.say(answer("two", {"behavior": "deny", "message": "No"}))
    talk.hear(assistant(call(command="ls"), **nested), assistant(call("tool_2", command="rm"), message="m", **nested))
    assert talk.item(ToolCall, "tool_1").status == "waiting"
    assert talk.item(Permission, "one").parent_id == "agent"
    talk.hear(result("tool_2", "No", error=True, **nested))
    assert only(ToolEnded, talk.events).status == "denied"


def test_requests_may_be_answered_in_any_order() -> None:
    talk = Talk()
    talk.hear(LS, assistant(call("tool_2")), may("one"), may("two", tool="tool_2"))
    talk.say(answer("two", {"behavior": "allow"}))
    assert talk.state.waiting == ["one"]


def test_a_request_listed_again_by_a_second_initialize_is_the_same() -> None:
    talk = Talk()
    talk.hear(LS, may())
    talk.say(ask("i", "initialize"))
    line = answer("i", {"commands": []})
    line["response"]["pending_permission_requests"] = [may(), may("ask_2", tool="tool_2")]
    talk.hear(line)
    assert [event.request.id for event in talk.events if isinstance(event, PermissionAsked)] == ["ask_1", "ask_2"]


QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "Which?",
            "header": "Pick",
            "options": [{"label": "A", "description": "the first"}, {"label": "B", "preview": "b"}],
            "multiSelect": True,
        }
    ]
}


def test_questions_are_objects_of_their_own() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="AskUserQuestion", **QUESTIONS)), may(name="AskUserQuestion", input=QUESTIONS))
    choices = [Choice("A", "the first"), Choice("B", None, "b")]
    asked = Questions(
        id="ask_1", at=2.0, tool_id="tool_1", questions=[Question("Which?", "Pick", choices, several=True)]
    )
    assert only(QuestionsAsked, talk.events) == QuestionsAsked(2.0, asked)
    updated = {**QUESTIONS, "answers": {"Which?": ["A", "B"]}}
    told = only(RequestAnswered, talk.say(answer("ask_1", {"behavior": "allow", "updatedInput": updated})))
    assert (told.kind, told.answer, told.answers) == ("questions", "allow", {"Which?": "A, B"})
    assert talk.item(Questions, "ask_1").answers == {"Which?": "A, B"}


def test_questions_can_be_declined() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="AskUserQuestion", **QUESTIONS)), may(name="AskUserQuestion", input=QUESTIONS))
    talk.say(answer("ask_1", {"behavior": "deny", "message": "Later"}))
    item = talk.item(Questions, "ask_1")
    assert (item.declined, item.note) == (True, "Later")


def test_a_plan_review_has_the_plan_of_the_call_when_the_request_leaves_it_out() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="ExitPlanMode", plan="1. Look")), may(name="ExitPlanMode", input={}))
    review = PlanReview(id="ask_1", at=2.0, tool_id="tool_1", plan="1. Look")
    assert only(PlanReviewAsked, talk.events) == PlanReviewAsked(2.0, review)


def test_a_plan_is_approved_with_a_mode_or_sent_back_with_a_note() -> None:
    talk = Talk()
    given = {"plan": "1. Look", "planFilePath": "/p.md", "allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}]}
    talk.hear(may("one", "ExitPlanMode", "tool_1", input=given), may("two", "ExitPlanMode", "tool_2", input={}))
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    talk.say(answer("one", {"behavior": "allow", "updatedPermissions": [mode]}))
    talk.say(answer("two", {"behavior": "deny", "message": "Add a step"}))
    one, two = talk.item(PlanReview, "one"), talk.item(PlanReview, "two")
    assert (one.approved, one.mode, one.path, one.allowed_prompts) == (True, "acceptEdits", "/p.md", ["run tests"])
    assert (two.approved, two.note, two.plan) == (False, "Add a step", None)


def test_an_elicitation_is_asked_answered_and_completed() -> None:
    talk = Talk()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = talk.hear(
        ask("e", "elicitation", mcp_server_name="st", message="Name?", requested_schema=schema, elicitation_id="el")
    )
    item = Elicitation(id="e", at=1.0, server="st", message="Name?", form=schema, elicitation_id="el")
    assert only(ElicitationAsked, asked) == ElicitationAsked(1.0, item)
    told = only(RequestAnswered, talk.say(answer("e", {"action": "accept", "content": {"name": "Bob"}})))
    assert (told.kind, told.answer) == ("elicitation", "accept")
    done = talk.hear(system("elicitation_complete", mcp_server_name="st", elicitation_id="el"))
    assert done == [ElicitationCompleted(3.0, "e", "st")]
    assert talk.item(Elicitation, "e").completed


def test_a_dialog_is_asked_and_answered() -> None:
    talk = Talk()
    asked = talk.hear(ask("d", "request_user_dialog", dialog_kind="survey", payload={"q": 1}))
    assert only(DialogAsked, asked).request == Dialog(id="d", at=1.0, kind="survey", payload={"q": 1})
    assert only(RequestAnswered, talk.say(answer("d", {"behavior": "cancelled"}))).answer == "cancelled"
    assert talk.item(Dialog, "d").behavior == "cancelled"
