"""can_use_tool, questions and plans: what may be answered, and what each version makes of it."""

from __future__ import annotations

import pytest

from claims.reading import NEWEST, OLD, VERSIONS, Line, Talk, every_talk, talk

TOUCH = {"command": "touch made.txt", "description": "Make a file"}
INVALID = "returned an invalid permission result"


def _ran(run: Talk) -> bool:
    """Whether the one tool call was executed."""
    (content,) = run.tool_results()
    return content in ("", "(Bash completed with no output)")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_permission_request_has_tool_input_and_id_and_comes_after_the_call(version: str) -> None:
    run = talk("perm_allow", version)
    (asked,) = run.asked()
    call = run.of("assistant")[1]["message"]["content"][0]
    assert (asked["tool_name"], asked["input"], asked["tool_use_id"]) == ("Bash", TOUCH, call["id"])
    kinds = [kind for kind in run.kinds() if not kind.startswith("system/status")]
    assert kinds == [
        "control_response",
        "system/init",
        "assistant",
        "assistant",
        "control_request",
        "user",
        "assistant",
        "result",
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_suggestions_are_updates_that_could_be_sent_back(version: str) -> None:
    (asked,) = talk("perm_allow", version).asked()
    types = [update["type"] for update in asked["permission_suggestions"]]
    expected = {"2.0.77": ["addRules"], NEWEST: ["addRules", "addDirectories", "setMode"]}
    assert types == expected.get(version, ["addDirectories", "setMode"])
    for update in asked["permission_suggestions"]:
        assert update["destination"] in ("session", "localSettings")
    rules = [update for update in asked["permission_suggestions"] if update["type"] == "addRules"]
    for update in rules:
        assert update["behavior"] == "allow"
        assert update["rules"] == [{"toolName": "Bash", "ruleContent": "touch made.txt"}]


@pytest.mark.parametrize("version", VERSIONS)
def test_why_it_asks_is_a_reason_on_2_0_77_and_a_path_later(version: str) -> None:
    (asked,) = talk("perm_allow", version).asked()
    if version == "2.0.77":
        assert asked["decision_reason"] == "This command requires approval"
        assert "blocked_path" not in asked
    else:
        assert asked["blocked_path"].endswith("/made.txt")
        assert "decision_reason" not in asked


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sub_agent_that_asks_is_named(version: str) -> None:
    (asked,) = talk("subagent_foreground", version).asked()
    assert asked["agent_id"]
    assert "agent_id" not in talk("perm_allow", version).asked()[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_allow_runs_the_tool(version: str) -> None:
    assert _ran(talk("perm_allow", version))


@pytest.mark.parametrize("version", VERSIONS)
def test_allow_may_change_the_input(version: str) -> None:
    run = talk("perm_updated_input", version)
    (answer,) = [line["response"]["response"] for line in run.sent if line["type"] == "control_response"]
    assert answer["updatedInput"] == {"command": "touch other.txt"}
    assert _ran(run)


@pytest.mark.parametrize("version", VERSIONS)
def test_allow_without_an_input_is_a_denial_but_for_the_newest_version(version: str) -> None:
    run = talk("perm_allow_no_updated_input", version)
    assert _ran(run) is (version == NEWEST)
    if version != NEWEST:
        assert "ZodError" in run.tool_results()[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_deny_tells_the_model_the_reason_and_the_turn_goes_on(version: str) -> None:
    run = talk("perm_deny", version)
    assert run.tool_results() == ["Not on a Sunday"]
    assert run.texts()[-1] == "I respect that."
    assert run.result["subtype"] == "success"


@pytest.mark.parametrize("version", VERSIONS)
def test_deny_with_interrupt_ends_the_turn_and_the_session_goes_on(version: str) -> None:
    run = talk("perm_deny_interrupt", version)
    assert [result["subtype"] for result in run.of("result")] == ["error_during_execution", "success"]
    assert [result["is_error"] for result in run.of("result")] == [version == NEWEST, False]
    (told,) = run.tool_results()
    assert (told == "Stop") is (version in OLD)


@pytest.mark.parametrize("shape", ["allowed_true", "behavior_ask", "deny_without_message", "null"])
def test_another_shape_of_answer_is_a_denial(shape: str) -> None:
    (told,) = talk(f"perm_bad_shape_{shape}").tool_results()
    assert INVALID in told


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_for_an_answer_is_a_denial(version: str) -> None:
    assert talk("perm_error_response", version).tool_results() == [
        "Tool permission request failed: Error: host exploded"
    ]


def test_the_id_of_the_tool_use_is_not_checked() -> None:
    run = talk("perm_bad_shape_wrong_tool_use_id")
    assert _ran(run)
    assert '"toolUseID"' in str(run.sent).replace("'", '"')
    assert _ran(talk("perm_allow"))  # and may be left out


def test_a_rule_for_the_session_saves_the_next_question() -> None:
    run = talk("perm_updated_permissions_session")
    assert len(run.asked()) == 1
    assert len(run.tool_results()) == 2
    (answer,) = run.answers("list_permission_rules")
    rules = answer["response"]["state"]["rules"]
    assert [(rule["source"], rule["rule"]) for rule in rules] == [("session", "Bash(touch:*)")]


def test_a_rule_may_go_to_a_settings_file() -> None:
    (answer,) = talk("perm_updated_permissions_local_settings").answers("list_permission_rules")
    assert answer["response"]["state"]["rules"][0]["source"] == "localSettings"


def test_the_suggestions_can_be_sent_back_as_they_are() -> None:
    run = talk("perm_updated_permissions_suggestions")
    assert [line["permissionMode"] for line in run.of("system", "status") if "permissionMode" in line] == [
        "acceptEdits"
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_null_in_a_rule_spoils_the_answer_or_the_list(version: str) -> None:
    run = talk("rules_with_null_content", version)
    assert len(run.asked()) == 2  # the rule for all of Bash did not take
    ran = [content == "(Bash completed with no output)" for content in run.tool_results()]
    assert ran == [version == NEWEST] * 2


def test_reads_and_sub_agents_ask_in_parallel_and_take_answers_in_any_order() -> None:
    for scenario in ("perm_parallel_reads_in_flight", "perm_parallel_two_subagents_in_flight"):
        run = talk(scenario)
        ids = [line["request_id"] for line in run.of("control_request")]
        answered = [line["response"]["request_id"] for line in run.sent if line["type"] == "control_response"]
        assert answered == ids[::-1]
        assert run.result["subtype"] == "success"


@pytest.mark.parametrize("version", VERSIONS)
def test_tools_that_change_things_ask_one_after_the_other(version: str) -> None:
    kinds = [kind for kind in talk("perm_three_tools_one_at_a_time", version).kinds() if "assistant" not in kind]
    assert [kind for kind in kinds if kind in ("control_request", "user")] == ["control_request", "user"] * 3


@pytest.mark.parametrize("version", VERSIONS)
def test_an_allowed_tool_is_not_asked_about(version: str) -> None:
    asked = talk("hooks_basic", version).asked()
    assert asked == []  # --allowedTools Bash
    by_pattern = talk("allowed_tools_no_prompt", version).asked()
    assert bool(by_pattern) is (version in ("2.1.17", "2.1.25", "2.1.52"))


def test_the_mode_that_never_asks_denies() -> None:
    run = talk("perm_mode_dont_ask_denied")
    assert run.asked() == []
    assert len(run.of("system", "permission_denied")) == 1


def test_the_mode_for_edits_lets_them_through() -> None:
    run = talk("accept_edits_mode")
    assert run.asked() == []
    assert "File created successfully" in run.tool_results()[0]


def test_the_mode_without_checks_asks_nobody_and_is_refused_to_root() -> None:
    assert talk("bypass_permissions_mode").asked() == []
    assert talk("bypass_permissions_as_root").header.exit_code == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_modes_can_be_set_and_only_the_newest_version_refuses_what_is_none(version: str) -> None:
    first: dict[str, Line] = {}
    for answer in talk("modes_and_model_reset", version).answers("set_permission_mode"):
        first.setdefault(answer["request_id"], answer)
    outcome = [answer.get("response", {}).get("mode", answer.get("error_code")) for answer in first.values()]
    known = ["default", "acceptEdits", "plan", "dontAsk"]
    if version == NEWEST:
        assert outcome == [*known, "invalid_mode", "bypass_not_launched", "invalid_mode"]
    else:
        assert outcome == [*known, "delegate", "bypassPermissions", "no-such-mode"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_question_comes_as_a_permission_request_and_its_answers_go_with_the_questions(version: str) -> None:
    run = talk("ask_single_answered", version)
    (asked,) = run.asked()
    (question,) = asked["input"]["questions"]
    assert set(question) == {"question", "header", "options", "multiSelect"}
    assert question["options"][0] == {"label": "Olives", "description": "With olives"}
    assert '"Which topping?"="Olives"' in run.tool_results()[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_alone_are_enough_but_for_the_newest_version(version: str) -> None:
    alone, repeated = talk("answers_only_and_array", version).tool_results()
    assert ("failed schema validation" in alone) is (version == NEWEST)
    assert ('"Which topping?"="Olives,Corn"' in alone) is (version in OLD)
    assert '"Which topping?"="Olives,Corn"' in repeated


def test_several_choices_are_a_list_or_a_text() -> None:
    assert '="Olives,Corn"' in talk("ask_multiselect_array").tool_results()[0]
    assert '="Olives, Corn"' in talk("ask_multiselect_string").tool_results()[0]


def test_an_answer_may_be_free_text() -> None:
    assert '="Something else entirely"' in talk("ask_free_text").tool_results()[0]


def test_a_skipped_question_is_a_denial_the_model_hears() -> None:
    assert talk("ask_skipped").tool_results() == ["The user did not want to answer"]
    assert talk("ask_allow_without_answers").tool_results() == ["The user did not answer the questions."]


def test_options_as_plain_texts_never_reach_the_host() -> None:
    run = talk("ask_invalid_question")
    assert run.asked() == []
    assert "InputValidationError" in run.tool_results()[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_option_without_a_description_never_reaches_the_host(version: str) -> None:
    run = talk("option_without_description", version)
    assert run.asked() == []
    assert "`questions[0].options[1].description` is missing" in run.tool_results()[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plan_is_in_the_input_up_to_2_1_52(version: str) -> None:
    (asked,) = talk("plan_approve", version).asked()
    assert asked["tool_name"] == "ExitPlanMode"
    assert asked["input"] == ({} if version == NEWEST else {"plan": "1. Look\n2. Leap"})


def test_the_plan_is_that_of_its_file_on_the_newest_version() -> None:
    run = talk("plan_with_plan_file")
    (asked,) = run.asked()
    assert set(asked["input"]) == {"plan", "planFilePath"}
    assert asked["input"]["plan"] == "1. Look\n2. Leap\n"
    assert "File created successfully" in run.tool_results()[0]  # Write ran in plan mode


@pytest.mark.parametrize("version", VERSIONS)
def test_no_plan_ever_named_prompts_to_allow(version: str) -> None:
    asked = [
        request for one in every_talk(version) for request in one.asked() if request["tool_name"] == "ExitPlanMode"
    ]
    assert asked
    assert not any({"allowedPrompts", "pushToRemote"} & set(request["input"]) for request in asked)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_approved_plan_leaves_plan_mode(version: str) -> None:
    run = talk("plan_approve", version)
    assert run.init["permissionMode"] == "plan"
    assert "approved exiting plan mode" in run.tool_results()[0]
    modes = [line["permissionMode"] for line in run.of("system", "status") if "permissionMode" in line]
    assert modes == (["default"] if version in ("2.1.52", NEWEST) else [])


def test_a_plan_is_sent_back_by_a_denial_and_rejected_by_one_with_interrupt() -> None:
    revised = talk("plan_revise")
    assert revised.tool_results()[0] == "Add a third step"
    assert len(revised.asked()) == 2
    assert talk("plan_reject").result["subtype"] == "error_during_execution"


def test_an_approved_plan_may_choose_the_mode() -> None:
    modes = [line.get("permissionMode") for line in talk("plan_approve_set_mode").of("system", "status")]
    assert modes == ["acceptEdits"]
