"""Alerts: what they match and when one is due. No I/O, no clock."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from quarterdeck.store.records import ApprovalRecord, SessionRecord

from .bodies import decode_body
from .errors import HostError
from .folders import is_below

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")
"""What is given out as global addresses of IPv6. The rest is reserved, or holds other addresses."""

AlertKind: TypeAlias = Literal["approval", "crashed", "finished", "budget", "limited"]
WORKING = frozenset({"running", "waiting", "compacting", "limited"})
"""A session that becomes idle from one of these states has finished something."""
MOST_ALERTS = 100


class Alert(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Sends notices to a ``url``, or to the standard input of a ``command``."""

    on: list[AlertKind]
    url: str | None = None
    command: list[str] | None = None
    after_s: float = 0.0
    """How long an approval may wait before this alert is due."""
    session: str | None = None
    """Only about this session."""
    cwd: str | None = None
    """Only about sessions in this folder and below; without links."""

    @property
    def target(self) -> str:
        """The receiver."""
        return self.url or " ".join(self.command or ())


class Alerts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """All of them."""

    alerts: list[Alert] = []
    private_hosts: list[str] = []
    """Non-public names, addresses and networks to allow, e.g. ``10.0.0.0/8``."""


class AlertNotice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notice. ``id`` stays the same across retries."""

    id: str
    kind: AlertKind
    at: float
    session_id: str = ""
    """Empty if it concerns the whole host."""
    name: str = ""
    cwd: str = ""
    state: str = ""
    reason: str = ""
    approval: dict[str, Any] | None = None
    budget: dict[str, Any] | None = None


class Progress(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How far the host-wide stream was read, and what to remember of it."""

    pos: int
    states: dict[str, str] = {}
    """Session → state, for sessions that are working."""
    budgets: dict[str, str] = {}
    """Session, or period of the host → ``near`` or ``reached``."""
    told: list[str] = []
    """Waiting approvals that were already reported, each with the number of its alert."""


def check_alerts(alerts: Alerts) -> None:
    """Raises ``HostError`` for alerts that could never be delivered."""
    if len(alerts.alerts) > MOST_ALERTS:
        raise HostError("invalid", f"At most {MOST_ALERTS} alerts.", field="settings.alerts")
    for number, alert in enumerate(alerts.alerts):
        if problem := _problem(alert):
            raise HostError("invalid", problem, field=f"settings.alerts[{number}]")
    for number, host in enumerate(alerts.private_hosts):
        if not host or ("/" in host and _network(host) is None):
            raise HostError("invalid", f"{host!r} is not a network.", field=f"settings.private_hosts[{number}]")


def _problem(alert: Alert) -> str:
    if (alert.url is None) == (alert.command is None):
        return "An alert needs a url or a command."
    if not alert.on:
        return 'An alert needs at least one kind in "on".'
    if alert.command is not None and (not alert.command or not alert.command[0].startswith("/")):
        return "The command must start with the absolute path of a program."
    if alert.command is not None and any("\0" in word for word in alert.command):
        return "A command cannot contain NUL characters."
    if not 0 <= alert.after_s <= 7 * 86_400:
        return "after_s must be between 0 and a week."
    if alert.url is not None:
        try:
            parts = urlsplit(alert.url)
            usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:
            usable = False
        if not usable or not alert.url.isascii() or any(character.isspace() for character in alert.url):
            return "The url must be http or https and have a host."
        if parts.username is not None:
            return "A url cannot contain a user name or password: everyone who lists the alerts would see them."
    return ""


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def may_reach(name: str, address: str, private_hosts: list[str]) -> bool:
    """Whether a URL may resolve to this address."""
    found = _meant(ipaddress.ip_address(address.partition("%")[0]))
    if _is_public(found):
        return True
    for listed in private_hosts:
        network = _network(listed)
        if listed.casefold() == name.casefold() or (network is not None and found in network):
            return True
    return False


def _meant(address: _Address) -> _Address:
    """Where an address leads: some IPv6 addresses embed an IPv4 address, to which the network translates them."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address


def _is_public(address: _Address) -> bool:
    if address.is_multicast or not address.is_global:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    return address in _UNICAST and address.sixtofour is None and address.teredo is None


def concerns(alert: Alert, session: SessionRecord) -> bool:
    if alert.session is not None and alert.session != session.id and alert.session not in session.aliases:
        return False
    return alert.cwd is None or is_below(session.cwd, [alert.cwd])


def session_notices(progress: Progress, record: SessionRecord, at: float) -> Iterator[AlertNotice]:
    """Return the notices for a change of a session, and what to remember."""
    body = decode_body(record)
    before, known = progress.states.get(record.id), progress.budgets.get(record.id, "")
    kinds: list[AlertKind] = []
    if record.state != before:
        if record.state in ("crashed", "limited"):
            kinds.append(record.state)  # type: ignore[arg-type]
        elif record.state == "idle" and before in WORKING:
            kinds.append("finished")
    if body.budget_state and body.budget_state != known:
        kinds.append("budget")
    _remember(progress.states, record.id, record.state if record.state in WORKING or record.state == "crashed" else "")
    _remember(progress.budgets, record.id, body.budget_state)
    for kind in kinds:
        budget = {"state": body.budget_state, "budget_usd": body.budget_usd, "spent_usd": f"{body.cost_usd:.6f}"}
        yield AlertNotice(
            id=f"{kind}-{record.id}-{body.state_since:.3f}" + (f"-{body.budget_state}" if kind == "budget" else ""),
            kind=kind,
            at=at,
            session_id=record.id,
            name=record.name,
            cwd=record.cwd,
            state=record.state,
            reason=body.state_reason,
            budget=budget if kind == "budget" else None,
        )


def host_budget_notice(
    progress: Progress, period: str, state: str, budget: Any, spent: Any, at: float
) -> AlertNotice | None:
    """Return the notice about the host's daily or monthly budget, if not yet reported."""
    if progress.budgets.get(period) == state:
        return None
    progress.budgets[period] = state
    told = {"state": state, "period": period, "budget_usd": str(budget), "spent_usd": str(spent)}
    return AlertNotice(id=f"budget-{period}-{state}", kind="budget", at=at, budget=told)


def _remember(known: dict[str, str], session: str, value: str) -> None:
    if value:
        known[session] = value
    else:
        known.pop(session, None)


def approval_notice(approval: ApprovalRecord, session: SessionRecord, shown: dict[str, Any], at: float) -> AlertNotice:
    """Return the notice about an approval that needs a decision. ``shown`` is the approval as people see it."""
    told = {key: shown.get(key) for key in ("id", "kind", "tool", "summary", "risk", "asked_at")}
    return AlertNotice(
        id=f"approval-{approval.id}",
        kind="approval",
        at=at,
        session_id=session.id,
        name=session.name,
        cwd=session.cwd,
        state=session.state,
        approval={**told, "waited_s": round(at - approval.asked_at, 3)},
    )
