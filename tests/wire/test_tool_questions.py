"""The answer to the model's questions."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.wire.tools import (
    answer_questions,
    parse_tool_input,
    questions,
)
from wire.tool_samples import ASKED, ASKED_TYPED

ANSWERS = {"Which color?": "Red", "Which toppings?": ["Olives", "Corn"]}
ANSWERED = ASKED | {"answers": {"Which color?": "Red", "Which toppings?": "Olives, Corn"}}


@pytest.mark.parametrize(
    "asked",
    [
        ASKED,
        parse_tool_input("AskUserQuestion", ASKED),
        questions.AskUserQuestionInput(questions=ASKED_TYPED),
    ],
    ids=["dict", "view", "built here"],
)
def test_answers_go_with_the_questions_repeated(asked: Any) -> None:
    assert answer_questions(asked, ANSWERS) == ANSWERED


def test_what_else_the_model_said_is_repeated_too() -> None:
    asked = ASKED | {"metadata": {"source": "s"}, "new_key": 1}
    view = parse_tool_input("AskUserQuestion", asked)

    assert answer_questions(view, ANSWERS) == ANSWERED | {"metadata": {"source": "s"}, "new_key": 1}
    assert "answers" not in asked


@pytest.mark.parametrize("note", [{"notes": "n"}, questions.QuestionAnnotation(notes="n")])
def test_answers_may_carry_annotations(note: Any) -> None:
    answered = answer_questions(ASKED, {"Which color?": "blue, really"}, annotations={"Which color?": note})

    assert answered == ASKED | {
        "answers": {"Which color?": "blue, really"},
        "annotations": {"Which color?": {"notes": "n"}},
    }


@pytest.mark.parametrize(
    ("answers", "annotations"),
    [({"Which colour?": "Red"}, None), ({}, {"Which colour?": {"notes": "n"}})],
)
def test_an_answer_to_a_question_not_asked_is_refused(answers: Any, annotations: Any) -> None:
    with pytest.raises(ValueError, match=r"not among the questions asked: \['Which colour\?'\]; they are"):
        answer_questions(ASKED, answers, annotations=annotations)
