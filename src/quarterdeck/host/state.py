"""What a session is doing, derived from its log: the first word that holds."""

from __future__ import annotations

from quarterdeck.timeline.state import State

from .bodies import SessionBody
from .resources import SessionState

REMEDIES: dict[SessionState, list[str]] = {
    "crashed": ["resume", "delete_session"],
    "stopped": ["resume", "delete_session"],
    "parked": ["send_prompt", "resume"],
    "waiting": ["decide"],
    "limited": ["wait"],
    "running": ["interrupt"],
    "compacting": ["interrupt"],
}


def state_of(body: SessionBody, timeline: State, *, waiting: int, in_turn: bool) -> SessionState:
    if body.process not in ("starting", "running"):
        return "crashed" if body.wanted else "stopped"
    if body.process == "starting":
        return "starting"
    if timeline.auth is not None and timeline.auth.authenticating:
        return "authenticating"
    if any(limit.status == "rejected" for limit in timeline.rate_limits.values()):
        return "limited"
    if waiting:
        return "waiting"
    if timeline.phase == "compacting":
        return "compacting"
    return "running" if timeline.turn_started_at is not None or in_turn else "idle"
