"""Alerts: configured by an administrator, triggered by the host-wide stream, delivered from an outbox.

A notice and the stream position are committed together, so a crash neither loses nor repeats one. Delivery is retried
until it succeeds or has failed too often. Nothing here delays a session.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import msgspec

from quarterdeck.store import Commit
from quarterdeck.store.commits import AddAudit, AddEffect, Change, FinishEffect, PutSetting
from quarterdeck.store.queries import ApprovalQuery, SessionQuery
from quarterdeck.store.records import ApprovalRecord, AuditRecord, ChangeRecord, SessionRecord

from . import requests as takes
from . import resources as returns
from .alert_delivery import NotDeliveredError, Webhooks, run_command
from .alerts import (
    Alert,
    AlertNotice,
    Alerts,
    Progress,
    approval_notice,
    check_alerts,
    concerns,
    host_budget_notice,
    session_notices,
)
from .bodies import approval_view, decode_body
from .callers import PROGRAM, Caller
from .folders import as_path
from .host_base import HostBase
from .idempotency import once, receipt_for
from .settings import converted
from .whole_text import encode_whole

logger = logging.getLogger("quarterdeck.host")

ALERTS = "alerts"
PROGRESS = "alerts_progress"
EFFECT = "alert"
RETRIES_S = (1.0, 5.0, 30.0, 120.0, 600.0)
"""Delays before each retry."""
MOST_OPEN = 1_000
"""Maximum concurrent deliveries; more are dropped and logged."""
PACE_S = 0.05
"""Minimum time between two checks for changes."""
LOOK_S = 0.5
"""How often the host checks whether an approval has waited long enough."""


class _Delivery(msgspec.Struct, frozen=True):
    """An entry of the outbox."""

    alert: Alert
    notice: AlertNotice


class AlertOperations(HostBase):
    """Gets and sets alerts, and delivers notices."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._alerts = Alerts()
        self._alert_progress: Progress | None = None
        self._unanswered: dict[str, ApprovalRecord] = {}
        """Pending approvals, if there are alerts about them."""
        self._alerter: asyncio.Task[None] | None = None
        self._deliveries: dict[int, asyncio.Task[None]] = {}
        self._webhooks = Webhooks(self.folder)
        self._told_in_turn: dict[str, asyncio.Lock] = {}
        """Target → its delivery in progress. A target that hangs delays only itself."""

    async def _open(self) -> None:
        await super()._open()
        kept = await self.store.setting(ALERTS)
        if kept is not None:
            self._alerts = msgspec.json.decode(kept, type=Alerts)
        for effect in await self.store.effects():
            if effect.kind == EFFECT:
                self._deliver(effect.id, effect.body)
        self._start_alerter()

    async def close(self) -> None:
        """Leave; with a keeper, the processes keep running."""
        tasks = [*self._deliveries.values(), *([] if self._alerter is None else [self._alerter])]
        self._alerter = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().close()

    # Operations

    async def get_alerts(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Details:
        """Get the alerts."""
        return returns.Details(details=_shown(self._alerts))

    @once
    async def set_alerts(
        self, request: takes.Settings, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Replace the alerts. They cover what happens from now on, and approvals that are already pending."""
        given = converted(request.settings, Alerts)
        check_alerts(given)
        alerts = msgspec.structs.replace(given, alerts=[_without_links(alert) for alert in given.alerts])
        result = returns.Details(details=_shown(alerts))
        self._stop_alerter()
        progress = await self._progress_from_now()
        changes = [PutSetting(ALERTS, msgspec.json.encode(alerts)), PutSetting(PROGRESS, msgspec.json.encode(progress))]
        receipt = receipt_for(self, "set_alerts", request, caller, key, result)
        try:
            await self.store.commit(Commit(changes=changes, receipt=receipt))
            self._alerts, self._alert_progress = alerts, progress
        finally:
            self._start_alerter()
        return result

    # Finding what is due

    def _stop_alerter(self) -> None:
        if self._alerter is not None:
            self._alerter.cancel()
            self._alerter = None

    def _start_alerter(self) -> None:
        if self._alerts.alerts and self._alerter is None:
            self._alerter = asyncio.get_running_loop().create_task(self._alert_on_changes())

    async def _alert_on_changes(self) -> None:
        await self._find_unanswered()
        while not self.bell.closed:
            rung = self.bell.next()
            try:
                await self._look_for_alerts()
            except Exception:
                logger.exception("Checking for alerts failed")
                await asyncio.sleep(LOOK_S)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S if self._unanswered else None):
                    await rung.wait()
            await asyncio.sleep(PACE_S)

    async def _look_for_alerts(self) -> None:
        if self._alert_progress is None:
            kept = await self.store.setting(PROGRESS)
            self._alert_progress = (
                await self._progress_from_now() if kept is None else msgspec.json.decode(kept, type=Progress)
            )
        while True:
            progress = msgspec.convert(msgspec.to_builtins(self._alert_progress), Progress)
            page = await self.store.changes(after=progress.pos)
            if page.gap:
                self._alert_progress = await self._progress_from_now()
                await self._find_unanswered()
                return
            due = [one for change in page.changes for one in self._due_by(change, progress)]
            due += self._due_by_spending(progress)
            due += await self._due_by_waiting(progress)
            await self._write_notices(due, progress)
            if not page.changes:
                return

    def _due_by(self, change: ChangeRecord, progress: Progress) -> list[_Delivery]:
        progress.pos = change.pos
        match change.record:
            case SessionRecord() as session:
                notices = list(session_notices(progress, session, self.now()))
                return [
                    _Delivery(alert, notice)
                    for notice in notices
                    for alert in self._alerts.alerts
                    if notice.kind in alert.on and concerns(alert, session)
                ]
            case ApprovalRecord() as approval if approval.state == "pending":
                self._unanswered[approval.id] = approval
            case ApprovalRecord() as approval:
                self._unanswered.pop(approval.id, None)
            case None:
                progress.states.pop(change.id, None)
                progress.budgets.pop(change.id, None)
                self._unanswered.pop(change.id, None)
        return []

    def _due_by_spending(self, progress: Progress) -> list[_Delivery]:
        """Find notices about the host's own budgets."""
        states = self._spending.states(self.now())
        told = [host_budget_notice(progress, *state, self.now()) for state in states]
        whole_host = [
            alert for alert in self._alerts.alerts if "budget" in alert.on and not (alert.session or alert.cwd)
        ]
        return [_Delivery(alert, notice) for notice in told if notice is not None for alert in whole_host]

    async def _due_by_waiting(self, progress: Progress) -> list[_Delivery]:
        """Find notices about approvals that have waited long enough."""
        progress.told = [one for one in progress.told if one.partition(" ")[2] in self._unanswered]
        due: list[_Delivery] = []
        for approval in list(self._unanswered.values()):
            for number, alert in enumerate(self._alerts.alerts):
                mark = f"{number} {approval.id}"
                if "approval" not in alert.on or mark in progress.told:
                    continue
                if self.now() - approval.asked_at < alert.after_s:
                    continue
                session = await self.find_session(approval.session)
                if session is None:
                    self._unanswered.pop(approval.id, None)
                    break
                progress.told.append(mark)
                if concerns(alert, session):
                    shown = msgspec.to_builtins(approval_view(approval))
                    due.append(_Delivery(alert, approval_notice(approval, session, shown, self.now())))
        return due

    async def _write_notices(self, due: list[_Delivery], progress: Progress) -> None:
        if not due:
            self._alert_progress = progress  # read again after a restart, to the same end
            return
        room = MOST_OPEN - len(self._deliveries)
        if len(due) > room:
            logger.warning("%d alerts are dropped: %d are still being delivered", len(due) - room, MOST_OPEN)
        bodies = [encode_whole(one) for one in due[: max(room, 0)]]
        changes: list[Change] = [AddEffect(EFFECT, body) for body in bodies]
        changes.append(PutSetting(PROGRESS, msgspec.json.encode(progress)))
        done = await self.store.commit(Commit(changes=changes))
        self._alert_progress = progress
        for number, body in zip(done.effects, bodies, strict=True):
            self._deliver(number, body)

    async def _progress_from_now(self) -> Progress:
        """Start from now: nothing earlier is reported."""
        progress = Progress(pos=await self.store.position())
        cursor: str | None = None
        while True:
            page = await self.store.sessions(SessionQuery(limit=500, cursor=cursor))
            for record in page.sessions:
                list(session_notices(progress, record, 0))
                if decode_body(record).budget_state:
                    progress.budgets[record.id] = decode_body(record).budget_state
            cursor = page.next_cursor
            if cursor is None:
                return progress

    async def _find_unanswered(self) -> None:
        page = await self.store.approvals(ApprovalQuery(states=["pending"], limit=10_000))
        self._unanswered = {approval.id: approval for approval in page.approvals}

    # Telling

    def _deliver(self, number: int, body: bytes) -> None:
        task = asyncio.get_running_loop().create_task(self._delivered(number, body))
        self._deliveries[number] = task
        task.add_done_callback(lambda _: self._deliveries.pop(number, None))

    async def _delivered(self, number: int, body: bytes) -> None:
        """Retry until it is delivered or has failed too often, then remove it from the outbox."""
        changes: list[Change] = [FinishEffect(number)]
        try:
            delivery = msgspec.json.decode(body, type=_Delivery)
            for wait_s in (0.0, *RETRIES_S):
                await asyncio.sleep(wait_s)
                try:
                    async with self._told_in_turn.setdefault(delivery.alert.target, asyncio.Lock()):
                        await self._try(delivery)
                    break
                except NotDeliveredError as error:
                    why, last = str(error), error.for_good or wait_s == RETRIES_S[-1]
                if last:
                    logger.warning("The alert %s was not delivered: %s", delivery.notice.id, why)
                    changes.append(AddAudit(self._failure(delivery, why)))
                    break
        except msgspec.MsgspecError:
            logger.exception("An alert in the outbox cannot be read")
        with contextlib.suppress(Exception):
            await self.store.commit(Commit(changes=changes))

    async def _try(self, delivery: _Delivery) -> None:
        alert, notice = delivery.alert, delivery.notice
        body = encode_whole(notice)
        if alert.command is not None:
            await run_command(alert.command, body)
        elif alert.url is not None:
            private = self._alerts.private_hosts
            await self._webhooks.post(alert.url, body, delivery=notice.id, at=self.now(), private_hosts=private)

    def _failure(self, delivery: _Delivery, why: str) -> AuditRecord:
        told = {"alert": delivery.notice.kind, "to": delivery.alert.target, "error": why}
        return AuditRecord(
            at=self.now(),
            who="host",
            via="host",
            operation="alert_failed",
            session=delivery.notice.session_id,
            body=encode_whole(told),
        )


def _without_links(alert: Alert) -> Alert:
    return alert if alert.cwd is None else msgspec.structs.replace(alert, cwd=str(as_path(alert.cwd, absolute=True)))


def _shown(alerts: Alerts) -> dict[str, Any]:
    return {"alerts": msgspec.to_builtins(alerts.alerts), **msgspec.to_builtins(alerts)}
