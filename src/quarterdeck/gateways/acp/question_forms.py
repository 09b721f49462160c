"""Claude's questions as a form, or as choices in editors without forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quarterdeck.timeline.items import Questions
from quarterdeck.timeline.parts import Question

from . import schema
from .permission_options import OfferedOption

DONE = "Done"
OTHER = "_other"


def form(request: Questions) -> schema.CreateElicitationRequestForm:
    """Each question has a choice and a free text field."""
    properties: dict[str, Any] = {}
    for index, question in enumerate(request.questions):
        properties[f"question_{index}"] = _field(question)
        properties[f"question_{index}{OTHER}"] = schema.ElicitationPropertySchemaString(
            title=f"{question.header or question.text} (other)", description="Your own answer"
        )
    wanted = schema.ElicitationSchema(type="object", properties=properties)
    words = request.questions[0].text if len(request.questions) == 1 else "Claude has some questions."
    return schema.CreateElicitationRequestForm(message=words, requested_schema=wanted)


def _field(question: Question) -> Any:
    title = question.header or question.text
    offered = [schema.EnumOption(const=one.label, title=_described(one)) for one in question.choices]
    if question.several:
        items = schema.TitledMultiSelectItems(any_of=offered)
        return schema.ElicitationPropertySchemaArray(title=title, description=question.text, items=items)
    return schema.ElicitationPropertySchemaString(title=title, description=question.text, one_of=offered or None)


def answers(request: Questions, given: schema.CreateElicitationResponse) -> dict[str, str | list[str]] | None:
    """The answers by question; None if the form was not submitted. Free text overrides a choice."""
    if given.action != "accept":
        return None
    found: dict[str, str | list[str]] = {}
    content = given.content or {}
    for index, question in enumerate(request.questions):
        own, chosen = content.get(f"question_{index}{OTHER}"), content.get(f"question_{index}")
        if isinstance(own, str) and own.strip():
            labels = [str(one) for one in chosen] if isinstance(chosen, list) else []
            found[question.text] = [*labels, own] if labels else own
        elif isinstance(chosen, list):
            found[question.text] = [str(one) for one in chosen]
        elif isinstance(chosen, str) and chosen:
            found[question.text] = chosen
    return found


def choices(question: Question, chosen: Sequence[str]) -> list[OfferedOption]:
    """The answers as options; with several allowed, those chosen so far are marked."""
    made = [
        OfferedOption.of(
            f"answer-{index}", f"{'✓ ' if one.label in chosen else ''}{one.label}", "allow_once", None, label=one.label
        )
        for index, one in enumerate(question.choices)
    ]
    if question.several:
        made.append(OfferedOption.of("done", DONE, "allow_once", None, label=DONE))
    return [*made, OfferedOption.of("skip", "Skip", "reject_once", None)]


def described(question: Question) -> list[str]:
    """The choices that say more than their label."""
    return [_described(one) for one in question.choices if one.description]


def _described(choice: Any) -> str:
    return f"{choice.label}: {choice.description}" if choice.description else str(choice.label)
