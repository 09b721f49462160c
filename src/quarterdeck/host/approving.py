"""Converts a request in the timeline to an approval, and a decision to an answer for the CLI."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from quarterdeck.client.interaction import Approve, Reject, Revise, plan_result, question_result
from quarterdeck.timeline import Request
from quarterdeck.timeline.events import ToolEnded, TurnEnded
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions
from quarterdeck.wire import (
    AskUserQuestionInput,
    CanUseToolRequest,
    PermissionMode,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    parse_tool_input,
)

from .errors import HostError
from .requests import Decision
from .resources import Approval, ApprovalKind
from .times import moment

DENIED = "This was denied."


def approval_of(approval_id: str, session: str, asked: Request, at: float, raw: Any) -> Approval:
    """Build a new approval. ``raw`` is the CLI's request with the whole input."""
    fields: dict[str, Any] = {
        "tool": getattr(raw, "tool_name", None),
        "input": getattr(raw, "input", None) or {},
        "agent_id": asked.agent_id,
        "tool_id": asked.tool_id,
    }
    match asked:
        case Permission():
            fields |= {
                "summary": f"{asked.label} {asked.about}".strip(),
                "diffs": msgspec.to_builtins(asked.diffs),
                "reason": asked.reason,
                "reason_kind": asked.reason_kind,
                "blocked_path": asked.blocked_path,
                "suggestions": msgspec.to_builtins(asked.suggestions),
            }
        case Questions():
            fields |= {
                "summary": asked.questions[0].text if asked.questions else "",
                "questions": msgspec.to_builtins(asked.questions),
            }
        case PlanReview():
            fields |= {"summary": "Review the plan", "plan": asked.plan}
        case Elicitation():
            fields |= {
                "summary": asked.message,
                "input": {"server": asked.server, "form": asked.form, "url": asked.url},
            }
        case Dialog():
            fields |= {"summary": asked.kind, "input": asked.payload}
    return Approval(
        id=approval_id,
        request_id=asked.id,
        session_id=session,
        kind=kind_of(asked),
        state="pending",
        asked_at=moment(at),
        **fields,
    )


def same_question(approval: Approval) -> str:
    """A key that is equal for approvals that ask the same."""
    asked = (approval.kind, approval.tool, approval.input, approval.questions, approval.plan)
    return msgspec.json.encode(asked, order="sorted").decode()


def is_applied_by(asked: Any, event: ToolEnded | TurnEnded) -> bool:
    """Whether the event shows that the CLI applied an answer: the call that waited for it has ended.

    A tool server's question names no call, so the next of its calls to end counts. Anything that can't be matched
    ends with the turn.
    """
    tool_id = getattr(asked, "tool_id", None)
    if isinstance(event, TurnEnded):
        return tool_id is None
    if isinstance(asked, Elicitation) and tool_id is None:
        return event.name.startswith(f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', asked.server)}__")
    return bool(tool_id == event.id)


def kind_of(asked: Request) -> ApprovalKind:
    match asked:
        case Questions():
            return "questions"
        case PlanReview():
            return "plan_review"
        case Elicitation():
            return "elicitation"
        case Dialog():
            return "dialog"
    return "permission"


def answer_to(kind: ApprovalKind, decision: Decision, request: Any) -> PermissionResult | dict[str, Any]:
    """Build the answer for the CLI. Raises ``HostError`` for a decision that doesn't fit."""
    _check(kind, decision)
    match kind:
        case "permission":
            return _permission(decision)
        case "questions":
            return _answers(decision, request)
        case "plan_review":
            return _plan(decision)
        case "elicitation":
            if decision.decision == "deny":
                return {"action": "decline"}
            return {"action": "accept", "content": decision.answers or {}}
    if decision.decision == "deny":
        return {"behavior": "cancelled"}
    return {"behavior": "completed", "result": decision.answers or {}}


_FITS: dict[str, frozenset[str]] = {
    "permission": frozenset({"updated_input", "remember", "message", "interrupt", "mode"}),
    "questions": frozenset({"answers", "message", "interrupt"}),
    "plan_review": frozenset({"plan", "message", "interrupt", "mode", "updated_input"}),
    "elicitation": frozenset({"answers", "message"}),
    "dialog": frozenset({"answers", "message"}),
}


def _check(kind: ApprovalKind, decision: Decision) -> None:
    given = {
        name
        for name in ("updated_input", "remember", "message", "interrupt", "answers", "plan", "mode")
        if getattr(decision, name) not in (None, False)
    }
    odd = sorted(given - _FITS[kind])
    if odd:
        raise HostError("invalid", f"A decision about {kind} cannot have {odd[0]}.", field=odd[0])
    if kind == "questions" and decision.decision == "allow" and not decision.answers:
        raise HostError("invalid", "Questions need answers.", hint="Deny to skip them.", field="answers")


def _permission(decision: Decision) -> PermissionResult:
    if decision.decision == "deny":
        return PermissionResultDeny(message=decision.message or DENIED, interrupt=decision.interrupt)
    updates = []
    if decision.mode is not None:
        mode = cast("PermissionMode", decision.mode)  # the CLI says so if it is none
        updates.append(PermissionUpdate(type="setMode", mode=mode, destination="session"))
    return PermissionResultAllow(updated_input=decision.updated_input, updated_permissions=updates or None)


def _answers(decision: Decision, request: Any) -> PermissionResult:
    asked = parse_tool_input("AskUserQuestion", request.input) if isinstance(request, CanUseToolRequest) else None
    if decision.decision == "deny" or not isinstance(asked, AskUserQuestionInput):
        return PermissionResultDeny(message=decision.message or "The user skipped the question.")
    try:
        return question_result(asked, decision.answers)
    except (TypeError, ValueError, LookupError) as error:
        raise HostError("invalid", f"These answers do not fit the questions: {error}.", field="answers") from error


def _plan(decision: Decision) -> PermissionResult:
    word = decision.plan or ("approve" if decision.decision == "allow" else "reject")
    if (word == "approve") != (decision.decision == "allow"):
        raise HostError("invalid", f"plan={word} contradicts decision={decision.decision}.", field="plan")
    if word == "approve":
        result = plan_result(Approve(mode=decision.mode))  # type: ignore[arg-type]
        if decision.updated_input is not None and isinstance(result, PermissionResultAllow):
            result.updated_input = decision.updated_input
        return result
    if word == "revise":
        return plan_result(Revise(decision.message or "Please revise the plan."))
    return plan_result(Reject(decision.message or "The user rejected the plan.", stop=decision.interrupt))
