"""What a session costs, turn by turn and model by model.

A result tells running totals (``total_cost_usd``, ``modelUsage``); what a turn cost is the difference to the result
before. Where the totals start is the CLI's own affair, and it changed:

=======================  ==========================================  ===============================================
                         2.0.77, 2.1.17, 2.1.25, 2.1.52              2.1.325
=======================  ==========================================  ===============================================
resume, continue, fork   the totals start at 0                       they go on from the earlier process's last ones,
                                                                     which the transcript keeps (``cost-state``)
resume after a SIGKILL   the totals start at 0                       they go on from the last orderly exit: the killed
                                                                     process's turns are missing in them
``/clear``               the totals go on                            they fall to 0, under a new session id
a local command          2.0.77: ``modelUsage`` is empty             the totals as they are
=======================  ==========================================  ===============================================

2.1.325 also tells the difference by itself (``model_usage_since_last_result``), right in all these cases; it is taken
where it is there. The totals also grow by what has no result of its own (a side question, a title, a summary): that
comes with the next result, even if it is that of a ``/clear``, and is not in the turn's ``usage``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from quarterdeck.wire import ModelUsage, ResultMessage, Usage

_ADDED_UP = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "web_search_requests",
    "cost_usd",
    "thinking_tokens",
    "cache_creation_ephemeral_5m_input_tokens",
    "cache_creation_ephemeral_1h_input_tokens",
)
"""The fields of ``ModelUsage`` that grow; the others describe the model."""


class TurnCost(msgspec.Struct, frozen=True):
    """What came with one result."""

    cost_usd: float = 0.0
    """At list prices, as the CLI counts. With a subscription nobody is charged this."""
    by_model: dict[str, ModelUsage] = msgspec.field(default_factory=dict)
    """Only the models that were used. Its sum can lag behind ``cost_usd`` on 2.0.77, which leaves the models out of a
    local command's result (``/compact``) and tells them with the next."""
    usage: Usage | None = None
    """The API's token counts of the turn itself, without what ran beside it."""


_NO_MODELS: Mapping[str, ModelUsage] = {}


class CostLedger:
    """Adds up the results of a session. One may follow a session through several processes (``process_started``)."""

    __slots__ = ("_by_model", "_last", "_last_uuid", "_running", "_running_usd", "_total_usd", "reported_usd")

    def __init__(self) -> None:
        self._last: TurnCost | None = None
        self.reported_usd: float | None = None
        """The CLI's own running total; on 2.1.325 with what the session had cost before it was resumed."""
        self._total_usd = 0.0
        self._by_model = _NO_MODELS
        self._last_uuid: str | None = None
        self._running_usd = 0.0
        self._running = _NO_MODELS

    @property
    def last(self) -> TurnCost:
        """The newest entry."""
        return TurnCost() if self._last is None else self._last

    @property
    def total_usd(self) -> float:
        """What all the results added here have cost."""
        return self._total_usd

    @property
    def by_model(self) -> dict[str, ModelUsage]:
        """The same by model."""
        return dict(self._by_model)

    def process_started(self) -> None:
        """Say that the next result is from another process: only CLIs up to 2.1.52 need to be told apart so."""
        self._running_usd, self._running = 0.0, _NO_MODELS

    def add(self, result: ResultMessage) -> TurnCost:
        """Take a result into account; the same one again changes nothing.

        A result that tells no cost costs 0 here; if there was some, the next one that tells its totals brings it.
        """
        if result.uuid is not None and result.uuid == self._last_uuid:
            return self.last
        turn = self._turn(result)
        self._last_uuid = result.uuid
        self._total_usd += turn.cost_usd
        for model, usage in turn.by_model.items():
            known = self._by_model.get(model)
            self._by_model = {**self._by_model, model: usage if known is None else _plus(known, usage)}
        self._last = turn
        return turn

    def _turn(self, result: ResultMessage) -> TurnCost:
        total, since = result.total_cost_usd, result.model_usage_since_last_result
        if total is not None and total < self._running_usd:
            self.process_started()  # the totals fell: they have started anew
        if since is not None:
            by_model = dict(since)
            cost = _sum_usd(by_model)
        else:
            by_model = _differences(result.model_usage or {}, self._running)
            cost = _sum_usd(by_model) if total is None else total - self._running_usd
        self._running_usd = self._running_usd + cost if total is None else total
        self._running = {**self._running, **(result.model_usage or {})}
        if total is not None:
            self.reported_usd = float(total)
        return TurnCost(float(cost), by_model, result.usage)


def _sum_usd(by_model: Mapping[str, ModelUsage]) -> float:
    return math.fsum(usage.cost_usd for usage in by_model.values())


def _differences(after: Mapping[str, ModelUsage], before: Mapping[str, ModelUsage]) -> dict[str, ModelUsage]:
    """What was added to each model; models to which nothing was added are left out."""
    made = {model: _minus(usage, before.get(model)) for model, usage in after.items()}
    return {model: usage for model, usage in made.items() if any(getattr(usage, name) for name in _ADDED_UP)}


def _minus(after: ModelUsage, before: ModelUsage | None) -> ModelUsage:
    """``after`` less ``before``; where a count has fallen, the model's counts have started anew."""
    if before is None or any((getattr(after, name) or 0) < (getattr(before, name) or 0) for name in _ADDED_UP):
        return after
    return _combined(after, before, -1)


def _plus(one: ModelUsage, more: ModelUsage) -> ModelUsage:
    return _combined(more, one, 1)


def _combined(described: ModelUsage, other: ModelUsage, sign: int) -> ModelUsage:
    """A new object with the counts put together and the description of ``described``; not tied to either's line."""
    made = {name: getattr(described, name) for name in ModelUsage.__struct_fields__ if name != "origin_"}
    for name in _ADDED_UP:
        ours, theirs = made[name], getattr(other, name)
        if ours is not None or theirs is not None:
            made[name] = (ours or 0) + sign * (theirs or 0)
    return ModelUsage(**made)
