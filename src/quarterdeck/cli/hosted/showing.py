"""How sessions and approvals are shown in tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from quarterdeck.cli.common import Look
from quarterdeck.cli.common.table import Column, one_line, path_end, short_ids, table

if TYPE_CHECKING:
    from quarterdeck.host.resources import Approval, Resource, Session

STATE_STYLES = {
    "waiting": "bold yellow",
    "running": "green",
    "compacting": "green",
    "starting": "cyan",
    "authenticating": "yellow",
    "limited": "yellow",
    "crashed": "bold red",
    "idle": "",
    "stopped": "dim",
    "parked": "dim",
}
RISK_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "unknown": "yellow"}


def print_json(resources: Iterable[Resource] | Resource) -> None:
    """One object a line, as the HTTP interface has it."""
    listed = [resources] if isinstance(resources, msgspec.Struct) else resources
    for one in listed:
        sys.stdout.write(msgspec.json.encode(one).decode() + "\n")
    sys.stdout.flush()


def sessions_table(sessions: Sequence[Session], look: Look, *, now: float | None = None) -> list[str]:
    """One line per session; the last column is what it is doing."""
    home = str(Path.home())
    columns = [
        Column("ID", short_ids([one.id for one in sessions]), "cyan"),
        Column("STATE", [one.state for one in sessions], [STATE_STYLES.get(one.state, "") for one in sessions]),
        Column("NAME", [one_line(one.name, 24) for one in sessions], "bold"),
        Column("ASKS", [str(one.pending_approvals or "") for one in sessions], "bold yellow", right=True),
        Column("FOR", [since(one.state_since, now) for one in sessions], "dim", right=True),
        Column("COST", [_cost(one) for one in sessions], right=True),
        Column("FOLDER", [path_end(one.cwd, max(look.width // 5, 12), home=home) for one in sessions], "dim"),
        Column("MODEL", [one_line(one.model, 24) for one in sessions], "dim"),
    ]
    doing = [one_line(_doing(one), 1_000) for one in sessions]
    return table(columns, Column("DOING", doing), look)


def _doing(session: Session) -> str:
    ends = until(session.state, session.state_until).strip(" ,")
    return ": ".join(filter(None, (ends, session.current or session.state_reason)))


def approvals_table(
    approvals: Sequence[Approval], look: Look, names: Mapping[str, str], *, now: float | None = None
) -> list[str]:
    """A line per approval; ``names`` are those of sessions, by id."""
    risks = [(one.risk or "").partition(":")[0] for one in approvals]
    columns = [
        Column("ID", short_ids([one.id for one in approvals]), "cyan"),
        Column("SESSION", [one_line(names.get(one.session_id) or one.session_id[:8], 24) for one in approvals], "bold"),
        Column("WAITS", [since(one.asked_at, now) for one in approvals], "dim", right=True),
        Column("RISK", risks, [RISK_STYLES.get(one, "") for one in risks]),
        Column("KIND", [_kind(one) for one in approvals], "dim"),
    ]
    asked = [one_line(one.summary or one.tool, 1_000) for one in approvals]
    return table(columns, Column("ASKS", asked), look)


def _kind(approval: Approval) -> str:
    return "" if approval.kind == "permission" else approval.kind.replace("_", " ")


def since(moment: datetime, now: float | None = None) -> str:
    """How long ago, in one unit."""
    elapsed = max(int((time.time() if now is None else now) - moment.timestamp()), 0)
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if elapsed >= length:
            return f"{elapsed // length}{unit}"
    return f"{elapsed}s"


def _cost(session: Session) -> str:
    return f"{money(session.cost_usd)}{' sim' * is_simulated(session)}" if session.cost_usd else ""


def total_cost(sessions: Iterable[Session]) -> str:
    """What they cost together, with simulated costs apart; empty if nothing."""
    real, simulated = Decimal(0), Decimal(0)
    for one in sessions:
        if is_simulated(one):
            simulated += one.cost_usd
        else:
            real += one.cost_usd
    return " + ".join(filter(None, (money(real) if real else "", f"{money(simulated)} simulated" if simulated else "")))


def is_simulated(session: Session) -> bool:
    """Whether its costs are made up: it runs on the simulator."""
    return session.agent == "sim"


def money(amount: Decimal) -> str:
    return f"${amount:.4f}" if abs(amount) < 1 else f"${amount:,.2f}"


def until(state: str, moment: datetime | None) -> str:
    """When a state ends by itself, to be put behind its name; empty if that is not known."""
    if moment is None:
        return ""
    local, now = moment.astimezone(), datetime.now().astimezone()
    day = "" if local.date() == now.date() else f"{local:%Y-%m-%d} "
    time_of_day = f"{local:%H:%M}" if local.second == 0 else f"{local:%H:%M:%S}"
    return f"{', starts again at' if state == 'crashed' else ' until'} {day}{time_of_day}"


def clock(moment: datetime) -> str:
    """The local time."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
