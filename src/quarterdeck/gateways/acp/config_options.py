"""Modes, models and effort as an editor offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .schema import (
    SessionConfigOption,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

if TYPE_CHECKING:
    from quarterdeck.timeline.state import SessionDetails

MODES: dict[str, tuple[str, str]] = {
    "default": ("Ask", "Ask before anything that no rule allows"),
    "acceptEdits": ("Accept edits", "Edit files without asking"),
    "plan": ("Plan", "Look around and plan; change nothing"),
    "dontAsk": ("Don't ask", "Deny anything that no rule allows, without asking"),
    "auto": ("Auto", "Let Claude judge what needs asking"),
    "bypassPermissions": ("Bypass permissions", "Do everything without asking"),
}
"""Mode → name, meaning. ``delegate`` was a mode of older CLIs (up to 2.1.52); 2.1.325 refuses it."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
DEFAULT_MODEL = "default"


def modes_of(current: str | None, *, bypass: bool) -> SessionModeState:
    offered = [
        SessionMode(id=mode, name=name, description=about)
        for mode, (name, about) in MODES.items()
        if bypass or mode != "bypassPermissions"
    ]
    chosen = current or "default"
    if all(mode.id != chosen for mode in offered):  # one that this version does not know, or only the CLI chose
        offered.append(SessionMode(id=chosen, name=chosen))
    return SessionModeState(current_mode_id=chosen, available_modes=offered)


def options_of(
    session: SessionDetails | None, *, bypass: bool, mode: str | None, model: str | None, effort: str | None = None
) -> list[SessionConfigOption]:
    """``mode``, ``model`` and ``effort`` are what was chosen here; the session, once it has begun, says what is in
    effect."""
    modes = modes_of(mode, bypass=bypass)
    offered: list[Any] = [
        SessionConfigSelectOption(value=one.id, name=one.name, description=one.description)
        for one in modes.available_modes or ()
    ]
    options: list[SessionConfigOption] = [
        SessionConfigOptionSelect(
            id="mode", name="Mode", category="mode", current_value=modes.current_mode_id, options=offered
        )
    ]
    models: list[Any] = [
        SessionConfigSelectOption(value=one.value, name=one.name or one.value, description=one.description or None)
        for one in (session.models if session is not None else ())
    ]
    current = model or DEFAULT_MODEL
    if all(one.value != current for one in models):
        models.insert(0, SessionConfigSelectOption(value=current, name=current))
    options.append(
        SessionConfigOptionSelect(id="model", name="Model", category="model", current_value=current, options=models)
    )
    levels: list[Any] = [SessionConfigSelectOption(value=one, name=one.capitalize()) for one in EFFORTS]
    chosen = effort or (session.effort if session is not None else None) or "medium"
    options.append(
        SessionConfigOptionSelect(
            id="effort", name="Effort", category="thought_level", current_value=chosen, options=levels
        )
    )
    return options
