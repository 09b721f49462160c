"""Budgets of a session and of the whole host, and what has been spent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

import msgspec

from quarterdeck.store import EventStore
from quarterdeck.store.records import UsageEntry

from .bodies import SessionBody
from .errors import HostError
from .events import BudgetChanged
from .times import usd
from .turn_meter import Prices, TurnMeter

NEAR = Decimal("0.8")
"""The share of a budget from which it counts as nearly used up."""
MOST_USD = Decimal(1_000_000_000)
NANO = Decimal(1_000_000_000)
SETTING = "budgets"


class HostBudgets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What all sessions together may spend; null is no limit. Days and months are those of UTC."""

    day_usd: Decimal | None = None
    month_usd: Decimal | None = None


def check_budget(budget: Decimal | None, field: str) -> None:
    """Raises ``HostError`` for values that cannot be compared with a cost, e.g. NaN."""
    if budget is not None and not (budget.is_finite() and 0 <= budget <= MOST_USD):
        raise HostError("invalid", f"A budget must be between 0 and {MOST_USD:,} USD.", field=field)


def state_of_budget(budget: Decimal | None, spent: Decimal) -> Literal["", "near", "reached"]:
    if budget is None or spent < budget * NEAR:
        return ""
    return "near" if spent < budget else "reached"


def session_budget(body: SessionBody, at: float) -> BudgetChanged | None:
    """The effect of the last turn on the session's budget, if not yet reported."""
    budget, spent = (None if body.budget_usd is None else Decimal(body.budget_usd)), usd(body.cost_usd)
    state = state_of_budget(budget, spent)
    told, body.budget_state = body.budget_state, state
    return BudgetChanged(at, state, budget, spent) if state and state != told else None


class Spending:
    """What the host has spent this day and this month, and what it may."""

    def __init__(self) -> None:
        self.budgets = HostBudgets()
        self._nano_by_day: dict[str, int] = {}
        self._told: dict[str, str] = {}
        self.prices = Prices()

    async def load(self, store: EventStore) -> None:
        kept = await store.setting(SETTING)
        self.budgets = HostBudgets() if kept is None else msgspec.json.decode(kept, type=HostBudgets)
        self._nano_by_day = {total.by[0]: total.usage.cost_nano_usd for total in await store.usage(["day"])}
        for total in await store.usage(["model"]):
            self.prices.learn(total.by[0], total.usage)

    def replace(self, budgets: HostBudgets) -> None:
        self.budgets = budgets
        self._told.clear()

    def spent(self, prefix: str) -> Decimal:
        """On a day (``2026-11-16``) or in a month (``2026-11``)."""
        return Decimal(sum(nano for day, nano in self._nano_by_day.items() if day.startswith(prefix))) / NANO

    def count(self, entries: Sequence[UsageEntry], at: float) -> list[BudgetChanged]:
        """Add what a turn used; returns what that means for the host's budgets."""
        self.prices.learn_all(entries)
        for entry in entries:
            self._nano_by_day[entry.day] = self._nano_by_day.get(entry.day, 0) + entry.cost_nano_usd
        changes: list[BudgetChanged] = []
        for period, budget, spent in self._periods(at):
            state = state_of_budget(budget, spent)
            if state and self._told.get(period) != state:
                changes.append(BudgetChanged(at, state, budget, spent, "host"))
            self._told[period] = state
        return changes

    def states(self, at: float) -> list[tuple[str, str, Decimal | None, Decimal]]:
        """Each period whose budget is nearly or fully used up: its state, the budget, and the amount spent."""
        states = [(period, state_of_budget(limit, spent), limit, spent) for period, limit, spent in self._periods(at)]
        return [one for one in states if one[1]]

    def check(self, body: SessionBody, at: float) -> None:
        """Raises ``HostError`` if no new prompt may be sent."""
        own = None if body.budget_usd is None else Decimal(body.budget_usd)
        _refuse_if_reached("The session's budget", own, usd(body.cost_usd))
        for period, limit, spent in self._periods(at):
            _refuse_if_reached(f"The host's budget for {period}", limit, spent)

    def over(self, body: SessionBody, meter: TurnMeter, at: float) -> BudgetChanged | None:
        """Whether a running turn has used up a budget: the session's, approximately, or the host's, by others."""
        own = None if body.budget_usd is None else Decimal(body.budget_usd)
        if own is not None and (spent := usd(body.cost_usd) + meter.cost_usd(self.prices)) >= own:
            return BudgetChanged(at, "interrupted", own, spent)
        for _, limit, spent in self._periods(at):
            if limit is not None and spent + meter.cost_usd(self.prices) >= limit:
                return BudgetChanged(at, "interrupted", limit, spent, "host")
        return None

    def _periods(self, at: float) -> list[tuple[str, Decimal | None, Decimal]]:
        day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
        month = day[:7]
        return [(day, self.budgets.day_usd, self.spent(day)), (month, self.budgets.month_usd, self.spent(month))]


def _refuse_if_reached(what: str, budget: Decimal | None, spent: Decimal) -> None:
    if budget is not None and spent >= budget:
        raise HostError(
            "budget_reached",
            f"{what} is used up: {spent} of {budget} USD.",
            hint="Raise it to continue.",
            budget_usd=str(budget),
            spent_usd=str(spent),
        )
