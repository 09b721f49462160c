"""What a session costs, turn by turn and model by model."""

from __future__ import annotations

import msgspec

from quarterdeck.wire import ModelUsage, ResultMessage, Usage
from quarterdeck.wire._running_totals import RunningTotals, added


class TurnCost(msgspec.Struct, frozen=True):
    """Cost and usage of one result."""

    cost_usd: float = 0.0
    """At list prices, as counted by the CLI. A subscription is not charged this amount."""
    by_model: dict[str, ModelUsage] = msgspec.field(default_factory=dict)
    """Only the models that were used. Its sum can lag behind ``cost_usd`` on 2.0.77, which leaves the models out of a
    local command's result (``/compact``) and reports them with the next."""
    usage: Usage | None = None
    """The API's token counts for the turn, excluding concurrent work."""


class CostLedger:
    """Adds up a session's results, across several processes if needed (``process_started``)."""

    __slots__ = ("_by_model", "_last", "_running", "_total_usd", "reported_usd")

    def __init__(self) -> None:
        self._last: TurnCost | None = None
        self.reported_usd: float | None = None
        """The CLI's own running total; on 2.1.325 with what the session had cost before it was resumed."""
        self._total_usd = 0.0
        self._by_model: dict[str, ModelUsage] = {}
        self._running = RunningTotals()

    @property
    def last(self) -> TurnCost:
        """The newest entry."""
        return TurnCost() if self._last is None else self._last

    @property
    def total_usd(self) -> float:
        """The cost of all results so far."""
        return self._total_usd

    @property
    def by_model(self) -> dict[str, ModelUsage]:
        """The same by model."""
        return dict(self._by_model)

    def process_started(self) -> None:
        """The next result comes from another process. Needed only for CLIs up to 2.1.52."""
        self._running.process_started()

    def add(self, result: ResultMessage) -> TurnCost:
        """Add a result; adding it twice has no effect. A result without a cost counts as 0; the next one with totals
        makes up for it."""
        spent = self._running.take(result)
        if spent is None:
            return self.last
        cost_usd, by_model = spent
        self._total_usd += cost_usd
        for model, usage in by_model.items():
            self._by_model[model] = added(self._by_model.get(model), usage)
        if result.total_cost_usd is not None:
            self.reported_usd = float(result.total_cost_usd)
        self._last = TurnCost(cost_usd, by_model, result.typed_usage)
        return self._last
