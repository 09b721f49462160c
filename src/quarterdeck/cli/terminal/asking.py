"""The conversations with the person: may this tool run, which answer, is the plan right, what does a server want."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from quarterdeck.cli.common import Look
from quarterdeck.client.interaction import Approve, Reject, Revise
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.timeline.parts import Choice, Question
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import PLACES, Advice, Rulebook, advise, update_for
from .permission import permission_lines, permission_menu
from .question_queue import QuestionQueue
from .text import one_line, safe, wrapped
from .widgets import Field, Menu, Option, Several, Widget

DENIED = "The user denied this."
STOPPED = "The user denied this and stopped the turn."
_DONE, _OTHER, _SKIP = object(), object(), object()


class View(Protocol):
    """Where it is asked; a ``Screen``, here or in the chat."""

    questions: QuestionQueue

    @property
    def look(self) -> Look: ...

    @property
    def folder(self) -> str | None: ...

    def print(self, lines: Sequence[str], /, *, tool_id: str | None = None) -> None:
        """What is asked about, above the question."""

    def markdown(self, source: str, /) -> list[str]: ...


class Asking:
    """Asks in the question queue, and prints what is asked about above it."""

    def __init__(self, screen: View, rulebook: Rulebook) -> None:
        self._screen = screen
        self._questions = screen.questions
        self._rulebook = rulebook

    # May this tool run?

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        async with self._questions.turn():
            advice = advise(self._rulebook.policy, asked.tool_name, asked.input, asked.suggestions)
            look, folder = self._screen.look, self._screen.folder
            lines = permission_lines(asked, advice, look, note=note, folder=folder)
            self._screen.print(lines, tool_id=asked.tool_id)
            while True:
                chosen = await self._questions.ask(permission_menu(asked, advice))
                answer = await self._permission_answer(asked, advice, chosen)
                if answer is not None:
                    return answer

    async def _permission_answer(self, asked: Permission, advice: Advice, chosen: str) -> PermissionResult | None:
        """None: the person came back from a field, and is asked again."""
        if chosen == "once":
            return PermissionResultAllow()
        if chosen in PLACES:
            self._rulebook.remember(advice.rules)
            return PermissionResultAllow(updated_permissions=[update_for(advice.rules, chosen)])
        if chosen == "edit":
            changed = await self._edited(asked)
            return None if changed is None else PermissionResultAllow(updated_input=changed)
        if chosen == "note":
            said = await self._questions.ask(Field("Why not, or what instead? Claude reads it."))
            return None if said is None else PermissionResultDeny(message=said.strip() or DENIED)
        return PermissionResultDeny(message=STOPPED if chosen == "stop" else DENIED, interrupt=chosen == "stop")

    async def _edited(self, asked: Permission) -> dict[str, Any] | None:
        """The input as the person wants it: the command itself, or all of it as JSON."""
        if isinstance(asked.input.get("command"), str):
            text = await self._questions.ask(Field("Run this instead:", asked.input["command"]))
            return None if text is None else {**asked.input, "command": text}
        title, text = "Use this input instead:", json.dumps(asked.input, indent=2, ensure_ascii=False)
        while True:
            text = await self._questions.ask(Field(title, text))
            if text is None:
                return None
            try:
                changed = json.loads(text)
            except ValueError as error:
                title = f"That is not JSON ({error}). Use this input instead:"
                continue
            if isinstance(changed, dict):
                return changed
            title = "An input is a JSON object. Use this input instead:"

    # Questions

    async def questions(self, asked: Questions) -> dict[str, Any] | None:
        """Answers by question text; None when all were skipped."""
        answers: dict[str, Any] = {}
        async with self._questions.turn():
            for question in asked.questions:
                answer = await self._question(question)
                if answer is not None:
                    answers[question.text] = answer
        return answers or None

    async def _question(self, question: Question) -> str | list[str] | None:
        look = self._screen.look
        header = f"{safe(question.header)}: " if question.header else ""
        self._screen.print(
            [look.paint("bold magenta", f"? {line}") for line in wrapped(header + safe(question.text), look.width - 2)]
        )
        options = [Option(choice.label, choice.label, _hint(choice)) for choice in question.choices]
        ends = [Option(_OTHER, "Something else …", key="o"), Option(_SKIP, "Skip", key="s")]
        while True:
            widget: Widget
            if question.several:
                widget = Several(
                    "",
                    [*options, Option(_DONE, "Done", "space or the number ticks", key="d"), *ends],
                    _SKIP,
                    done=_DONE,
                )
            else:
                widget = Menu("", [*options, *ends], on_escape=_SKIP)
            chosen = await self._questions.ask(widget)
            if chosen is _SKIP or chosen == []:
                return None
            if chosen is not _OTHER:
                return chosen  # type: ignore[no-any-return]
            said = await self._questions.ask(Field("Your own answer:"))
            if said is not None and said.strip():
                return str(said)

    # Plans

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        async with self._questions.turn():
            look = self._screen.look
            title = look.paint("bold magenta", "? The plan")
            where = f"It is in {safe(asked.path)}" if asked.path else "The CLI does not tell it."
            self._screen.print(
                [title, *(self._screen.markdown(asked.plan) if asked.plan else [look.paint("dim", where)])]
            )
            while True:
                menu = Menu(
                    "Shall this be carried out?",
                    [
                        Option("approve", "Approve", "and ask before each edit", key="y"),
                        Option("accept", "Approve, and accept edits", "mode acceptEdits", key="a"),
                        Option("revise", "Revise, with a note", key="r"),
                        Option("reject", "Reject", key="n"),
                    ],
                    on_escape="reject",
                )
                chosen = await self._questions.ask(menu)
                if chosen == "approve":
                    return Approve()
                if chosen == "accept":
                    return Approve(mode="acceptEdits")
                if chosen == "reject":
                    return Reject()
                note = await self._questions.ask(Field("What should be different?"))
                if note is not None and note.strip():
                    return Revise(note.strip())

    # Servers

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]:
        async with self._questions.turn():
            look = self._screen.look
            title = f"? {safe(asked.server)} asks: {safe(asked.message)}"
            self._screen.print([look.paint("bold magenta", line) for line in wrapped(title, look.width)])
            if asked.url:
                self._screen.print([f"  {one_line(asked.url, look.width - 2)}"])
            options = [
                Option("accept", "Open it yourself, then go on" if asked.url else "Answer", key="y"),
                Option("decline", "Decline", key="n"),
                Option("cancel", "Cancel", key="c"),
            ]
            action = await self._questions.ask(Menu("", options, on_escape="cancel"))
            if action != "accept" or asked.url:
                return {"action": action}
            content = await self._form(asked.form or {})
            return {"action": "cancel"} if content is None else {"action": "accept", "content": content}

    async def _form(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        content: dict[str, Any] = {}
        for name, wanted in (schema.get("properties") or {}).items():
            value = await self._form_field(name, wanted, required=name in (schema.get("required") or ()))
            if value is _SKIP:
                return None
            if value is not None:
                content[name] = value
        return content

    async def _form_field(self, name: str, wanted: dict[str, Any], *, required: bool) -> Any:
        title = safe(str(wanted.get("title") or name)) + (
            f" — {safe(wanted['description'])}" if wanted.get("description") else ""
        )
        if wanted.get("type") == "boolean":
            options = [Option(True, "Yes", key="y"), Option(False, "No", key="n")]
            return await self._questions.ask(Menu(title, options, on_escape=_SKIP))
        if isinstance(wanted.get("enum"), list):
            options = [Option(value, str(value)) for value in wanted["enum"]]
            return await self._questions.ask(Menu(title, options, on_escape=_SKIP))
        default = wanted.get("default")
        text = "" if default is None else str(default)
        while True:
            text = await self._questions.ask(Field(title if required else f"{title} (may stay empty)", text))
            if text is None:
                return _SKIP
            if not text and not required:
                return None
            try:
                return _NUMBERS[wanted["type"]](text) if wanted.get("type") in _NUMBERS else text
            except ValueError:
                title = f"{title} (a number, please)" if "a number, please" not in title else title


def _hint(choice: Choice) -> str:
    return choice.description if choice.description and choice.description != choice.label else ""


_NUMBERS: dict[str, Callable[[str], Any]] = {"integer": int, "number": float}
