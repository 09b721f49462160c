"""What people are asked: permissions, questions, plan reviews, elicitations, dialogs."""

from __future__ import annotations

import msgspec

from quarterdeck.timeline._words import EventBase
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions


class PermissionAsked(EventBase, frozen=True):
    """May this tool run? With the whole input, unlike the state."""

    request: Permission


class QuestionsAsked(EventBase, frozen=True):
    """The model asks the person."""

    request: Questions


class PlanReviewAsked(EventBase, frozen=True):
    """The model shows its plan and asks to begin."""

    request: PlanReview


class ElicitationAsked(EventBase, frozen=True):
    """An MCP server asks the person."""

    request: Elicitation


class DialogAsked(EventBase, frozen=True):
    """The CLI wants a dialog shown."""

    request: Dialog


class RequestAnswered(EventBase, frozen=True):
    """We have answered. ``kind`` is ``permission``, ``questions``, ``plan_review``, ``elicitation`` or ``dialog``."""

    id: str
    kind: str
    answer: str
    """``allow``, ``deny``, ``error``, ``invalid``; ``accept``, ``decline``, ``cancel``; ``completed`` … by kind."""
    note: str | None = None
    answers: dict[str, str] = msgspec.field(default_factory=dict)
    rules_added: list[str] = msgspec.field(default_factory=list)
    mode: str | None = None
    input_changed: bool = False
    interrupts: bool = False
    tool_id: str | None = None


class RequestCancelled(EventBase, frozen=True):
    """The CLI no longer wants an answer."""

    id: str
    kind: str
    tool_id: str | None = None


class ElicitationCompleted(EventBase, frozen=True):
    """An MCP server has what it sent the person to a page for."""

    id: str
    server: str
