"""Permission modes, from the strictest to the most permissive."""

from __future__ import annotations

from .bodies import SessionBody

MODES = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")


def mode_of(body: SessionBody) -> str:
    """The session's mode, or the one that it has chosen for its next process."""
    return str(body.chosen.get("permission_mode", body.permission_mode) or "default")


def is_above(mode: str, own: str) -> bool:
    """Whether a mode is more permissive, or not known to be stricter."""
    return mode not in MODES or own not in MODES or MODES.index(mode) > MODES.index(own)
