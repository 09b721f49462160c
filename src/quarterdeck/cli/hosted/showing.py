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
        Column("COST", [money(one.cost_usd) if one.cost_usd else "" for one in sessions], right=True),
        Column("FOLDER", [path_end(one.cwd, max(look.width // 5, 12), home=home) for one in sessions], "dim"),
        Column("MODEL", [one_line(one.model, 24) for one in sessions], "dim"),
    ]
    doing = [one_line(one.current or one.state_reason, 1_000) for one in sessions]
    return table(columns, Column("DOING", doing), look)


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


def money(amount: Decimal) -> str:
    return f"${amount:.4f}" if abs(amount) < 1 else f"${amount:,.2f}"


def clock(moment: datetime) -> str:
    """The local time."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
