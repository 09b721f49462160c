"""``AskUserQuestion``: the model's questions to the user, and how to answer them.

The questions arrive as a permission request. Answer by allowing the call with an input that has the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from quarterdeck.wire._base import WireObject
from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput


class QuestionOption(View, kw_only=True):
    label: str
    description: str | None = None
    preview: str | None = None


class Question(View, kw_only=True):
    question: str
    header: str | None = None
    options: list[QuestionOption]
    multi_select: bool = msgspec.field(
        default_factory=bool, name="multiSelect"
    )  # a factory: the CLI requires the field


class QuestionAnnotation(View, kw_only=True):
    preview: str | None = None
    notes: str | None = None
    unanswered: str | None = None  # in results: skipped, replied_in_chat, dismissed


class AskUserQuestionInput(ToolInput, kw_only=True):
    questions: list[Question]
    answers: dict[str, str | list[str]] | None = None
    annotations: dict[str, QuestionAnnotation] | None = None
    metadata: dict[str, Any] | None = None


class AskUserQuestionOutput(ToolOutput, kw_only=True):
    questions: list[Question]
    answers: dict[str, str | list[str]] | None = None
    response: str | None = None
    annotations: dict[str, QuestionAnnotation] | None = None
    afk_timeout_ms: Number | None = None


def answer_questions(
    asked: AskUserQuestionInput | Mapping[str, Any],
    answers: Mapping[str, str | Sequence[str]],
    *,
    annotations: Mapping[str, QuestionAnnotation | Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The ``updatedInput`` that answers ``asked``: answers by the question's text, several labels as a list.

    A question may be left out. The questions are repeated, because the CLI rejects an input that has only the answers
    (2.1.325). Several labels are joined by a comma: the CLI's own type for an answer is a string.
    """
    updated = asked.to_dict() if isinstance(asked, WireObject) else dict(asked)
    texts = [question["question"] for question in updated["questions"]]
    strange = [text for text in (*answers, *(annotations or ())) if text not in texts]
    if strange:
        raise ValueError(f"not among the questions asked: {strange}; they are {texts}")
    updated = updated | {"answers": {text: _joined(answer) for text, answer in answers.items()}}
    if annotations:
        updated["annotations"] = {text: _plain(note) for text, note in annotations.items()}
    return updated


def _joined(answer: str | Sequence[str]) -> str:
    return answer if isinstance(answer, str) else ", ".join(answer)


def _plain(note: QuestionAnnotation | Mapping[str, Any]) -> dict[str, Any]:
    return note.to_dict() if isinstance(note, WireObject) else dict(note)
