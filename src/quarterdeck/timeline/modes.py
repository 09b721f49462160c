"""The current model and permission mode, and who set them."""

from __future__ import annotations

from quarterdeck.wire import ModelFallbackMessage, ModelRefusalFallbackMessage, ModelRefusalNoFallbackMessage

from ._words import By
from .events import Event, ModeChanged, ModelChanged
from .notices import note, show
from .retracted import retract
from .state import State


def fold_mode(state: State, mode: str, at: float, out: list[Event], *, by: By = "cli") -> None:
    """The mode as it is now. It was our wish if it is the one we asked for."""
    wanted, state.mode_wanted = state.mode_wanted, None
    before = state.session.permission_mode
    if mode != before:
        state.session.permission_mode = mode
        out.append(ModeChanged(at, mode, "us" if mode == wanted else by, before))


def fold_model(
    state: State, model: str, at: float, out: list[Event], *, by: By = "cli", reason: str | None = None
) -> None:
    """The model as it is now."""
    before = state.session.model
    if model != before:
        state.session.model = model
        if before and before in model:
            by = "us"  # up to 2.1.52: we asked for "haiku", and only the next turn shows which one that is
        out.append(ModelChanged(at, model, by, before, reason))


def fold_model_fallback(state: State, message: ModelFallbackMessage, at: float, out: list[Event]) -> None:
    why = message.content or message.trigger or "fallback"
    note(state, at, kind="model_fallback", text=why, level="warning")
    if message.fallback_model:
        fold_model(state, message.fallback_model, at, out, reason=why)


def fold_refusal_fallback(state: State, message: ModelRefusalFallbackMessage, at: float, out: list[Event]) -> None:
    """Another model answers, or the first one again (``direction`` revert)."""
    why = message.content or message.api_refusal_explanation or "refusal"
    show(state, at, out, kind="refusal", text=why, level="warning")
    if message.retracted_message_uuids:
        retract(state, message.retracted_message_uuids, at, out)
    model = message.original_model if message.direction == "revert" else message.fallback_model
    if model:
        fold_model(state, model, at, out, reason=why)


def fold_refusal(state: State, message: ModelRefusalNoFallbackMessage, at: float, out: list[Event]) -> None:
    text = message.content or message.api_refusal_explanation or "refusal"
    show(state, at, out, kind="refusal", text=text, level="warning")
