"""Asks the user: permissions, questions, plans and forms of MCP servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from quarterdeck.cli.common import Look
from quarterdeck.client.interaction import Approve, Reject, Revise
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.timeline.parts import Choice, Question
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import PLACES, SIMULATOR_SETTINGS, Advice, SessionRules, advise, update_for
from .permission import permission_menu, permission_subject, trust_menu
from .prompt import ChoicePrompt, Subject
from .question_queue import QuestionQueue
from .text import safe, wrapped
from .trust import ProjectRules, project_rules, trust, trusted_folder
from .widgets import Checklist, Menu, MenuOption, TextField, Widget

if TYPE_CHECKING:
    from quarterdeck.policy import Policy

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

    on_simulator: bool

    def say(self, style: str, text: str) -> None: ...

    def print(self, lines: Sequence[str], /, *, tool_id: str | None = None) -> None:
        """Print what the question was about, once it is answered."""

    def markdown(self, source: str, /) -> list[str]: ...


class InteractiveAnswerer:
    """Asks in the question queue and prints the details above it."""

    places: Mapping[str, str] = PLACES
    """Scope → where a rule that is always allowed is kept."""

    def __init__(self, screen: QuestionScreen, rules: SessionRules) -> None:
        self._screen = screen
        self._questions = screen.questions
        self._rules = rules
        self._subject: Subject | None = None
        """What the last question was about."""
        self._project: ProjectRules | None = None
        """What becomes of rules that are saved for the project."""

    # Permissions

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        async with self._questions.turn():
            advice, subject = await self.prepared(asked, note)
            project = await self._project_rules()
            with self._recorded(subject, asked.tool_id):
                while True:
                    chosen = await self.ask(subject, permission_menu(asked, advice, project, places=self._places()))
                    answer = await self._permission_answer(asked, advice, subject, chosen)
                    if answer is not None:
                        return answer

    async def prepared(self, asked: Permission, note: str) -> tuple[Advice, Subject]:
        """The policy's advice and the preview, computed in a thread because a large change takes time."""

        def prepared(policy: Policy) -> tuple[Advice, Subject]:
            advice = advise(policy, asked.tool_name, asked.input, asked.suggestions)
            return advice, permission_subject(asked, advice, note=note, folder=self._screen.folder)

        return await asyncio.to_thread(prepared, self._rules.policy)

    @contextmanager
    def _recorded(self, subject: Subject, tool_id: str | None = None) -> Iterator[None]:
        """When the question is answered, its subject goes to the scrollback."""
        try:
            yield
        finally:
            self._screen.print(subject.record(self._screen.look), tool_id=tool_id)

    async def ask(self, subject: Subject, answers: Widget) -> Any:
        """One widget of a question. Hold the queue's ``turn``."""
        follows, self._subject = self._subject is subject, subject
        return await self._questions.ask(ChoicePrompt(subject, answers), follows=follows)

    async def _permission_answer(
        self, asked: Permission, advice: Advice, subject: Subject, chosen: str
    ) -> PermissionResult | None:
        """None if the user left a text field with Escape: ask again."""
        if chosen == "once":
            return PermissionResultAllow()
        if chosen == "project" and not await self._trusted(subject):
            return None
        if chosen in PLACES:
            self._rules.remember(advice.rules)
            return PermissionResultAllow(updated_permissions=[update_for(advice.rules, chosen)])
        if chosen == "edit":
            changed = await self.edited(asked, subject)
            return None if changed is None else PermissionResultAllow(updated_input=changed)
        if chosen == "note":
            said = await self.ask(subject, TextField("Tell Claude why, or what to do instead:"))
            return None if said is None else PermissionResultDeny(message=said.strip() or DENIED)
        return PermissionResultDeny(message=STOPPED if chosen == "stop" else DENIED, interrupt=chosen == "stop")

    async def _project_rules(self) -> ProjectRules:
        """Found out once; the simulator keeps every rule and knows no trust."""
        if self._project is None:
            folder = self._screen.folder
            counts = self._screen.on_simulator or folder is None
            self._project = ProjectRules("count") if counts else await asyncio.to_thread(project_rules, str(folder))
        return self._project

    def _places(self) -> Mapping[str, str]:
        """Scope → where a rule goes: the simulator's settings are not those of Claude Code."""
        return {**self.places, "user": SIMULATOR_SETTINGS} if self._screen.on_simulator else self.places

    async def _trusted(self, subject: Subject) -> bool:
        """Whether rules of the project count, if need be because the user trusts its folder now."""
        folder = self._screen.folder
        if folder is None or (await self._project_rules()).status != "need trust":
            return True
        if not await self.ask(subject, trust_menu(trusted_folder(folder))):
            return False
        try:
            await asyncio.to_thread(trust, folder)
        except (OSError, ValueError) as error:
            self._screen.say("red", f"not trusted: {error}")
            return False
        self._project = ProjectRules("count")
        self._screen.say("green", f"trusted: {trusted_folder(folder)}")
        return True

    async def edited(self, asked: Permission, subject: Subject) -> dict[str, Any] | None:
        """The input as edited: the command, or the whole input as JSON."""
        if isinstance(asked.input.get("command"), str):
            text = await self.ask(subject, TextField("Run this instead:", asked.input["command"]))
            return None if text is None else {**asked.input, "command": text}
        title, text = "Use this input instead:", json.dumps(asked.input, indent=2, ensure_ascii=False)
        while True:
            text = await self.ask(subject, TextField(title, text))
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
        subject = Subject(lambda look: _question_lines(question, look))
        options = [MenuOption(choice.label, choice.label, _hint(choice)) for choice in question.choices]
        ends = [MenuOption(_OTHER, "Other …", key="o"), MenuOption(_SKIP, "Skip", key="s")]
        done = MenuOption(_DONE, "Done", "space or number ticks, Enter accepts", key="d")
        with self._recorded(subject):
            while True:
                widget = Menu("", [*options, *ends], on_escape=_SKIP)
                if question.several:
                    widget = Checklist("", [*options, done, *ends], _SKIP, done=_DONE)
                chosen = await self.ask(subject, widget)
                if chosen is _SKIP or chosen == []:
                    return None
                if chosen is not _OTHER:
                    return chosen  # type: ignore[no-any-return]
                said = await self.ask(subject, TextField("Your answer:"))
                if said is not None and said.strip():
                    return str(said)

    # Plans

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        where = f"See {safe(asked.path)}" if asked.path else "The CLI did not include the plan."
        subject = Subject(
            lambda look: [look.paint("bold magenta", "? Plan")],
            lambda look: self._screen.markdown(asked.plan) if asked.plan else [look.paint("dim", where)],
        )
        async with self._questions.turn():
            with self._recorded(subject):
                while True:
                    chosen = await self.ask(subject, _plan_menu())
                    if chosen == "approve":
                        return Approve()
                    if chosen == "accept":
                        return Approve(mode="acceptEdits")
                    if chosen == "reject":
                        return Reject()
                    note = await self.ask(subject, TextField("What should change?"))
                    if note is not None and note.strip():
                        return Revise(note.strip())

    # Servers

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]:
        title = f"? {safe(asked.server)} asks: {safe(asked.message)}"
        subject = Subject(
            lambda look: [look.paint("bold magenta", line) for line in wrapped(title, look.width)],
            lambda look: [f"  {line}" for line in wrapped(safe(asked.url or ""), look.width - 2) if line],
        )
        options = [
            MenuOption("accept", "Open the URL yourself, then continue" if asked.url else "Answer", key="y"),
            MenuOption("decline", "Decline", key="n"),
            MenuOption("cancel", "Cancel", key="c"),
        ]
        async with self._questions.turn():
            with self._recorded(subject):
                action = await self.ask(subject, Menu("", options, on_escape="cancel"))
                if action != "accept" or asked.url:
                    return {"action": action}
                content = await self._form(subject, asked.form or {})
                return {"action": "cancel"} if content is None else {"action": "accept", "content": content}

    async def _form(self, subject: Subject, schema: dict[str, Any]) -> dict[str, Any] | None:
        content: dict[str, Any] = {}
        for name, wanted in (schema.get("properties") or {}).items():
            value = await self._form_field(subject, name, wanted, required=name in (schema.get("required") or ()))
            if value is _SKIP:
                return None
            if value is not None:
                content[name] = value
        return content

    async def _form_field(self, subject: Subject, name: str, wanted: dict[str, Any], *, required: bool) -> Any:
        title = safe(str(wanted.get("title") or name)) + (
            f" — {safe(wanted['description'])}" if wanted.get("description") else ""
        )
        if wanted.get("type") == "boolean":
            options = [MenuOption(True, "Yes", key="y"), MenuOption(False, "No", key="n")]
            return await self.ask(subject, Menu(title, options, on_escape=_SKIP))
        if isinstance(wanted.get("enum"), list):
            options = [MenuOption(value, str(value)) for value in wanted["enum"]]
            return await self.ask(subject, Menu(title, options, on_escape=_SKIP))
        default = wanted.get("default")
        text = "" if default is None else str(default)
        while True:
            text = await self.ask(subject, TextField(title if required else f"{title} (optional)", text))
            if text is None:
                return _SKIP
            if not text and not required:
                return None
            try:
                return _NUMBERS[wanted["type"]](text) if wanted.get("type") in _NUMBERS else text
            except ValueError:
                title = f"{title.removesuffix(_NOT_A_NUMBER)}{_NOT_A_NUMBER}"


def _question_lines(question: Question, look: Look) -> list[str]:
    header = f"{safe(question.header)}: " if question.header else ""
    first, *rest = wrapped(header + safe(question.text), look.width - 2)
    return [look.paint("bold magenta", line) for line in (f"? {first}", *(f"  {line}" for line in rest))]


def _plan_menu() -> Menu:
    options = [
        MenuOption("approve", "Approve", "ask before each edit", key="y"),
        MenuOption("accept", "Approve and accept edits", "mode acceptEdits", key="a"),
        MenuOption("revise", "Revise with a note", key="r"),
        MenuOption("reject", "Reject", key="n"),
    ]
    return Menu("Carry out this plan?", options, on_escape="reject")


def _hint(choice: Choice) -> str:
    return choice.description if choice.description and choice.description != choice.label else ""


_NUMBERS: dict[str, Callable[[str], Any]] = {"integer": int, "number": float}
