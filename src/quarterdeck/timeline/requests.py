"""What people are asked, and what became of it.

A permission, a question and a plan review are all ``can_use_tool`` requests on the wire; an MCP server's question is an
``elicitation``. Each stays ``open`` until we answer (``sent``), the CLI takes it back (``control_cancel_request``), or
the call that waits for it ends all the same: no CLI up to 2.1.52 takes a request back when a turn is interrupted.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire import (
    CanUseToolRequest,
    ControlFailure,
    ControlSuccess,
    ElicitationCompleteMessage,
    ElicitationRequest,
    UserDialogRequest,
)

from .activity import begin_turn, settle
from .diffs import proposed
from .events import (
    DialogAsked,
    ElicitationAsked,
    ElicitationCompleted,
    Event,
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestCancelled,
)
from .items import Dialog, Elicitation, Permission, PlanReview, Questions, Request
from .limits import add_item, clip_value, text_or_none
from .naming import about, label, rule_text, suggestions
from .parts import Choice, Question
from .request_answers import answered
from .state import State
from .toolcalls import call_of

_KINDS: dict[type, str] = {
    Permission: "permission",
    Questions: "questions",
    PlanReview: "plan_review",
    Elicitation: "elicitation",
    Dialog: "dialog",
}


def open_request(state: State, key: str) -> Request | None:
    item = state.items.get(key) if key in state.waiting else None
    return item if isinstance(item, Request) else None


def fold_can_use_tool(state: State, key: str, request: CanUseToolRequest, at: float, out: list[Event]) -> None:
    call = call_of(state, request.tool_use_id)
    common: dict[str, Any] = {
        "id": key,
        "at": at,
        "parent_id": call.parent_id if call is not None else None,
        "tool_id": request.tool_use_id or None,
        "agent_id": request.agent_id,
    }
    if call is not None:
        call.status, call.request_id = "waiting", key
    if request.agent_id is None:
        begin_turn(state, at, out)
    if request.tool_name == "AskUserQuestion":
        questions = Questions(**common, questions=_questions(request.input))
        _open(state, questions)
        out.append(QuestionsAsked(at, msgspec.structs.replace(questions)))
    elif request.tool_name == "ExitPlanMode":
        review = _plan_review(common, request, call.input if call is not None else {})
        _open(state, review)
        out.append(PlanReviewAsked(at, msgspec.structs.replace(review)))
    else:
        asked = _permission(state, common, request)
        _open(state, msgspec.structs.replace(asked, input=clip_value(request.input, state.limits.input_chars)))
        out.append(PermissionAsked(at, asked))
    settle(state, at, out)


def _permission(state: State, common: dict[str, Any], request: CanUseToolRequest) -> Permission:
    rule = request.matched_ask_rule
    matched = f"rule {rule_text(rule.tool_name, rule.rule_content)} ({rule.source})" if rule is not None else None
    return Permission(
        **common,
        tool_name=request.tool_name,
        label=request.title or request.display_name or label(request.tool_name),
        about=about(request.tool_name, request.input),
        input=request.input,
        description=request.description,
        diffs=proposed(request.tool_name, request.input, state.limits.diff_lines),
        suggestions=[] if request.suppress_always_allow_rule else suggestions(request.permission_suggestions),
        reason=request.decision_reason or matched,
        reason_kind=request.decision_reason_type,
        blocked_path=request.blocked_path,
        mcp_server=request.mcp_server.name if request.mcp_server is not None else None,
        default_to_no=bool(request.default_to_no),
        needs_person=bool(request.requires_user_interaction),
    )


def _questions(arguments: dict[str, Any]) -> list[Question]:
    asked = arguments.get("questions")
    return [_question(one) for one in asked if isinstance(one, dict)] if isinstance(asked, list) else []


def _question(one: dict[str, Any]) -> Question:
    options = one.get("options")
    choices = [
        Choice(
            str(option.get("label", "")), text_or_none(option.get("description")), text_or_none(option.get("preview"))
        )
        for option in (options if isinstance(options, list) else ())
        if isinstance(option, dict)
    ]
    header = text_or_none(one.get("header"))
    return Question(str(one.get("question", "")), header, choices, several=bool(one.get("multiSelect")))


def _plan_review(common: dict[str, Any], request: CanUseToolRequest, called: dict[str, Any]) -> PlanReview:
    """2.1.325 takes the plan out of what it asks, but the call that the model made still has it."""
    plan = request.input.get("plan") or called.get("plan")
    allowed = request.input.get("allowedPrompts")
    prompts = allowed if isinstance(allowed, list) else []
    return PlanReview(
        **common,
        plan=text_or_none(plan),
        path=text_or_none(request.input.get("planFilePath")),
        allowed_prompts=[str(prompt.get("prompt")) for prompt in prompts if isinstance(prompt, dict)],
    )


def fold_elicitation(state: State, key: str, request: ElicitationRequest, at: float, out: list[Event]) -> None:
    asked = Elicitation(
        id=key,
        at=at,
        server=request.mcp_server_name,
        message=request.message,
        url=request.url,
        form=request.requested_schema,
        elicitation_id=request.elicitation_id,
    )
    _open(state, asked)
    out.append(ElicitationAsked(at, msgspec.structs.replace(asked)))
    settle(state, at, out)


def fold_dialog(state: State, key: str, request: UserDialogRequest, at: float, out: list[Event]) -> None:
    asked = Dialog(id=key, at=at, kind=request.dialog_kind, payload=request.payload, tool_id=request.tool_use_id)
    _open(state, msgspec.structs.replace(asked, payload=clip_value(request.payload, state.limits.input_chars)))
    out.append(DialogAsked(at, asked))
    settle(state, at, out)


def fold_elicitation_complete(state: State, message: ElicitationCompleteMessage, at: float, out: list[Event]) -> None:
    wanted = message.elicitation_id
    found = [
        item for item in state.items.values() if isinstance(item, Elicitation) and item.elicitation_id == wanted
    ]  # fmt: skip
    for item in found:
        item.completed = True
    key = found[-1].id if found else wanted or ""
    out.append(ElicitationCompleted(at, key, message.mcp_server_name or ""))


def _open(state: State, request: Request) -> None:
    add_item(state, request)
    if request.id not in state.waiting:
        state.waiting.append(request.id)


def fold_answer(
    state: State, request: Request, response: ControlSuccess | ControlFailure, at: float, out: list[Event]
) -> None:
    """We have answered."""
    state.waiting.remove(request.id)
    request.status, request.closed_at = "answered", at
    call = call_of(state, request.tool_id)
    out.append(answered(state, request, _KINDS[type(request)], call, response, at))
    if call is not None and call.status == "waiting":
        call.status = "running"
        call.called_at = at  # the time it waited for a person is not the tool's
    settle(state, at, out)


def fold_cancelled(state: State, request: Request, at: float, out: list[Event]) -> None:
    """The CLI no longer wants an answer."""
    state.waiting.remove(request.id)
    request.status, request.closed_at = "cancelled", at
    out.append(RequestCancelled(at, request.id, _KINDS[type(request)], request.tool_id))
    settle(state, at, out)


def close_requests_of(state: State, tool_id: str, at: float, out: list[Event]) -> None:
    """A call has ended: its requests need no answer any more."""
    if not state.waiting:
        return
    for key in list(state.waiting):
        request = open_request(state, key)
        if request is not None and request.tool_id == tool_id:
            fold_cancelled(state, request, at, out)
