"""Rows, records and commits, short to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quarterdeck.store import Commit, Committed, EventStore
from quarterdeck.store.commits import Change, MoveApproval, OpenApproval, PutSession
from quarterdeck.store.records import (
    ApprovalDecision,
    ApprovalRecord,
    NewRow,
    Receipt,
    Row,
    SessionRecord,
    TokenRecord,
    UsageEntry,
)


def row(body: bytes | str = b"{}", **fields: Any) -> NewRow:
    given = {"at": 1.0, "kind": "received", "origin": "agent", **fields}
    return NewRow(body=body.encode() if isinstance(body, str) else body, **given)


def session(session_id: str, /, **fields: Any) -> SessionRecord:
    return SessionRecord(
        **{"id": session_id, "state": "idle", "cwd": "/w", "created_at": 1.0, "active_at": 1.0, **fields}
    )


def approval(approval: str, of: str, **fields: Any) -> ApprovalRecord:
    given = {"request_id": f"req-{approval}", "kind": "permission", "asked_at": 1.0, **fields}
    return ApprovalRecord(id=approval, session=of, **given)


def decision(outcome: str = "allow", by: str = "ann", **fields: Any) -> ApprovalDecision:
    return ApprovalDecision(**{"at": 2.0, "outcome": outcome, "by_kind": "user", "by": by, **fields})


def decided(approval: str, outcome: str = "allow", by: str = "ann") -> MoveApproval:
    return MoveApproval(id=approval, to="decided", at=2.0, decision=decision(outcome, by))


def moved(approval: str, to: Any, at: float = 3.0) -> MoveApproval:
    return MoveApproval(id=approval, to=to, at=at)


def receipt(key: str = "k", **fields: Any) -> Receipt:
    given = {"scope": "token/send_prompt/s", "request": b"request", "outcome": b"outcome", "at": 1.0, **fields}
    return Receipt(key=key, **given)


def token(token: str, **fields: Any) -> TokenRecord:
    given = {"name": token, "digest": token.encode(), "scope": "read", "created_at": 1.0, **fields}
    return TokenRecord(id=token, **given)


def usage(session: str = "s", **fields: Any) -> UsageEntry:
    return UsageEntry(**{"session": session, "turn": 1, "day": "2026-11-16", "model": "m", "cwd": "/w", **fields})


async def start(store: EventStore, session_id: str = "s", /, *rows: NewRow, **fields: Any) -> Committed:
    """A new session with these rows."""
    record = PutSession(session(session_id, **fields))
    return await store.commit(Commit(session=session_id, rows=rows, changes=[record], owner="a"))


async def add(
    store: EventStore, name: str, *rows: NewRow | bytes, changes: Sequence[Change] = (), **more: Any
) -> Committed:
    """Rows and changes of a session that was started here and never claimed."""
    given = [one if isinstance(one, NewRow) else row(one) for one in rows]
    return await store.commit(Commit(**{"session": name, "fence": 1, "rows": given, "changes": changes, **more}))


async def ask(store: EventStore, approval_id: str, name: str = "s", **fields: Any) -> Committed:
    """A row that asks, and its approval."""
    return await add(store, name, b"ask", changes=[OpenApproval(approval(approval_id, name, **fields))])


async def everything(store: EventStore, name: str = "s", after: int = 0) -> list[Row]:
    """All rows of a session, page by page."""
    rows: list[Row] = []
    while page := (await store.read(name, after=rows[-1].seq if rows else after)).rows:
        rows += page
    return rows


async def bodies(store: EventStore, name: str = "s") -> list[bytes]:
    return [one.body for one in await everything(store, name)]
