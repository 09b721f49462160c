"""Questions and plans: what ``on_question`` and ``on_plan`` get and may return.

On the wire both are permission requests for a tool (``AskUserQuestion``, ``ExitPlanMode``). A question is answered by
allowing the tool with the answers in its input, a plan by allowing it, or by denying it with what to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quarterdeck.wire import (
    AskUserQuestionInput,
    PermissionMode,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    answer_questions,
)

SKIPPED = "The user skipped the question."
REJECTED = "The user rejected the plan."


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan to review. ``text`` is None if the CLI does not send it (2.1.325 hands over only plans it finds as a
    file)."""

    text: str | None
    file_path: str | None = None
    input: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Approve:
    """Approve the plan; ``mode`` also sets the permission mode, e.g. ``acceptEdits``."""

    mode: PermissionMode | None = None


@dataclass(frozen=True, slots=True)
class Revise:
    """Continue planning, with this note."""

    note: str


@dataclass(frozen=True, slots=True)
class Reject:
    """Reject the plan; ``stop`` also ends the turn."""

    reason: str = REJECTED
    stop: bool = False


def plan_of(tool_input: Mapping[str, Any]) -> Plan:
    text, path = tool_input.get("plan"), tool_input.get("planFilePath")
    return Plan(text if isinstance(text, str) else None, path if isinstance(path, str) else None, dict(tool_input))


def plan_result(decision: Any) -> PermissionResultAllow | PermissionResultDeny:
    """What ``on_plan`` returned, as a permission: ``Approve``, ``Revise``, ``Reject``, or True, a note, False."""
    match decision:
        case PermissionResultAllow() | PermissionResultDeny():
            return decision
        case True:
            return PermissionResultAllow()
        case False | None:
            return PermissionResultDeny(message=REJECTED)
        case Approve():
            updates = [PermissionUpdate(type="setMode", mode=decision.mode, destination="session")]
            return PermissionResultAllow(updated_permissions=updates if decision.mode else None)
        case Revise(note=note) | str(note):
            return PermissionResultDeny(message=note)
        case Reject():
            return PermissionResultDeny(message=decision.reason, interrupt=decision.stop)
    takes = "Approve, Revise, Reject, a bool, a note, or a permission result"
    raise TypeError(f"on_plan must return {takes}, not {type(decision).__name__}")


def question_result(asked: AskUserQuestionInput, answers: Any) -> PermissionResultAllow | PermissionResultDeny:
    """What ``on_question`` returned, as a permission: answers by question text, or None to skip."""
    match answers:
        case PermissionResultAllow() | PermissionResultDeny():
            return answers
        case None:
            return PermissionResultDeny(message=SKIPPED)
        case Mapping():
            return PermissionResultAllow(updated_input=answer_questions(asked, dict(answers)))
    takes = "a dict of answers by question text, None to skip, or a permission result"
    raise TypeError(f"on_question must return {takes}, not {type(answers).__name__}")
