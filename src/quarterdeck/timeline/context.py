"""How full the context window is.

A message's usage says how much stood in the window when it was said; how large the window is, is first told by the
result of a turn (``modelUsage``), or by the answer to ``get_context_usage``.
"""

from __future__ import annotations

from quarterdeck.wire import Usage

from .cost import tokens_of
from .events import ContextChanged, Event
from .parts import Context
from .state import State


def fold_usage(state: State, usage: Usage | None, model: str | None, at: float, out: list[Event]) -> None:
    """The usage of one message of the main agent."""
    if usage is None:
        return
    tokens = tokens_of(usage).context
    if tokens:
        _change(state, Context(tokens, state.context.window, model or state.context.model), at, out)


def fold_window(state: State, window: int, at: float, out: list[Event]) -> None:
    """The size of the window."""
    _change(state, Context(state.context.tokens, window, state.context.model), at, out)


def fold_measured(state: State, tokens: int, window: int, model: str, at: float, out: list[Event]) -> None:
    """The CLI has counted itself."""
    _change(state, Context(tokens, window or state.context.window, model or state.context.model), at, out)


def _change(state: State, context: Context, at: float, out: list[Event]) -> None:
    if context != state.context:
        state.context = context
        out.append(ContextChanged(at, context))
