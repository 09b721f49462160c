"""Budgets of sessions and of the whole host, and what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal, TypeAlias

import msgspec

from quarterdeck.store import EventStore
from quarterdeck.store.records import UsageEntry

from .bodies import SessionBody
from .errors import HostError
from .events import BudgetChanged
from .families import ZERO, Families
from .times import usd
from .turn_meter import Prices, TurnMeter

NEAR = Decimal("0.8")
"""The share of a budget at which it counts as nearly used up."""
MOST_USD = Decimal(1_000_000_000)
NANO = Decimal(1_000_000_000)
SETTING = "budgets"
BudgetState: TypeAlias = Literal["", "near", "reached"]
_RANK = {"": 0, "near": 1, "reached": 2}
_NAMES = {"session": "The session's budget", "parent": "The budget of the session that started it"}


class HostBudgets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What all sessions together may spend; null means no limit. Days and months are in UTC."""

    day_usd: Decimal | None = None
    month_usd: Decimal | None = None


def check_budget(budget: Decimal | None, field: str) -> None:
    """Raises ``HostError`` for values that can't be compared with a cost, e.g. NaN."""
    if budget is not None and not (budget.is_finite() and 0 <= budget <= MOST_USD):
        raise HostError("invalid", f"A budget must be between 0 and {MOST_USD:,} USD.", field=field)


def state_of_budget(budget: Decimal | None, spent: Decimal) -> BudgetState:
    if budget is None or spent < budget * NEAR:
        return ""
    return "near" if spent < budget else "reached"


class Spending:
    """What sessions and the host have spent, and may spend."""

    def __init__(self) -> None:
        self.budgets = HostBudgets()
        self.families = Families()
        self.prices = Prices()
        self._nano_by_day: dict[str, int] = {}
        self._told: dict[str, BudgetState] = {}
        self._turns: dict[str, TurnMeter] = {}
        self._running: Decimal | None = None
        """Total cost of the running turns; None: not yet computed."""

    async def load(self, store: EventStore) -> None:
        kept = await store.setting(SETTING)
        self.budgets = HostBudgets() if kept is None else msgspec.json.decode(kept, type=HostBudgets)
        self._nano_by_day = {total.by[0]: total.usage.cost_nano_usd for total in await store.usage(["day"])}
        for total in await store.usage(["model"]):
            self.prices.learn(total.by[0], total.usage)
        await self.families.load(store)

    def replace(self, budgets: HostBudgets) -> None:
        self.budgets = budgets
        self._told.clear()

    def spent(self, prefix: str) -> Decimal:
        """What was spent on a day (``2026-11-16``) or in a month (``2026-11``)."""
        return Decimal(sum(nano for day, nano in self._nano_by_day.items() if day.startswith(prefix))) / NANO

    def count(
        self, session_id: str, body: SessionBody, entries: Sequence[UsageEntry], at: float
    ) -> list[BudgetChanged]:
        """Add a turn's usage; returns the resulting changes of the session's and the host's budgets."""
        self.families.note(session_id, body)
        self.prices.learn_all(entries)
        for entry in entries:
            self._nano_by_day[entry.day] = self._nano_by_day.get(entry.day, 0) + entry.cost_nano_usd
        budget, spent = self._own(session_id, body)
        state = state_of_budget(budget, spent)
        told, body.budget_state = body.budget_state, state
        changes = [BudgetChanged(at, state, budget, spent)] if state and state != told else []
        for period, limit, used in self._periods(at):
            state = state_of_budget(limit, used)
            if state and self._told.get(period) != state:
                changes.append(BudgetChanged(at, state, limit, used, "host"))
            self._told[period] = state
        return changes

    def states(self, at: float) -> list[tuple[str, str, Decimal, Decimal]]:
        """Each period whose budget is nearly or fully used up: its state, the budget, and the amount spent."""
        states = [(period, state_of_budget(limit, spent), limit, spent) for period, limit, spent in self._periods(at)]
        return [one for one in states if one[1]]

    def check(self, session_id: str, body: SessionBody, at: float) -> None:
        """Raises ``HostError`` if no new prompt may be sent."""
        for whose, budget, spent in self.families.budgets(session_id, body, self._cost_of_turn):
            _refuse_if_reached(_NAMES[whose], budget, spent)
        for period, limit, spent in self._periods(at):
            _refuse_if_reached(f"The host's budget for {period}", limit, spent)

    def left(self, session_id: str, body: SessionBody) -> Decimal | None:
        """The least that is left of all budgets that apply to it; None if there are none."""
        budgets = self.families.budgets(session_id, body, self._cost_of_turn)
        return min((budget - spent for _, budget, spent in budgets), default=None)

    # While turns run

    def watch(self, turns: dict[str, TurnMeter]) -> None:
        """Set the running turns, by session."""
        self._turns, self._running = turns, None

    def warn(self, session_id: str, body: SessionBody, at: float) -> list[BudgetChanged]:
        """Return budgets that are nearly used up and not yet reported, counting running turns and child sessions."""
        changes: list[BudgetChanged] = []
        in_turn = session_id in self._turns
        if body.budget_usd is not None:
            budget, spent = self._own(session_id, body)
            state = state_of_budget(budget, spent)
            if state and in_turn:
                state = "near"  # whether it is reached is known when the turn has ended
            if state and _RANK[state] > _RANK.get(body.budget_state, 0):
                body.budget_state = state
                changes.append(BudgetChanged(at, state, budget, spent))
        for period, limit, used in self._periods(at) if in_turn else ():
            spent = used + self._cost_of_turns()
            if state_of_budget(limit, spent) and not self._told.get(period):
                self._told[period] = "near"
                changes.append(BudgetChanged(at, "near", limit, spent, "host"))
        return changes

    def over(self, session_id: str, body: SessionBody, at: float) -> BudgetChanged | None:
        """Whether a running turn has used up a budget, approximately."""
        for whose, budget, spent in self.families.budgets(session_id, body, self._cost_of_turn):
            if spent >= budget:
                return BudgetChanged(at, "interrupted", budget, spent, whose)
        for _, limit, used in self._periods(at):
            if (spent := used + self._cost_of_turns()) >= limit:
                return BudgetChanged(at, "interrupted", limit, spent, "host")
        return None

    def _own(self, session_id: str, body: SessionBody) -> tuple[Decimal | None, Decimal]:
        """The session's budget, and what was spent of it."""
        for whose, budget, spent in self.families.budgets(session_id, body, self._cost_of_turn):
            if whose == "session":
                return budget, spent
        return None, usd(body.cost_usd)

    def _cost_of_turn(self, session_id: str) -> Decimal:
        meter = self._turns.get(session_id)
        return ZERO if meter is None else meter.cost_usd(self.prices)

    def _cost_of_turns(self) -> Decimal:
        if self._running is None:
            self._running = sum((meter.cost_usd(self.prices) for meter in self._turns.values()), ZERO)
        return self._running

    def _periods(self, at: float) -> list[tuple[str, Decimal, Decimal]]:
        """The budgets of the day and the month, if any, and what was spent of them."""
        day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
        limits = ((day, self.budgets.day_usd), (day[:7], self.budgets.month_usd))
        return [(period, limit, self.spent(period)) for period, limit in limits if limit is not None]


def _refuse_if_reached(what: str, budget: Decimal, spent: Decimal) -> None:
    if spent >= budget:
        raise HostError(
            "budget_reached",
            f"{what} is used up: {spent} of {budget} USD.",
            hint="Raise it to continue.",
            budget_usd=str(budget),
            spent_usd=str(spent),
        )
