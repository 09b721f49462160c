"""Questions and plans: what the person answered has come back as the tool's input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim.steps import Plan

from . import Outcome

if TYPE_CHECKING:
    from quarterdeck.testing.sim.calls import SimulatedCall


def run(call: SimulatedCall) -> Outcome:
    match call.name:
        case "AskUserQuestion":
            return _answered(call.input)
        case "EnterPlanMode":
            call.cli.set_mode("plan")
            return Outcome("Entered plan mode.", {"message": "Entered plan mode."})
        case _:
            return _plan_approved(call)


def question_problems(tool_input: dict[str, Any]) -> list[str]:
    """What is wrong with the model's questions; the CLI refuses them before anyone is asked."""
    problems = []
    questions = tool_input.get("questions")
    for index, question in enumerate(questions if isinstance(questions, list) else []):
        where = f"questions[{index}]"
        if not isinstance(question, dict):
            problems.append(f"The parameter `{where}` type is expected as `object`")
            continue
        problems += [
            f"The required parameter `{where}.{name}` is missing"
            for name in ("question", "header", "options")
            if name not in question
        ]
        for number, option in enumerate(question.get("options") or []):
            if not isinstance(option, dict) or "label" not in option:
                problems.append(f"The parameter `{where}.options[{number}]` type is expected as `object` with a label")
    return problems


def _answered(tool_input: dict[str, Any]) -> Outcome:
    given = tool_input.get("answers")
    answers = given if isinstance(given, dict) else {}
    result = {"questions": tool_input["questions"], "answers": answers}
    if not answers:
        return Outcome("The user did not answer the questions.", result)
    shown = ", ".join(f'"{question}"="{_joined(answer)}"' for question, answer in answers.items())
    return Outcome(
        f"Your questions have been answered: {shown}. You can now continue with these answers in mind.", result
    )


def _joined(answer: Any) -> str:
    return ",".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def plan_input(call: SimulatedCall) -> dict[str, Any]:
    """What the person is shown: the plan in the plan file. The model's own ``plan`` is dropped (2.1.325)."""
    path = call.cli.plan_file
    if isinstance(call.scripted, Plan):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(call.scripted.text)
    return {"plan": path.read_text(), "planFilePath": str(path)} if path.is_file() else {}


def _plan_approved(call: SimulatedCall) -> Outcome:
    cli = call.cli
    if cli.session.mode == "plan":
        cli.set_mode(cli.session.mode_before_plan)
    plan = call.input.get("plan")
    result = {"plan": plan, "isAgent": False, "filePath": str(call.cli.plan_file)}
    if not plan:
        return Outcome("User has approved exiting plan mode. You can now proceed.", result)
    return Outcome(f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{plan}", result)
