"""What a turn has cost: the difference between the running totals of two results.

Where the totals start is the CLI's own affair: up to 2.1.52 at 0 with each process; on 2.1.325 they go on after a
resume or a fork, and fall to 0 at ``/clear``. 2.1.325 also tells the difference itself
(``model_usage_since_last_result``), right in all these cases, so it is taken where it is there. For older CLIs a state
that goes on with another process must be told so (``process_started``), unless the totals fall by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from quarterdeck.wire import ModelUsage, ResultMessage, Usage

from .parts import ModelCost, Tokens
from .state import Cost

_COUNTS = Tokens.__struct_fields__


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


def process_started(cost: Cost) -> None:
    """The next result is from another process: its totals are counted from 0."""
    cost.running_usd, cost.running = 0.0, {}


def add_result(cost: Cost, result: ResultMessage) -> tuple[float, dict[str, ModelCost]]:
    """What came with this result, in all and by model; nothing if it was added before."""
    if result.uuid is not None and result.uuid == cost.last_result:
        return 0.0, {}
    cost.last_result = result.uuid
    total, totals = result.total_cost_usd, _by_model(result.model_usage)
    if total is not None and total < cost.running_usd:
        process_started(cost)  # the totals fell: they have started anew
    since = result.model_usage_since_last_result
    by_model = _by_model(since) if since is not None else _differences(totals, cost.running)
    spent = math.fsum(used.cost_usd for used in by_model.values())
    if since is None and total is not None:
        spent = float(total) - cost.running_usd
    cost.running_usd = cost.running_usd + spent if total is None else float(total)
    cost.running |= totals
    if total is not None:
        cost.reported_usd = float(total)
    cost.total_usd += spent
    for model, used in by_model.items():
        cost.by_model[model] = _plus(cost.by_model.get(model, ModelCost()), used)
    return spent, by_model


def _by_model(usage: Mapping[str, ModelUsage] | None) -> dict[str, ModelCost]:
    return {model: _model_cost(used) for model, used in (usage or {}).items()}


def _model_cost(used: ModelUsage) -> ModelCost:
    tokens = Tokens(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens,
        cache_write=used.cache_creation_input_tokens,
        thinking=used.thinking_tokens or 0,
        web_searches=used.web_search_requests,
    )
    return ModelCost(tokens, float(used.cost_usd))


def _differences(after: dict[str, ModelCost], before: dict[str, ModelCost]) -> dict[str, ModelCost]:
    """What was added to each model; models to which nothing was added are left out."""
    added = {model: _minus(used, before.get(model, ModelCost())) for model, used in after.items()}
    return {model: used for model, used in added.items() if used != ModelCost()}


def _minus(after: ModelCost, before: ModelCost) -> ModelCost:
    """``after`` less ``before``; where a count has fallen, the model's counts have started anew."""
    fell = any(getattr(after.tokens, name) < getattr(before.tokens, name) for name in _COUNTS)
    if fell or after.cost_usd < before.cost_usd:
        return after
    return ModelCost(added(after.tokens, before.tokens, sign=-1), after.cost_usd - before.cost_usd)


def _plus(one: ModelCost, more: ModelCost) -> ModelCost:
    return ModelCost(added(one.tokens, more.tokens), one.cost_usd + more.cost_usd)


def added(one: Tokens, more: Tokens, *, sign: int = 1) -> Tokens:
    """The counts put together."""
    return Tokens(*(getattr(one, name) + sign * getattr(more, name) for name in _COUNTS))
