"""Turns, and what a turn waits for."""

from __future__ import annotations

from quarterdeck.timeline._words import Activity, EventBase, TurnOutcome
from quarterdeck.timeline.items import TurnSummary
from quarterdeck.timeline.parts import Context


class TurnStarted(EventBase, frozen=True):
    """A turn begins."""

    number: int


class TurnEnded(EventBase, frozen=True):
    """A turn has ended: how, with what result, how long it took, what it used and cost."""

    turn: TurnSummary
    context: Context

    @property
    def outcome(self) -> TurnOutcome:
        return self.turn.outcome


class ActivityChanged(EventBase, frozen=True):
    """What it does now."""

    activity: Activity


class ContextChanged(EventBase, frozen=True):
    """How full the context window is now."""

    context: Context


class CompactionEnded(EventBase, frozen=True):
    """What was said before is for the model only a summary now; or that failed (``error``)."""

    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    duration_s: float | None = None
    error: str | None = None


class RetryScheduled(EventBase, frozen=True):
    """A call of the API failed and will be made again in ``delay_s``."""

    attempt: int
    max_retries: int | None
    delay_s: float
    status: int | None = None
    error: str | None = None


class InterruptSent(EventBase, frozen=True):
    """We asked to stop the turn."""
