"""Answers what the CLI asks: by rules of the command line, by asking the user, or with no if there is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.client.interaction import SKIPPED, Approve, Reject, Revise, plan_result, question_result
from quarterdeck.client.journal import JournalEntry, JournalReader
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import HookMatcher
from quarterdeck.client.serving import LATER
from quarterdeck.client.session import Session, connect
from quarterdeck.protocol import Exited
from quarterdeck.timeline import Event, Request, Timeline
from quarterdeck.timeline.events import (
    ElicitationAsked,
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestAnswered,
    RequestCancelled,
)
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.wire import AskUserQuestionInput, parse_tool_input
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import SessionRules, advise
from .text import one_line

NO_USER = "There is no user at the terminal to allow this."
Say = Callable[[str, str], None]


class Answerer(Protocol):
    """Answers what no rule decides."""

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult: ...

    async def questions(self, asked: Questions) -> dict[str, Any] | None: ...

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject: ...

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]: ...


class UnattendedAnswerer:
    """For runs without a user: denies, and prints which rule would have allowed it."""

    def __init__(self, rules: SessionRules, say: Say) -> None:
        self._rules = rules
        self._say = say

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        rules = advise(self._rules.policy, asked.tool_name, asked.input, asked.suggestions).rules
        how = " ".join(f"--allow '{rule}'" for rule in rules) or "add a rule for it to a --policy file"
        what = one_line(f"{asked.tool_name} {asked.about}", 100)
        self._say("red", f"denied (no one to ask): {what}. To allow it: {how}")
        return PermissionResultDeny(message=NO_USER)

    async def questions(self, asked: Questions) -> dict[str, Any] | None:
        for question in asked.questions:
            self._say("yellow", f"skipped (no one to ask): {one_line(question.text, 100)}")
        return None

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        self._say("yellow", "plan rejected (no one to ask)")
        return Reject("There is no user at the terminal to review the plan.")

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]:
        self._say("yellow", f"declined (no one to ask): {one_line(asked.message, 100)}")
        return {"action": "decline"}


class RequestAnswers:
    """Answers requests, each in its own task."""

    def __init__(self, rules: SessionRules, answerer: Answerer, failed: Callable[[Exception], None]) -> None:
        """``failed`` ends the session: the user would see or answer nothing."""
        self._rules = rules
        self._answerer = answerer
        self._failed = failed
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def _answer(self, request: Request) -> None:
        """Find the answer and give it."""
        raise NotImplementedError

    def _ask(self, request: Request) -> None:
        if request.id not in self._asking:
            self._asking[request.id] = asyncio.ensure_future(self._answer(request))

    def _stop(self, request_id: str) -> None:
        task = self._asking.pop(request_id, None)
        if task is not None:
            task.cancel()

    def stop_all(self) -> None:
        """Nobody is waiting for an answer any more."""
        for request_id in tuple(self._asking):
            self._stop(request_id)

    async def _permission(self, asked: Permission) -> PermissionResult:
        ruling = self._rules.ruling(asked.tool_name, asked.input)
        if ruling is not None and ruling[0] == "allow":
            return PermissionResultAllow()
        if ruling is not None and ruling[0] == "deny":
            return PermissionResultDeny(message=ruling[1])
        return await self._answerer.permission(asked, note=ruling[1] if ruling is not None else "")


class SessionAnswers(RequestAnswers, JournalReader):
    """Follows a session's timeline and answers what it tells of."""

    def __init__(
        self,
        rules: SessionRules,
        answerer: Answerer,
        *,
        timeline: Timeline,
        failed: Callable[[Exception], None],
        show: Callable[[list[Event]], None] = lambda _: None,
    ) -> None:
        """``show`` gets the timeline's events."""
        super().__init__(rules, answerer, failed)
        self._timeline = timeline
        self._show = show
        self._session: Session | None = None

    def session(self, options: ClaudeAgentOptions) -> Session:
        """A session with these options, not yet open, that is answered here."""
        options.can_use_tool = options.on_elicitation = _leave_open
        if self._rules.has_rules:
            options.hooks = {"PreToolUse": [HookMatcher(hooks=[self._hook])]}
        self._session = connect(options)
        self._session.journal.add(self)
        return self._session

    # From the journal

    def read(self, entries: Sequence[JournalEntry]) -> None:
        try:
            events = [
                event for entry in entries for event in self._timeline.take(entry.direction, entry.message, at=entry.at)
            ]
            if events:
                self._show(events)
            for event in events:
                if isinstance(event, _ASKED):
                    self._ask(event.request)
                elif isinstance(event, RequestAnswered | RequestCancelled):
                    self._stop(event.id)
        except Exception as error:  # noqa: BLE001  # any error ends the command
            self._failed(error)

    def exited(self, exited: Exited, at: float) -> None:
        self.stop_all()

    async def _answer(self, request: Request) -> None:
        try:
            answer = await self._answer_to(request)
        except Exception as error:  # noqa: BLE001  # the command ends; until then nothing may run unasked
            answer = PermissionResultDeny(message=f"The question could not be asked: {error}")
            self._failed(error)
        self._asking.pop(request.id, None)
        with contextlib.suppress(QuarterdeckError):  # withdrawn in the meantime, or the session is over
            if self._session is not None:
                self._session.answer(request.id, answer)

    # Answers

    async def _answer_to(self, request: Request) -> PermissionResult | dict[str, Any]:
        match request:
            case Permission():
                return await self._permission(request)
            case Questions():
                return self._question_result(request, await self._answerer.questions(request))
            case PlanReview():
                return plan_result(await self._answerer.plan(request))
            case Elicitation():
                return await self._answerer.elicitation(request)
        return {"behavior": "cancelled"}

    def _question_result(self, request: Questions, answers: dict[str, Any] | None) -> PermissionResult:
        asked = self._session.pending()[request.id] if self._session is not None else None
        given = parse_tool_input("AskUserQuestion", getattr(asked, "input", {}))
        if not isinstance(given, AskUserQuestionInput):
            return PermissionResultDeny(message=SKIPPED)
        return question_result(given, answers)

    async def _hook(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Command-line rules also apply where the CLI's settings would allow the call."""
        ruling = self._rules.ruling(event["tool_name"], event.get("tool_input") or {})
        if ruling is None:
            return {}
        verdict = {"permissionDecision": ruling[0], "permissionDecisionReason": ruling[1]}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **verdict}}


_ASKED = (PermissionAsked, QuestionsAsked, PlanReviewAsked, ElicitationAsked)


def _leave_open(*_: Any) -> Any:
    """The timeline reports the request, and ``SessionAnswers`` answers it."""
    return LATER
