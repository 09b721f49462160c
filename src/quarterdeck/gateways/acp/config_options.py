"""Modes, models, effort, fast mode and agents as an editor offers them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from . import jsonrpc
from .jsonrpc import RpcError
from .schema import (
    SessionConfigOption,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

if TYPE_CHECKING:
    from quarterdeck.timeline.parts import Model
    from quarterdeck.timeline.state import SessionDetails

MODES: dict[str, tuple[str, str]] = {
    "default": ("Ask", "Ask before anything that no rule allows"),
    "acceptEdits": ("Accept edits", "Edit files without asking"),
    "plan": ("Plan", "Look around and plan; change nothing"),
    "dontAsk": ("Don't ask", "Deny anything that no rule allows, without asking"),
    "auto": ("Auto", "Let Claude judge what needs asking"),
    "bypassPermissions": ("Bypass permissions", "Do everything without asking"),
    "delegate": ("Delegate", "Leave the work to a team of agents"),
}
"""Mode → name, meaning."""
DELEGATE_UNTIL = (2, 1, 52)
"""The last version known to have the mode; 2.1.325 refuses it."""
DEFAULT = "default"
"""Of models, effort and agents: what Claude Code would choose."""
ON, OFF = "on", "off"


class Chosen(msgspec.Struct):
    """What was chosen in this editor. None: nothing was."""

    mode: str | None = None
    model: str | None = None
    effort: str | None = None
    fast: bool | None = None
    agent: str | None = None
    bypass: bool = False
    """The mode that never asks is offered."""


def modes_of(current: str | None, *, bypass: bool, version: str | None = None) -> SessionModeState:
    """``version``: the CLI's, if it is known."""
    offered = [
        SessionMode(id=mode, name=name, description=about)
        for mode, (name, about) in MODES.items()
        if (mode != "bypassPermissions" or bypass) and (mode != "delegate" or _has_delegate(version))
    ]
    chosen = current or DEFAULT
    if all(mode.id != chosen for mode in offered):  # one that this version does not know, or only the CLI chose
        offered.append(SessionMode(id=chosen, name=MODES.get(chosen, (chosen,))[0]))
    return SessionModeState(current_mode_id=chosen, available_modes=offered)


def _has_delegate(version: str | None) -> bool:
    parts = tuple(int(part) for part in re.findall(r"\d+", version or "")[:3])
    return (2, 1) <= parts <= DELEGATE_UNTIL


def options_of(
    session: SessionDetails | None, chosen: Chosen, *, switches: bool = False, new: bool = True
) -> list[SessionConfigOption]:
    """The session, once it has begun, says what is in effect.

    Args:
        session: What is known of it.
        chosen: What was chosen here.
        switches: The editor has switches; others get a list of two.
        new: Nothing was said yet. Claude Code keeps the agent that a conversation began with (2.1.325).
    """
    modes = modes_of(chosen.mode, bypass=chosen.bypass, version=session.cli_version if session is not None else None)
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
    current = chosen.model or DEFAULT
    if all(one.value != current for one in models):
        models.insert(0, SessionConfigSelectOption(value=current, name=current))
    options.append(
        SessionConfigOptionSelect(id="model", name="Model", category="model", current_value=current, options=models)
    )
    model = model_of(session, chosen)
    if model is not None and model.effort_levels:
        options.append(_effort(model, chosen.effort or (session.effort if session is not None else None) or DEFAULT))
    if model is not None and model.fast_mode:
        on = chosen.fast if chosen.fast is not None else session is not None and session.fast_mode in (ON, "cooldown")
        options.append(_fast(on=on, switches=switches))
    agents = [name for name in (session.agents if session is not None else ()) if new or name == chosen.agent]
    if agents:
        options.append(_agent(agents, chosen.agent, new=new))
    return options


def model_of(session: SessionDetails | None, chosen: Chosen) -> Model | None:
    """The chosen model, if the CLI has described it."""
    current = chosen.model or DEFAULT
    return next((one for one in (session.models if session is not None else ()) if one.value == current), None)


def _effort(model: Model, current: str) -> SessionConfigOption:
    names = list(dict.fromkeys([DEFAULT, *model.effort_levels, current]))
    levels: list[Any] = [SessionConfigSelectOption(value=one, name=one.capitalize()) for one in names]
    return SessionConfigOptionSelect(
        id="effort", name="Effort", category="thought_level", current_value=current, options=levels
    )


def _fast(*, on: bool, switches: bool) -> SessionConfigOption:
    about: dict[str, Any] = {
        "id": "fast",
        "name": "Fast mode",
        "description": "Faster answers, at a higher price",
        "category": "model_config",
    }
    if switches:
        return SessionConfigOptionBoolean(**about, current_value=on)
    both: list[Any] = [SessionConfigSelectOption(value=one, name=one.capitalize()) for one in (ON, OFF)]
    return SessionConfigOptionSelect(**about, current_value=ON if on else OFF, options=both)


def _agent(names: list[str], current: str | None, *, new: bool) -> SessionConfigOption:
    offered: list[Any] = [SessionConfigSelectOption(value=one, name=one) for one in names]
    if new:
        offered.insert(0, SessionConfigSelectOption(value=DEFAULT, name="Default"))
    about = "Who talks to you in this conversation" if new else "It stays the same until /clear"
    return SessionConfigOptionSelect(
        id="agent", name="Agent", description=about, current_value=current or DEFAULT, options=offered
    )


def read_switch(value: Any) -> bool:
    """A switch, from editors with switches and from those with a list of two."""
    if value not in (True, False, ON, OFF):
        raise RpcError(jsonrpc.INVALID_PARAMS, f"a switch is on or off, not {value}")
    return value in (True, ON)
