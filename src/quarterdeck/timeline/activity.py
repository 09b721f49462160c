"""When a turn begins, and what the session does at the moment."""

from __future__ import annotations

from ._words import Activity
from .events import ActivityChanged, Event, TurnStarted
from .items import ToolCall
from .state import State


def begin_turn(state: State, at: float, out: list[Event]) -> None:
    """The CLI works on a turn, whichever message showed it first."""
    if state.turn_started_at is None:
        state.turn += 1
        state.turn_started_at = at
        state.interrupting = False
        state.suggestion = None
        out.append(TurnStarted(at, state.turn))


def settle(state: State, at: float, out: list[Event]) -> None:
    """Report what it is doing now, if that has changed."""
    now = _activity(state)
    if now != state.activity:
        state.activity = now
        out.append(ActivityChanged(at, now))


def _activity(state: State) -> Activity:
    if state.waiting:
        return "waiting"
    if state.phase == "compacting":
        return "compacting"
    if state.turn_started_at is None:
        return "requesting" if state.phase == "requesting" else "idle"
    if state.streams:
        return "responding"
    for key in state.running:
        if _runs(state, key):
            return "working"
    return "requesting" if state.phase == "requesting" else "responding"


def _runs(state: State, key: str) -> bool:
    """Does the turn wait for this call? Not for one that runs in the background, nor for a sub-agent's there."""
    call = state.items.get(key)
    while isinstance(call, ToolCall):
        if call.status == "background":
            return False
        if call.parent_id is None:
            return True
        call = state.items.get(call.parent_id)
    return False
