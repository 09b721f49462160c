"""Requests to people: permissions, questions, plan reviews, elicitations, dialogs."""

from __future__ import annotations

import msgspec

from quarterdeck.timeline._words import EventBase
from quarterdeck.timeline.items import Dialog, Elicitation, Permission, PlanReview, Questions


class PermissionAsked(EventBase, frozen=True):
    """Permission to run a tool is requested. Has the whole input, unlike the state."""

    request: Permission


class QuestionsAsked(EventBase, frozen=True):
    """The model asks the user questions."""

    request: Questions


class PlanReviewAsked(EventBase, frozen=True):
    """The model presents its plan and asks for approval."""

    request: PlanReview


class ElicitationAsked(EventBase, frozen=True):
    """An MCP server asks the user."""

    request: Elicitation


class DialogAsked(EventBase, frozen=True):
    """The CLI asks to show a dialog."""

    request: Dialog


class RequestAnswered(EventBase, frozen=True):
    """A request was answered. ``kind``: ``permission``, ``questions``, ``plan_review``, ``elicitation``, ``dialog``."""

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
    """The CLI withdrew a request."""

    id: str
    kind: str
    tool_id: str | None = None


class ElicitationCompleted(EventBase, frozen=True):
    """The user completed the web page of an MCP server's elicitation."""

    id: str
    server: str
