"""Answer the questions that Claude asks (the tool ``AskUserQuestion``).

The answers go by the question's text: a label, free text, or a list of labels where several may be chosen. Questions
may be left out; ``None`` skips them all.
"""

import asyncio

from _where import HOST
from quarterdeck import AskUserQuestionInput, ClaudeAgentOptions, ToolPermissionContext, connect


async def answer(asked: AskUserQuestionInput, context: ToolPermissionContext) -> dict[str, str | list[str]]:
    answers: dict[str, str | list[str]] = {}
    for question in asked.questions:
        labels = [option.label for option in question.options]
        print(question.question, labels)
        answers[question.question] = labels if question.multi_select else labels[0]
    return answers


async def main() -> None:
    async with connect(ClaudeAgentOptions(on_question=answer), host=HOST) as session:
        print((await session.prompt("Ask me what I would like to eat.")).result)


asyncio.run(main())
