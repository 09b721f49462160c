"""What we answered to something a person was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from quarterdeck.wire import ControlFailure, ControlSuccess, PermissionUpdate, parse_permission_answer

from ._words import CANNOT_TYPE
from .events import RequestAnswered
from .items import Dialog, Elicitation, Permission, PlanReview, Questions, Request, ToolCall
from .limits import clip_value
from .naming import rules_of
from .state import State


class _Told(msgspec.Struct):
    """The answer, in the event's terms."""

    answer: str
    note: str | None = None
    answers: dict[str, str] = {}
    rules_added: list[str] = []
    mode: str | None = None
    input_changed: bool = False
    interrupts: bool = False


def answered(
    state: State,
    request: Request,
    kind: str,
    call: ToolCall | None,
    response: ControlSuccess | ControlFailure,
    at: float,
) -> RequestAnswered:
    """Store the answer in the request and the call, and report it."""
    if isinstance(response, ControlFailure):
        told = _Told("error", note=response.error)
    else:
        payload = response.response if isinstance(response.response, dict) else {}
        told = _READERS[type(request)](payload)
        updated = payload.get("updatedInput")
        if isinstance(request, Permission) and told.answer == "allow" and isinstance(updated, dict):
            told.input_changed = clip_value(updated, state.limits.input_chars) != request.input
    _remember(request, told)
    if told.mode is not None:
        state.mode_wanted = told.mode
    if told.interrupts:
        state.interrupting = True
    if call is not None and told.answer in ("deny", "error"):
        call.reason = told.note or "denied"
    return RequestAnswered(
        at, request.id, kind, told.answer, told.note, told.answers, told.rules_added, told.mode,
        told.input_changed, told.interrupts, request.tool_id,
    )  # fmt: skip


def _decision(payload: dict[str, Any]) -> _Told:
    """The answer to ``can_use_tool``, as it is on the wire."""
    if not _valid(payload):
        return _Told("invalid")
    if payload.get("behavior") != "allow":
        message = payload.get("message")
        told = _Told("deny", note=message if isinstance(message, str) else None)
        told.interrupts = payload.get("interrupt") is True
        return told
    updates = _updates(payload.get("updatedPermissions"))
    told = _Told("allow")
    told.rules_added = [rule for update in updates for rule in rules_of(update)]
    told.mode = next((update.mode for update in updates if update.type == "setMode"), None)
    return told


def _valid(payload: dict[str, Any]) -> bool:
    """Would the CLI take it?"""
    try:
        return parse_permission_answer(payload) is not None
    except CANNOT_TYPE:
        return True  # only ``updatedPermissions`` can be as odd as that, and those it ignores


def _updates(value: Any) -> list[PermissionUpdate]:
    """The readable updates; the CLI ignores the others too (2.1.325)."""
    read = []
    for update in value if isinstance(value, list) else ():
        try:
            read.append(PermissionUpdate.from_dict(update))
        except CANNOT_TYPE:
            continue
    return read


def _questions(payload: dict[str, Any]) -> _Told:
    told = _decision(payload)
    updated = payload.get("updatedInput")
    answers = updated.get("answers") if isinstance(updated, dict) else None
    for question, answer in answers.items() if isinstance(answers, dict) else ():
        told.answers[question] = ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
    return told


def _elicitation(payload: dict[str, Any]) -> _Told:
    return _Told(str(payload.get("action", "")))


def _dialog(payload: dict[str, Any]) -> _Told:
    return _Told(str(payload.get("behavior", "")))


_READERS: dict[type, Callable[[dict[str, Any]], _Told]] = {
    Permission: _decision,
    Questions: _questions,
    PlanReview: _decision,
    Elicitation: _elicitation,
    Dialog: _dialog,
}


def _remember(request: Request, told: _Told) -> None:
    match request:
        case Permission():
            request.allowed, request.note = told.answer == "allow", told.note
            request.interrupted, request.input_changed = told.interrupts, told.input_changed
            request.rules_added = told.rules_added
        case Questions():
            request.declined, request.note, request.answers = told.answer != "allow", told.note, told.answers
        case PlanReview():
            request.approved, request.note, request.mode = told.answer == "allow", told.note, told.mode
        case Elicitation():
            request.action = told.answer
        case Dialog():
            request.behavior = told.answer
