"""What a session is doing, derived from its log: the first state that applies."""

from __future__ import annotations

from typing import Final

from quarterdeck.timeline.state import State

from .bodies import SessionBody
from .events import StatusChange
from .resources import SessionState
from .times import moment

REMEDIES: dict[SessionState, list[str]] = {
    "crashed": ["resume", "stop", "delete_session"],
    "stopped": ["resume", "delete_session"],
    "parked": ["send_prompt", "resume"],
    "waiting": ["decide"],
    "limited": ["wait", "withdraw_prompt"],
    "running": ["interrupt"],
    "compacting": ["interrupt"],
}


def state_of(body: SessionBody, timeline: State, *, waiting: int, in_turn: bool, limited: bool) -> SessionState:
    if body.process not in ("starting", "running"):
        if body.parked:
            return "parked"
        return "crashed" if body.wanted else "stopped"
    if body.process == "starting":
        return "starting"
    if timeline.auth is not None and timeline.auth.authenticating:
        return "authenticating"
    if limited:
        return "limited"
    if waiting:
        return "waiting"
    if timeline.phase == "compacting":
        return "compacting"
    return "running" if timeline.turn_started_at is not None or in_turn else "idle"


def status_change(
    body: SessionBody, state: SessionState, at: float, *, before: str, limited_until: float | None
) -> StatusChange:
    """Update the body's state; returns the event to report."""
    body.state_since = at
    body.state_until = {"crashed": body.restart_at, "limited": limited_until}.get(state)
    body.state_reason = _reason(body, state)
    return StatusChange(
        at,
        state,
        moment(at),
        before=before,  # type: ignore[arg-type]  # written by us
        reason=body.state_reason,
        remedies=REMEDIES.get(state, []),
        until=None if body.state_until is None else moment(body.state_until),
    )


_WAITS_FOR: Final = {"waiting": "Waiting for a decision.", "limited": "The account's rate limit is reached."}


def _reason(body: SessionBody, state: SessionState) -> str:
    ended = state in ("crashed", "stopped", "parked")
    return _WAITS_FOR.get(state, body.state_reason if ended else "")


def has_reason_to_end(body: SessionBody) -> bool:
    """Whether the state already explains the process's end. A state of waiting doesn't."""
    return body.state_reason not in ("", *_WAITS_FOR.values())
