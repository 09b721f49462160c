"""AskUserQuestion and ExitPlanMode: what a person is asked."""

from __future__ import annotations

from typing import Any

from conformance.scenario import scenario
from conformance.stage import (
    Stage,
    expect,
    expect_that,
    of_kind,
    result_of,
    text_of,
    told,
    tool_results,
)
from quarterdeck.client import Approve, Plan, Reject
from quarterdeck.testing.model import ToolUse
from quarterdeck.wire import InitMessage, PermissionResultAllow, StatusMessage

QUESTION = {
    "question": "Which topping?",
    "header": "Topping",
    "options": [{"label": label, "description": f"With {label}"} for label in ("Olives", "Corn", "Ham")],
    "multiSelect": False,
}


async def _asked(stage: Stage, answer: Any, **more: Any) -> str:
    """One question, answered so; what the model was told."""
    stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION | more]}))
    stage.reply("Thank you.")
    async with stage.session(on_question=lambda *_: answer, can_use_tool=stage.allow) as session:
        messages = await told(session.prompt("ask me"))
    (result,) = tool_results(messages)
    return text_of(result)


async def _planned(stage: Stage, review: Any, *further: Any) -> tuple[list[Any], list[Plan]]:
    plans: list[Plan] = []

    def on_plan(plan: Plan, _: Any) -> Any:
        plans.append(plan)
        return review(len(plans))

    for step in (ToolUse("ExitPlanMode", {"plan": "1. Look"}), *further):
        stage.reply(step)
    stage.reply("Carrying it out.")
    async with stage.session(on_plan=on_plan, can_use_tool=stage.allow) as session:
        await session.set_permission_mode("plan")
        messages = await told(session.prompt("plan it"))
        await session.set_permission_mode("default")
        return messages, plans


@scenario(
    "questions",
    "A question is answered with one of its options",
    "004-question-shape",
    "004-question-answer",
    "001-question-answer",
    "002-question-answer-key",
)
async def question_answered(stage: Stage) -> None:
    said = await _asked(stage, {"Which topping?": "Corn"})
    expect_that("Corn" in said and "Which topping?" in said, f"the model was told {said!r}")


@scenario("questions", "Several options can be chosen, as a list", "002-question-multi-array")
async def question_several(stage: Stage) -> None:
    said = await _asked(stage, {"Which topping?": ["Olives", "Corn"]}, multiSelect=True)
    expect_that("Olives" in said and "Corn" in said, f"the model was told {said!r}")


@scenario("questions", "The answer can be free text")
async def question_free_text(stage: Stage) -> None:
    said = await _asked(stage, {"Which topping?": "Something else entirely"})
    expect_that("Something else entirely" in said, f"the model was told {said!r}")


@scenario("questions", "A question can be skipped", "004-question-skip")
async def question_skipped(stage: Stage) -> None:
    said = await _asked(stage, None)
    expect_that("The user skipped the question." in said, f"the model was told {said!r}")


@scenario("questions", "Answers without the questions are rejected", "002-question-answers-only")
async def question_answers_only(stage: Stage) -> None:
    stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
    stage.reply("Thank you.")
    answer = PermissionResultAllow(updated_input={"answers": {"Which topping?": "Corn"}})
    async with stage.session(can_use_tool=lambda *_: answer) as session:
        messages = await told(session.prompt("ask me"))
    expect("refused", [block.is_error for block in tool_results(messages)], [True])


@scenario(
    "questions",
    "An option without a description is rejected before anyone is asked",
    "004-question-description-optional",
    simulator="the simulator asks the question",
)
async def question_without_description(stage: Stage) -> None:
    stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION | {"options": [{"label": "A"}, {"label": "B"}]}]}))
    stage.reply("Thank you.")
    async with stage.session(can_use_tool=stage.allow) as session:
        messages = await told(session.prompt("ask me"))
    expect("asked about", stage.asked, [])
    expect("refused", [block.is_error for block in tool_results(messages)], [True])


@scenario(
    "questions",
    "AskUserQuestion is offered only if there is a callback",
    "003-ask-disabled",
    simulator="the simulator always offers it",
    alone=True,
)
async def question_offered(stage: Stage) -> None:
    offered = []
    for options in ({"can_use_tool": stage.allow}, {}):
        stage.reply("hi")
        async with stage.session(**options) as session:
            (init,) = of_kind(await told(session.prompt("hi")), InitMessage)
            offered.append("AskUserQuestion" in (init.tools or ()))
    expect("offered with a callback, and without", offered, [True, False])


@scenario("plans", "Approving a plan ends plan mode", "004-plan-execute")
async def plan_approved(stage: Stage) -> None:
    messages, _ = await _planned(stage, lambda _: True)
    expect("the result", result_of(messages).result, "Carrying it out.")
    modes = [message.permission_mode for message in of_kind(messages, StatusMessage) if message.permission_mode]
    expect("the reported mode", modes[-1:], ["default"])


@scenario("plans", "The plan is included only if the plan file exists", "004-plan-input", "003-tool-ExitPlanMode")
async def plan_text(stage: Stage) -> None:
    _, plans = await _planned(stage, lambda _: True)
    expect("the plan", [plan.text for plan in plans], [None])


@scenario("plans", "A plan denied with a message is revised and submitted again", "004-plan-revise")
async def plan_revised(stage: Stage) -> None:
    again = ToolUse("ExitPlanMode", {"plan": "1. Look 2. Leap"})
    messages, plans = await _planned(stage, lambda count: "Add a second step" if count == 1 else True, again)
    expect("plans", len(plans), 2)
    first, *_ = tool_results(messages)
    expect_that("Add a second step" in text_of(first), "the model was not told the wish")


@scenario("plans", "Rejecting a plan can end the turn", "004-plan-reject")
async def plan_rejected(stage: Stage) -> None:
    messages, _ = await _planned(stage, lambda _: Reject("No plan at all", stop=True))
    expect("the result", result_of(messages).subtype, "error_during_execution")


@scenario("plans", "Approving a plan can set the mode for carrying it out")
async def plan_mode(stage: Stage) -> None:
    write = ToolUse("Write", {"file_path": str(stage.cwd / "planned.md"), "content": "x"})
    await _planned(stage, lambda _: Approve(mode="acceptEdits"), write)
    expect("asked about", stage.asked, [])
    expect_that((stage.cwd / "planned.md").exists(), "the file was not written")
