"""Turns and their activity."""

from __future__ import annotations

from quarterdeck.timeline._words import Activity, EventBase, TurnOutcome
from quarterdeck.timeline.items import TurnSummary
from quarterdeck.timeline.parts import Context


class TurnStarted(EventBase, frozen=True):
    """A turn started."""

    number: int


class TurnEnded(EventBase, frozen=True):
    """A turn ended, with its result, duration, usage and cost."""

    turn: TurnSummary
    context: Context

    @property
    def outcome(self) -> TurnOutcome:
        return self.turn.outcome


class ActivityChanged(EventBase, frozen=True):
    """The current activity changed."""

    activity: Activity


class ContextChanged(EventBase, frozen=True):
    """The context usage changed."""

    context: Context


class CompactionEnded(EventBase, frozen=True):
    """The conversation was compacted into a summary, or that failed (``error``)."""

    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    duration_s: float | None = None
    error: str | None = None


class RetryScheduled(EventBase, frozen=True):
    """An API call failed and will be retried in ``delay_s``."""

    attempt: int
    max_retries: int | None
    delay_s: float
    status: int | None = None
    error: str | None = None


class InterruptSent(EventBase, frozen=True):
    """An interrupt was sent."""
