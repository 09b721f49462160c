"""Operations on usage, budgets and the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from quarterdeck.store import Commit
from quarterdeck.store.commits import PutSetting
from quarterdeck.store.queries import AuditQuery, UsageTotal

from . import requests as takes
from . import resources as returns
from .budgets import NANO, SETTING, HostBudgets, check_budget
from .callers import PROGRAM, Caller
from .errors import HostError
from .host_base import HostBase
from .idempotency import once, receipt_for
from .settings import converted
from .times import moment


class UsageOperations(HostBase):
    """Operations on usage, budgets and the audit log."""

    async def get_usage(self, request: takes.GetUsage, caller: Caller = PROGRAM) -> returns.UsageList:
        """Get tokens and cost, grouped."""
        if len(set(request.by)) != len(request.by) or not request.by:
            raise HostError("invalid", "Give at least one dimension, each only once.", field="by")
        totals = await self.store.usage(request.by, since=_day(request.since), until=_day(request.to))
        return returns.UsageList(usage=[_usage_row(request.by, total) for total in totals])

    async def get_budgets(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Details:
        """Get the host's budgets, and what was spent of them."""
        return returns.Details(details=self._budgets(self._spending.budgets))

    @once
    async def set_budgets(
        self, request: takes.Settings, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Replace the host's budgets."""
        budgets = converted(request.settings, HostBudgets)
        for limit in (budgets.day_usd, budgets.month_usd):
            check_budget(limit, "settings")
        result = returns.Details(details=self._budgets(budgets))
        receipt = receipt_for(self, "set_budgets", request, caller, key, result)
        change = PutSetting(SETTING, msgspec.json.encode(budgets))
        await self.store.commit(Commit(changes=[change], receipt=receipt))
        self._spending.replace(budgets)
        return result

    def _budgets(self, budgets: HostBudgets) -> dict[str, Any]:
        day = _day(moment(self._clock()))
        return {
            "day_usd": None if budgets.day_usd is None else str(budgets.day_usd),
            "month_usd": None if budgets.month_usd is None else str(budgets.month_usd),
            "spent": {"day_usd": _money(self._spending.spent(day)), "month_usd": _money(self._spending.spent(day[:7]))},
        }

    async def list_audit(self, request: takes.ListAudit, caller: Caller = PROGRAM) -> returns.AuditList:
        """List who decided or changed what, newest first."""
        session = request.session
        if session is not None and (record := await self.store.session(session)) is not None:
            session = record.id
        page = await self.store.audit(
            AuditQuery(
                session=session,
                who=request.who,
                since=None if request.since is None else request.since.timestamp(),
                limit=request.limit,
                cursor=request.cursor,
            )
        )
        entries = [
            returns.AuditEntry(
                id=entry.id,
                at=moment(entry.at),
                who=entry.who,
                via=entry.via,
                operation=entry.operation,
                session_id=entry.session,
                details=msgspec.json.decode(entry.body) if entry.body else {},
            )
            for entry in page.entries
        ]
        return returns.AuditList(audit=entries, next_cursor=page.next_cursor)


def _usage_row(by: list[Any], total: UsageTotal) -> returns.UsageRow:
    usage = total.usage
    return returns.UsageRow(
        by=dict(zip(by, total.by, strict=True)),
        cost_usd=Decimal(_money(Decimal(usage.cost_nano_usd) / NANO)),
        tokens=returns.TokenCounts(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cache_read=usage.cache_read_tokens,
            cache_write=usage.cache_write_tokens,
        ),
    )


def _money(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def _day(at: datetime | None) -> str:
    return "" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d")
