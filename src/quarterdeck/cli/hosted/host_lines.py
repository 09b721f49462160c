"""What a host says about a session, a line each: its state and until when, its budget, process and transcript."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from quarterdeck.host.events import (
    AnyEvent,
    BudgetChanged,
    HangNoticed,
    ProcessChanged,
    StatusChange,
    TranscriptNoticed,
)

from .showing import money, until

if TYPE_CHECKING:
    from quarterdeck.host.resources import Session

Line = tuple[str, str]
"""A style and a text."""
_TOLD_STATES = frozenset({"limited", "crashed", "authenticating"})
_BUDGETS = {
    "session": "the session's budget",
    "parent": "the budget of the session that started it",
    "host": "the host's budget",
}


def host_line(event: AnyEvent) -> Line | None:
    """The line for this event; None if it is shown in another way, or not at all."""
    match event:
        case StatusChange():
            return _state(event.state, event.until, event.reason)
        case ProcessChanged(state="exited" | "lost"):
            why = event.stderr.strip().splitlines()[-1:] or [""]
            return "dim", f"the session's process has ended{f': {why[0]}' if why[0] else ''}"
        case BudgetChanged():
            return _budget(event)
        case TranscriptNoticed(what="continued"):
            lines = "1 line that is" if event.records == 1 else f"{event.records} lines that are"
            return "yellow", f"continued elsewhere, e.g. in a terminal: its transcript has {lines} not shown here"
        case TranscriptNoticed():
            return "yellow", "its transcript was gone; it continues with the host's copy"
        case HangNoticed():
            done = "interrupted" if event.action == "interrupt" else "its process is ended"
            return "yellow", f"silent for {event.silent_s:.0f} s: {done}"
    return None


def standing_line(session: Session) -> Line | None:
    """The line for the state that a session is in."""
    return _state(session.state, session.state_until, session.state_reason)


def _state(state: str, ends: datetime | None, reason: str) -> Line | None:
    if state not in _TOLD_STATES:
        return None
    return "yellow", ": ".join(filter(None, (f"{state}{until(state, ends)}", reason)))


def _budget(event: BudgetChanged) -> Line:
    name, limit = _BUDGETS[event.scope], event.budget_usd
    if limit is None:
        return "dim", f"{name} was removed"
    used = f"{money(event.spent_usd)} of {money(limit)}"
    match event.state:
        case "set":
            return "dim", f"{name}: {used}" if event.spent_usd > Decimal(0) else f"{name}: {money(limit)}"
        case "near":
            return "yellow", f"{name} is nearly used up: {used}"
        case "interrupted":
            return "yellow", f"stopped, because {name} is used up: about {used}"
        case "reached":
            return "yellow", f"{name} is used up: {used}; prompts are refused until it is raised (quarterdeck budget)"
