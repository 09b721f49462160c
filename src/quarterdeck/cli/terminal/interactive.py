"""Asks the user: permissions, questions, plans and forms of MCP servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from quarterdeck.cli.common import Look
from quarterdeck.client.interaction import Approve, Reject, Revise
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.timeline.parts import Choice, Question
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import PLACES, Advice, SessionRules, advise, update_for
from .permission import permission_lines, permission_menu
from .question_queue import QuestionQueue
from .text import one_line, safe, wrapped
from .widgets import Checklist, Menu, MenuOption, TextField, Widget

DENIED = "The user denied this."
STOPPED = "The user denied this and stopped the turn."
_DONE, _OTHER, _SKIP = object(), object(), object()
_NOT_A_NUMBER = " (must be a number)"


class QuestionScreen(Protocol):
    """What we need of a ``Screen``."""

    questions: QuestionQueue

    @property
    def look(self) -> Look: ...

    @property
    def folder(self) -> str | None: ...

    def print(self, lines: Sequence[str], /, *, tool_id: str | None = None) -> None:
        """Print what the question is about, above it."""

    def markdown(self, source: str, /) -> list[str]: ...


class InteractiveAnswerer:
    """Asks in the question queue and prints the details above it."""

    def __init__(self, screen: QuestionScreen, rules: SessionRules) -> None:
        self._screen = screen
        self._questions = screen.questions
        self._rules = rules

    # Permissions

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        async with self._questions.turn():
            advice = advise(self._rules.policy, asked.tool_name, asked.input, asked.suggestions)
            look, folder = self._screen.look, self._screen.folder
            lines = permission_lines(asked, advice, look, note=note, folder=folder)
            self._screen.print(lines, tool_id=asked.tool_id)
            while True:
                chosen = await self._questions.ask(permission_menu(asked, advice))
                answer = await self._permission_answer(asked, advice, chosen)
                if answer is not None:
                    return answer

    async def _permission_answer(self, asked: Permission, advice: Advice, chosen: str) -> PermissionResult | None:
        """None if the user left a text field with Escape: ask again."""
        if chosen == "once":
            return PermissionResultAllow()
        if chosen in PLACES:
            self._rules.remember(advice.rules)
            return PermissionResultAllow(updated_permissions=[update_for(advice.rules, chosen)])
        if chosen == "edit":
            changed = await self._edited(asked)
            return None if changed is None else PermissionResultAllow(updated_input=changed)
        if chosen == "note":
            said = await self._questions.ask(TextField("Tell Claude why, or what to do instead:"))
            return None if said is None else PermissionResultDeny(message=said.strip() or DENIED)
        return PermissionResultDeny(message=STOPPED if chosen == "stop" else DENIED, interrupt=chosen == "stop")

    async def _edited(self, asked: Permission) -> dict[str, Any] | None:
        """The input as edited: the command, or the whole input as JSON."""
        if isinstance(asked.input.get("command"), str):
            text = await self._questions.ask(TextField("Run this instead:", asked.input["command"]))
            return None if text is None else {**asked.input, "command": text}
        title, text = "Use this input instead:", json.dumps(asked.input, indent=2, ensure_ascii=False)
        while True:
            text = await self._questions.ask(TextField(title, text))
            if text is None:
                return None
            try:
                changed = json.loads(text)
            except ValueError as error:
                title = f"Invalid JSON ({error}). Use this input instead:"
                continue
            if isinstance(changed, dict):
                return changed
            title = "The input must be a JSON object. Use this input instead:"

    # Questions

    async def questions(self, asked: Questions) -> dict[str, Any] | None:
        """Question → answer; None if all were skipped."""
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
        options = [MenuOption(choice.label, choice.label, _hint(choice)) for choice in question.choices]
        ends = [MenuOption(_OTHER, "Other …", key="o"), MenuOption(_SKIP, "Skip", key="s")]
        while True:
            widget: Widget
            if question.several:
                widget = Checklist(
                    "",
                    [*options, MenuOption(_DONE, "Done", "space or number ticks", key="d"), *ends],
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
            said = await self._questions.ask(TextField("Your answer:"))
            if said is not None and said.strip():
                return str(said)

    # Plans

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        async with self._questions.turn():
            look = self._screen.look
            title = look.paint("bold magenta", "? Plan")
            where = f"See {safe(asked.path)}" if asked.path else "The CLI did not include the plan."
            self._screen.print(
                [title, *(self._screen.markdown(asked.plan) if asked.plan else [look.paint("dim", where)])]
            )
            while True:
                menu = Menu(
                    "Carry out this plan?",
                    [
                        MenuOption("approve", "Approve", "ask before each edit", key="y"),
                        MenuOption("accept", "Approve and accept edits", "mode acceptEdits", key="a"),
                        MenuOption("revise", "Revise with a note", key="r"),
                        MenuOption("reject", "Reject", key="n"),
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
                note = await self._questions.ask(TextField("What should change?"))
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
                MenuOption("accept", "Open the URL yourself, then continue" if asked.url else "Answer", key="y"),
                MenuOption("decline", "Decline", key="n"),
                MenuOption("cancel", "Cancel", key="c"),
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
            options = [MenuOption(True, "Yes", key="y"), MenuOption(False, "No", key="n")]
            return await self._questions.ask(Menu(title, options, on_escape=_SKIP))
        if isinstance(wanted.get("enum"), list):
            options = [MenuOption(value, str(value)) for value in wanted["enum"]]
            return await self._questions.ask(Menu(title, options, on_escape=_SKIP))
        default = wanted.get("default")
        text = "" if default is None else str(default)
        while True:
            text = await self._questions.ask(TextField(title if required else f"{title} (optional)", text))
            if text is None:
                return _SKIP
            if not text and not required:
                return None
            try:
                return _NUMBERS[wanted["type"]](text) if wanted.get("type") in _NUMBERS else text
            except ValueError:
                title = f"{title.removesuffix(_NOT_A_NUMBER)}{_NOT_A_NUMBER}"


def _hint(choice: Choice) -> str:
    return choice.description if choice.description and choice.description != choice.label else ""


_NUMBERS: dict[str, Callable[[str], Any]] = {"integer": int, "number": float}
