"""What was used: tokens, money, and the context window.

A message's usage tells how much was in the window when it was said. How large the window is comes first with the
result of a turn (``modelUsage``), or with the answer to ``get_context_usage``.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import ModelUsage, ResultMessage, Usage

from .events import ContextChanged, Event
from .parts import Context, ModelCost, Tokens
from .state import Cost, State

_COUNTS = Tokens.__struct_fields__
_IN_CONTEXT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
"""What counts for ``Tokens.context``, as the API calls it."""


def tokens_of(usage: Usage | None) -> Tokens:
    """The API's counts."""
    if usage is None:
        return Tokens()
    details, tools = usage.output_tokens_details, usage.server_tool_use
    return Tokens(
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write=usage.cache_creation_input_tokens or 0,
        thinking=(details.thinking_tokens or 0) if details is not None else 0,
        web_searches=(tools.web_search_requests or 0) if tools is not None else 0,
    )


def added(one: Tokens, more: Tokens) -> Tokens:
    """Both counts together."""
    return Tokens(*(getattr(one, name) + getattr(more, name) for name in _COUNTS))


def add_result(cost: Cost, result: ResultMessage) -> tuple[float, dict[str, ModelCost]]:
    """The usage of this result, in total and by model; nothing if it was already counted."""
    spent = cost.running.take(result)
    if spent is None:
        return 0.0, {}
    cost_usd, used = spent
    by_model = {model: _model_cost(usage) for model, usage in used.items()}
    cost.total_usd += cost_usd
    for model, more in by_model.items():
        known = cost.by_model.get(model, ModelCost())
        cost.by_model[model] = ModelCost(added(known.tokens, more.tokens), known.cost_usd + more.cost_usd)
    if result.total_cost_usd is not None:
        cost.reported_usd = float(result.total_cost_usd)
    return cost_usd, by_model


def _model_cost(usage: ModelUsage) -> ModelCost:
    tokens = Tokens(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_input_tokens,
        cache_write=usage.cache_creation_input_tokens,
        thinking=usage.thinking_tokens or 0,
        web_searches=usage.web_search_requests,
    )
    return ModelCost(tokens, float(usage.cost_usd))


def fold_usage(state: State, usage: Usage | None, model: str | None, at: float, out: list[Event]) -> None:
    """The usage of one message of the main agent."""
    if usage is None:
        return
    tokens = tokens_of(usage).context
    if tokens:
        _change(state, Context(tokens, state.context.window, model or state.context.model), at, out)


def fold_context(state: State, usage: dict[str, Any] | None, model: str, at: float, out: list[Event]) -> None:
    """The usage of a completed message of the main agent, read as it is: typing it costs more than the rest."""
    if usage is None:
        return
    tokens = 0
    for name in _IN_CONTEXT:
        count = usage.get(name)
        if type(count) is int:
            tokens += count
    context = state.context
    if tokens and (tokens != context.tokens or model != context.model):
        _change(state, Context(tokens, context.window, model or context.model), at, out)


def fold_window(state: State, window: int, at: float, out: list[Event]) -> None:
    """The size of the window."""
    _change(state, Context(state.context.tokens, window, state.context.model), at, out)


def fold_measured(state: State, tokens: int, window: int, model: str, at: float, out: list[Event]) -> None:
    """The CLI's own count."""
    _change(state, Context(tokens, window or state.context.window, model or state.context.model), at, out)


def _change(state: State, context: Context, at: float, out: list[Event]) -> None:
    if context != state.context:
        state.context = context
        out.append(ContextChanged(at, context))
