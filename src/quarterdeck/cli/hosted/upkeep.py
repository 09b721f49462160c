"""What a host's owner looks after: budgets, alerts, rate limits, grants."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import OK, Look, ReportedError, sanitize
from quarterdeck.cli.common.table import Column, one_line, short_ids, table
from quarterdeck.host.requests import Nothing, OfGrant, Settings, UpdateSession

from .accounts import bar, budget_lines
from .naming import by_id, find_session
from .showing import clock, is_simulated, money, print_json, since
from .steering import shown

if TYPE_CHECKING:
    from quarterdeck.host.resources import Grant
    from quarterdeck.remote import RemoteHost

PERIODS = ("day", "month")


async def budget(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck budget``."""
    if given.session is not None:
        return await _session_budget(host, given)
    details = (await host.get_budgets(Nothing())).details
    changes = {f"{period}_usd": getattr(given, period) for period in PERIODS if getattr(given, period) is not None}
    if changes:
        kept = {name: value for name, value in details.items() if name != "spent"} | changes
        wanted = {name: str(value) for name, value in kept.items() if value not in (None, "none")}
        details = (await host.set_budgets(Settings(settings=wanted))).details
    if given.json:
        print_json(await host.get_budgets(Nothing()))
        return OK
    lines = await budget_lines(host, details, Look.of(sys.stdout))
    print("\n".join(lines) if lines else "No budget is set.")
    return OK


async def _session_budget(host: RemoteHost, given: argparse.Namespace) -> int:
    session = await find_session(host, given.session)
    if given.amount is not None:
        amount = None if given.amount == "none" else given.amount
        session = await host.update_session(UpdateSession(session_id=session.id, budget_usd=amount))
    if given.json:
        print_json(session)
        return OK
    limit = "no budget" if session.budget_usd is None else f"of {money(session.budget_usd)}"
    mark = " (simulated)" * is_simulated(session)
    print(f"{shown(session)}: {money(session.cost_usd)}{mark} spent, {limit}")
    return OK


# Alerts


async def list_alerts(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck alerts list``."""
    return _show_alerts((await host.get_alerts(Nothing())).details, as_json=given.json)


async def add_alert(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck alerts add``."""
    kept = _settings((await host.get_alerts(Nothing())).details)
    added: dict[str, Any] = {"on": list(dict.fromkeys(given.on))}
    session = None if given.session is None else (await find_session(host, given.session)).id
    for name in ("url", "command", "cwd"):
        if (value := getattr(given, name)) is not None:
            added[name] = value
    if session is not None:
        added["session"] = session
    if given.after:
        added["after_s"] = given.after
    hosts = list(dict.fromkeys([*kept.get("private_hosts", []), *given.private_host]))
    settings = {"alerts": [*kept.get("alerts", []), added], "private_hosts": hosts}
    return _show_alerts((await host.set_alerts(Settings(settings=settings))).details, as_json=given.json)


async def remove_alerts(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck alerts remove``."""
    kept = _settings((await host.get_alerts(Nothing())).details)
    alerts = kept.get("alerts", [])
    unknown = [number for number in given.numbers if not 1 <= number <= len(alerts)]
    if unknown:
        raise ReportedError(f"there is no alert {unknown[0]}", "Run quarterdeck alerts list.")
    left = [alert for number, alert in enumerate(alerts, 1) if number not in given.numbers]
    settings = {**kept, "alerts": left}
    return _show_alerts((await host.set_alerts(Settings(settings=settings))).details, as_json=given.json)


def _settings(details: dict[str, Any]) -> dict[str, Any]:
    return {name: details[name] for name in ("alerts", "private_hosts") if name in details}


def _show_alerts(details: dict[str, Any], *, as_json: bool) -> int:
    from quarterdeck.host.resources import Details

    alerts = details.get("alerts", [])
    if as_json:
        print_json(Details(details=details))
        return OK
    if not alerts:
        print("No alerts.")
        return OK
    columns = [
        Column("", [str(number) for number, _ in enumerate(alerts, 1)], "cyan", right=True),
        Column("ON", [", ".join(one["on"]) for one in alerts], "bold"),
        Column("AFTER", [f"{one['after_s']:g}s" if one.get("after_s") else "" for one in alerts], right=True),
        Column("ONLY", [one_line((one.get("session") or "")[:8] or one.get("cwd"), 30) for one in alerts], "dim"),
    ]
    targets = [one_line(one.get("url") or " ".join(one.get("command") or ()), 1_000) for one in alerts]
    print("\n".join(table(columns, Column("NOTIFIES", targets), Look.of(sys.stdout))))
    return OK


# Rate limits


async def show_limits(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck limits``."""
    found = await host.get_limits(Nothing())
    if given.json:
        print_json(found)
        return OK
    look = Look.of(sys.stdout)
    rows = [
        (account or "default", window, limit)
        for account, windows in found.details["accounts"].items()
        for window, limit in windows.items()
    ]
    if not rows:
        print("No rate limit has been reported yet.")
        return OK
    columns = [
        Column("ACCOUNT", [one_line(account, 32) for account, _, _ in rows], "bold"),
        Column("WINDOW", [one_line(window, 24) for _, window, _ in rows]),
        Column(
            "STATUS", [one_line(limit.get("status"), 20) for _, _, limit in rows], [_style(one) for *_, one in rows]
        ),
        Column("USED", ["" if (used := one.get("used")) is None else f"{used:.0%}" for *_, one in rows], right=True),
        Column("RESETS", [_reset(one.get("resets_at")) for *_, one in rows], "dim"),
    ]
    bars = Column("", [bar(one.get("used") or 0.0, 20, look) for *_, one in rows], "blue")
    print("\n".join(table(columns, bars, look)))
    return OK


def _style(limit: dict[str, Any]) -> str:
    return {"allowed": "green", "allowed_warning": "yellow"}.get(limit.get("status", ""), "red")


def _reset(at: float | None) -> str:
    return "" if at is None else clock(datetime.fromtimestamp(at, UTC))


# Grants


async def list_grants(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck grants list``."""
    grants = [one for one in (await host.list_grants(Nothing())).grants if given.all or one.revoked_at is None]
    if given.json:
        print_json(grants)
    elif not grants:
        print("No grants.")
    else:
        columns = [
            Column("ID", short_ids([one.id for one in grants]), "cyan"),
            Column("FOR", [_where(one) for one in grants], "dim"),
            Column("BY", [one_line(one.by, 16) for one in grants]),
            Column("MADE", [since(one.created_at) for one in grants], "dim", right=True),
            Column("ENDS", [_end(one) for one in grants], "dim"),
        ]
        rules = Column("RULE", [one_line(one.rule, 1_000) for one in grants], "bold")
        print("\n".join(table(columns, rules, Look.of(sys.stdout))))
    return OK


def _where(grant: Grant) -> str:
    if grant.scope == "session":
        return f"session {(grant.session_id or '')[:8]}"
    return one_line(grant.cwd, 40) if grant.scope == "project" and grant.cwd else grant.scope


def _end(grant: Grant) -> str:
    if grant.revoked_at is not None:
        return "revoked"
    return "" if grant.expires_at is None else clock(grant.expires_at)


async def revoke_grants(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck grants revoke``: all are found before one is revoked."""
    grants = [one for one in (await host.list_grants(Nothing())).grants if one.revoked_at is None]
    for grant in [by_id(grants, wanted, kind="grant", command="grants list") for wanted in given.grants]:
        revoked = await host.revoke_grant(OfGrant(grant_id=grant.id))
        if given.json:
            print_json(revoked)
        else:
            print(f"{grant.id[:8]} {sanitize(grant.rule, one_line=True)}  revoked")
    return OK
