"""What a model asks and plans, for the tests of several tools."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire.tools import (
    planning,
    questions,
)

ASKED = {
    "questions": [
        {
            "question": "Which color?",
            "header": "Color",
            "options": [{"label": "Red", "description": "r"}, {"label": "Green", "description": "g", "preview": "p"}],
            "multiSelect": False,
        },
        {
            "question": "Which toppings?",
            "header": "Pizza",
            "options": [{"label": "Olives", "description": "o"}, {"label": "Corn", "description": "c"}],
            "multiSelect": True,
        },
    ]
}
ASKED_TYPED = [
    questions.Question(
        question="Which color?",
        header="Color",
        options=[
            questions.QuestionOption(label="Red", description="r"),
            questions.QuestionOption(label="Green", description="g", preview="p"),
        ],
    ),
    questions.Question(
        question="Which toppings?",
        header="Pizza",
        options=[
            questions.QuestionOption(label="Olives", description="o"),
            questions.QuestionOption(label="Corn", description="c"),
        ],
        multi_select=True,
    ),
]
TODO = {"content": "c", "status": "pending", "activeForm": "doing c"}
TODO_TYPED = planning.Todo(content="c", status="pending", active_form="doing c")


def attributes(view: Any) -> dict[str, Any]:
    return {name: getattr(view, name) for name in view.__struct_fields__ if name != "origin_"}
