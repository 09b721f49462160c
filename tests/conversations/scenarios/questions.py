"""AskUserQuestion and ExitPlanMode: what a person is asked through can_use_tool."""

from __future__ import annotations

import re
from typing import Any

from conversations.driver import Run
from conversations.scenarios._registry import every, newest, register
from conversations.stage import Stage
from quarterdeck.testing.model import ApiRequest, Reply, ToolUse


def _question(*, multi: bool = False) -> dict[str, Any]:
    options = [{"label": label, "description": f"With {label.lower()}"} for label in ("Olives", "Corn", "Ham")]
    return {"question": "Which topping?", "header": "Topping", "options": options, "multiSelect": multi}


def _answered(answer: Any, *, multi: bool = False) -> dict[str, Any]:
    questions = [_question(multi=multi)]
    return {"behavior": "allow", "updatedInput": {"questions": questions, "answers": {"Which topping?": answer}}}


def _play_question(stage: Stage, response: dict[str, Any], *, multi: bool = False) -> None:
    stage.model.reply(ToolUse("AskUserQuestion", {"questions": [_question(multi=multi)]}))
    stage.model.reply("Thank you.")
    with stage.claude() as run:
        run.initialize()
        run.user("Ask me")
        run.answer(run.asked(), response)
        run.result()


@every
def ask_single_answered(stage: Stage) -> None:
    _play_question(stage, _answered("Olives"))


ASKED: dict[str, tuple[dict[str, Any], bool]] = {
    "multiselect_string": (_answered("Olives, Corn", multi=True), True),
    "multiselect_array": (_answered(["Olives", "Corn"], multi=True), True),
    "free_text": (_answered("Something else entirely"), False),
    "skipped": ({"behavior": "deny", "message": "The user did not want to answer"}, False),
    "allow_without_answers": ({"behavior": "allow", "updatedInput": {"questions": [_question()]}}, False),
    "answers_only": ({"behavior": "allow", "updatedInput": {"answers": {"Which topping?": "Corn"}}}, False),
}


def _asked(response: dict[str, Any], *, multi: bool) -> Any:
    return lambda stage: _play_question(stage, response, multi=multi)


for _name, (_response, _multi) in ASKED.items():
    register(f"ask_{_name}", _asked(_response, multi=_multi))


@newest
def ask_invalid_question(stage: Stage) -> None:
    stage.model.reply(ToolUse("AskUserQuestion", {"questions": [{"question": "Which?", "options": ["a", "b"]}]}))
    stage.model.reply("I asked badly.")
    with stage.claude() as run:
        run.initialize()
        run.turn("Ask me")


def _plan_run(run: Run) -> dict[str, Any]:
    run.initialize()
    run.user("Plan it")
    return run.asked()


def _script_plan(stage: Stage, *after: str) -> None:
    stage.model.reply("Here is my plan.", ToolUse("ExitPlanMode", {"plan": "1. Look\n2. Leap"}))
    for text in after:
        stage.model.reply(text)


@every
def plan_approve(stage: Stage) -> None:
    _script_plan(stage, "Carrying it out.")
    with stage.claude("--permission-mode", "plan") as run:
        request = _plan_run(run)
        run.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
        run.result()


@newest
def plan_approve_set_mode(stage: Stage) -> None:
    _script_plan(stage, "Carrying it out.")
    with stage.claude("--permission-mode", "plan") as run:
        request = _plan_run(run)
        mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        allow = {"behavior": "allow", "updatedInput": request["request"]["input"], "updatedPermissions": [mode]}
        run.answer(request, allow)
        run.result()


@newest
def plan_revise(stage: Stage) -> None:
    _script_plan(stage)
    _script_plan(stage, "Carrying it out.")
    with stage.claude("--permission-mode", "plan") as run:
        request = _plan_run(run)
        run.answer(request, {"behavior": "deny", "message": "Add a third step"})
        again = run.asked()
        run.answer(again, {"behavior": "allow", "updatedInput": again["request"]["input"]})
        run.result()


@newest
def plan_reject(stage: Stage) -> None:
    _script_plan(stage)
    with stage.claude("--permission-mode", "plan") as run:
        request = _plan_run(run)
        run.answer(request, {"behavior": "deny", "message": "No plan at all", "interrupt": True})
        run.result()


@newest
def plan_with_plan_file(stage: Stage) -> None:
    """The CLI names a plan file in its instructions; the plan shown to the person is what is in that file."""

    def write_plan(request: ApiRequest) -> Reply:
        found = re.search(r"/\S+/\.claude/plans/[\w-]+\.md", request.text)
        if found is None:
            raise LookupError("the CLI named no plan file")
        return Reply(blocks=(ToolUse("Write", {"file_path": found[0], "content": "1. Look\n2. Leap\n"}),))

    stage.model.reply_with(write_plan)
    _script_plan(stage, "Carrying it out.")
    with stage.claude("--permission-mode", "plan") as run:
        request = _plan_run(run)
        run.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
        run.result()
