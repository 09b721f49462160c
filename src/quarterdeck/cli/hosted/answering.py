"""What a session of a host asks, asked here: the same prompts as in a chat, and the decision goes to the host."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.cli.terminal.advice import DESTINATIONS, Advice, SessionRules
from quarterdeck.cli.terminal.answers import Answerer, RequestAnswers, Say
from quarterdeck.cli.terminal.interactive import InteractiveAnswerer, QuestionScreen
from quarterdeck.cli.terminal.permission import permission_subject
from quarterdeck.cli.terminal.prompt import Subject
from quarterdeck.cli.terminal.trust import ProjectRules
from quarterdeck.client.interaction import SKIPPED, Approve, Reject, Revise
from quarterdeck.host import HostError
from quarterdeck.host.events import AnyEvent, ApprovalChanged
from quarterdeck.host.requests import Decide, Decision, ExplainPolicy, Remember
from quarterdeck.host.resources import Approval
from quarterdeck.policy import RuleError, parse_rule
from quarterdeck.timeline import Request, State
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions
from quarterdeck.timeline.naming import about, label
from quarterdeck.timeline.parts import FileDiff, PermissionSuggestion, Question
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

SCOPES: dict[str, str] = {destination: scope for scope, destination in DESTINATIONS.items()}


class HostedAnswerer(InteractiveAnswerer):
    """Asks as a chat does. The host says what the policy thinks of a call, and keeps what is always allowed."""

    places = MappingProxyType(
        {"session": "until it ends", "project": "in this folder", "user": "in all sessions of this host"}
    )

    def __init__(self, screen: QuestionScreen, rules: SessionRules, host: RemoteHost, *, on_disk: bool) -> None:
        """``on_disk``: the session's files are on this machine, so a change can be shown as it would be made."""
        super().__init__(screen, rules)
        self._host = host
        self._on_disk = on_disk
        self._project = ProjectRules("count")
        self.folder: str | None = None
        """Of the session that asks, where the screen does not know it."""

    async def prepared(self, asked: Permission, note: str) -> tuple[Advice, Subject]:
        folder = self.folder or self._screen.folder
        advice = await advice_of(self._host, asked, folder)
        return advice, permission_subject(asked, advice, note=note, folder=folder, on_disk=self._on_disk)


async def advice_of(host: RemoteHost, asked: Permission, folder: str | None) -> Advice:
    """The host's advice; without it, what the CLI suggests."""
    suggested = [text for one in asked.suggestions for text in one.rules][:1]
    try:
        request = ExplainPolicy(tool=asked.tool_name, input=asked.input, cwd=folder or "/")
        told = (await host.explain_policy(request)).details
    except HostError:
        return Advice("unknown", (), "", _rules(suggested))
    level, _, reasons = str(told.get("risk") or "none").partition(": ")
    why = tuple(part for part in reasons.split(", ") if part)
    return Advice(level, why, str(told.get("reason") or ""), _rules(told.get("would_allow") or ()))


def _rules(texts: Iterable[str]) -> tuple[Any, ...]:
    rules = []
    for text in texts:
        with contextlib.suppress(RuleError):
            rules.append(parse_rule(text, "allow", source="session"))
    return tuple(rules)


class HostedAnswers(RequestAnswers):
    """Asks about each waiting approval of a session until it is decided, here or elsewhere."""

    def __init__(
        self,
        rules: SessionRules,
        answerer: Answerer,
        *,
        host: RemoteHost,
        say: Say,
        failed: Callable[[Exception], None],
    ) -> None:
        super().__init__(rules, answerer, failed)
        self._host = host
        self._say = say
        self._approvals: dict[str, Approval] = {}

    def follow(self, happened: Iterable[AnyEvent], state: State) -> None:
        """What has happened in the session."""
        for event in happened:
            if isinstance(event, ApprovalChanged):
                self.changed(event.approval, state)

    def changed(self, approval: Approval, state: State) -> None:
        key = approval.request_id
        if approval.state == "pending":
            self._approvals[key] = approval
            self._ask(request_of(approval, state.items.get(key)))
            return
        if key in self._asking and approval.decided_by is not None:
            by = approval.decided_by
            word = (approval.decision or {}).get("decision", "")
            self._say("dim", f"decided by {by.name or by.kind}{f' ({approval.via})' if approval.via else ''}: {word}")
        self._approvals.pop(key, None)
        self._stop(key)

    async def _answer(self, request: Request) -> None:
        try:
            decision = await self._decision(request)
        except Exception as error:  # noqa: BLE001  # nothing runs unasked: the approval goes on waiting
            self._failed(error)
            return
        self._asking.pop(request.id, None)
        approval = self._approvals.get(request.id)
        if decision is None or approval is None:
            return
        try:
            await self._host.decide(Decide(approval_id=approval.id, decision=decision))
        except HostError as error:
            self._say("yellow", str(error))

    async def _decision(self, request: Request) -> Decision | None:
        match request:
            case Permission():
                return permission_decision(await self._permission(request))
            case Questions():
                return questions_decision(await self._answerer.questions(request))
            case PlanReview():
                return plan_decision(await self._answerer.plan(request))
            case Elicitation():
                return elicitation_decision(await self._answerer.elicitation(request))
        return None  # a dialog that only another face can show


def permission_decision(answer: PermissionResult) -> Decision:
    if isinstance(answer, PermissionResultDeny):
        return Decision(decision="deny", message=answer.message, interrupt=answer.interrupt)
    return Decision(decision="allow", updated_input=answer.updated_input, remember=_remember(answer))


def _remember(answer: PermissionResultAllow) -> Remember | None:
    """The first of several rules represents all of them: the host adds the rules needed to allow this call."""
    for update in answer.updated_permissions or ():
        for rule in update.rules or ():
            text = f"{rule.tool_name}({rule.rule_content})" if rule.rule_content else rule.tool_name
            return Remember(rule=text, scope=SCOPES[update.destination or "session"])  # type: ignore[arg-type]
    return None


def questions_decision(answers: dict[str, Any] | None) -> Decision:
    if answers is None:
        return Decision(decision="deny", message=SKIPPED)
    return Decision(decision="allow", answers=answers)


def plan_decision(answer: Approve | Revise | Reject) -> Decision:
    match answer:
        case Approve():
            return Decision(decision="allow", plan="approve", mode=answer.mode)
        case Revise():
            return Decision(decision="deny", plan="revise", message=answer.note)
    return Decision(decision="deny", plan="reject", message=answer.reason, interrupt=answer.stop)


def elicitation_decision(answer: dict[str, Any]) -> Decision:
    if answer.get("action") == "accept":
        return Decision(decision="allow", answers=answer.get("content") or {})
    return Decision(decision="deny")


def request_of(approval: Approval, item: Any = None) -> Request:
    """The full request: an item of the timeline has long texts truncated."""
    match approval.kind:
        case "permission" if isinstance(item, Permission):
            return msgspec.structs.replace(item, input=approval.input)
        case "permission":
            tool = approval.tool or ""
            return Permission(
                id=approval.request_id,
                tool_name=tool,
                label=label(tool),
                about=about(tool, approval.input),
                input=approval.input,
                diffs=msgspec.convert(approval.diffs, list[FileDiff]),
                suggestions=msgspec.convert(approval.suggestions, list[PermissionSuggestion]),
                reason=approval.reason,
                reason_kind=approval.reason_kind,
                blocked_path=approval.blocked_path,
                agent_id=approval.agent_id,
                tool_id=approval.tool_id,
            )
        case "questions":
            return Questions(id=approval.request_id, questions=msgspec.convert(approval.questions, list[Question]))
        case "plan_review":
            return PlanReview(id=approval.request_id, plan=approval.plan)
        case "elicitation":
            asked = approval.input
            return Elicitation(
                id=approval.request_id,
                server=str(asked.get("server") or ""),
                message=approval.summary,
                url=asked.get("url"),
                form=asked.get("form"),
            )
    return Dialog(id=approval.request_id, kind=approval.summary, payload=approval.input)
