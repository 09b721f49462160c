"""Every question to the database, as a function of a connection inside one snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from quarterdeck.store.errors import NoSuchSession
from quarterdeck.store.queries import (
    PAGE_BYTES,
    PAGE_ROWS,
    ApprovalPage,
    ApprovalQuery,
    AuditPage,
    AuditQuery,
    HostChangePage,
    LoadedSession,
    LogPage,
    SessionPage,
    SessionQuery,
    UsageDimension,
    UsageTotal,
    number_cursor,
    session_after,
    session_cursor,
    to_continue,
)
from quarterdeck.store.records import (
    ApprovalRecord,
    AuditRecord,
    ChangeRecord,
    Effect,
    LogHead,
    Row,
    SessionRecord,
    Snapshot,
    Usage,
)

from .folder import StoreFolder
from .schema import SEQ_BITS, SEQ_MASK
from .tables import tag_text
from .upkeep import position

# ruff: noqa: S608  # statements are put together from words of ours; values are always parameters

_HEAD = f"SELECT number, {', '.join(LogHead.__struct_fields__)} FROM logs"
_ROWS = """SELECT id, at, kind, origin, generation, spool_end, input_number, sender, body, large_bytes
    FROM rows WHERE id BETWEEN ? AND ? ORDER BY id"""
_USAGE = Usage.__struct_fields__

_decode_session = msgspec.msgpack.Decoder(SessionRecord).decode
_decode_approval = msgspec.msgpack.Decoder(ApprovalRecord).decode


class Conditions:
    """What a query asks for, joined by AND."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.values: list[Any] = []

    def add(self, part: str, *values: Any) -> None:
        self._parts.append(part)
        self.values += values

    def one_of(self, column: str, values: Sequence[str]) -> None:
        if values:
            self.add(f"{column} IN ({', '.join('?' * len(values))})", *values)

    def equal(self, column: str, value: Any) -> None:
        if value is not None:
            self.add(f"{column} = ?", value)

    def __str__(self) -> str:
        return f"WHERE {' AND '.join(self._parts)}" if self._parts else ""


def read_heads(connection: sqlite3.Connection) -> list[LogHead]:
    return [_head(values)[1] for values in connection.execute(f"{_HEAD} ORDER BY session")]


def read_head(connection: sqlite3.Connection, session: str) -> tuple[int, LogHead] | None:
    """The log's number, and where it stands."""
    values = connection.execute(f"{_HEAD} WHERE session = ?", (session,)).fetchone()
    return _head(values) if values else None


def _head(values: tuple[Any, ...]) -> tuple[int, LogHead]:
    return values[0], LogHead(**dict(zip(LogHead.__struct_fields__, values[1:], strict=True)))


def read_rows(
    connection: sqlite3.Connection,
    folder: StoreFolder,
    session: str,
    *,
    after: int,
    limit_rows: int,
    limit_bytes: int,
) -> LogPage:
    found = read_head(connection, session)
    if found is None:
        raise NoSuchSession(session)
    number, head = found
    if not head.first_seq - 1 <= after <= head.last_seq:
        return LogPage(head, [], gap=True)
    base = number << SEQ_BITS
    last = min(head.last_seq, after + limit_rows)
    page: list[Row] = []
    size = 0
    cursor = connection.execute(_ROWS, (base + after + 1, base + last))
    for row, at, kind, origin, generation, spool_end, input_number, sender, body, large_bytes in cursor:
        if large_bytes:
            body = folder.read_large(row, large_bytes)
        page.append(Row(session, row & SEQ_MASK, at, kind, origin, generation, spool_end, input_number, sender, body))
        size += len(body)
        if size >= limit_bytes:
            break
    cursor.close()
    return LogPage(head, page)


def read_snapshot(connection: sqlite3.Connection, session: str, at_most: int | None) -> Snapshot | None:
    values = connection.execute(
        "SELECT seq, body FROM snapshots WHERE log = (SELECT number FROM logs WHERE session = ?) AND seq <= ?"
        " ORDER BY seq DESC LIMIT 1",
        (session, SEQ_MASK if at_most is None else at_most),
    ).fetchone()
    return Snapshot(session, *values) if values else None


def read_all_of(connection: sqlite3.Connection, folder: StoreFolder, session: str) -> LoadedSession | None:
    record, found = read_session(connection, session), read_head(connection, session)
    if record is None or found is None:
        return None
    snapshot = read_snapshot(connection, session, None)
    after = 0 if snapshot is None else snapshot.seq
    page = read_rows(connection, folder, session, after=after, limit_rows=PAGE_ROWS, limit_bytes=PAGE_BYTES)
    unfinished, stranded = (read_approvals(connection, query).approvals for query in to_continue(session))
    return LoadedSession(
        record=record,
        head=page.head,
        snapshot=snapshot,
        rows=page.rows,
        unfinished=unfinished,
        stranded=stranded,
    )


def read_changes(connection: sqlite3.Connection, *, after: int, limit: int) -> HostChangePage:
    last = position(connection)
    first = connection.execute("SELECT min(pos) FROM changes").fetchone()[0]
    if not (last + 1 if first is None else first) - 1 <= after <= last:
        return HostChangePage([], last, gap=True)
    found = connection.execute("SELECT * FROM changes WHERE pos > ? ORDER BY pos LIMIT ?", (after, limit))
    return HostChangePage([_change(*values) for values in found], last)


def _change(pos: int, kind: Any, id: str, record: bytes | None) -> ChangeRecord:  # noqa: A002
    if record is None:
        return ChangeRecord(pos, kind, id, None)
    return ChangeRecord(pos, kind, id, _decode_session(record) if kind == "session" else _decode_approval(record))


def read_session(connection: sqlite3.Connection, any_id: str) -> SessionRecord | None:
    for statement in (
        "SELECT record FROM sessions WHERE id = ?",
        "SELECT record FROM sessions WHERE id = (SELECT session FROM aliases WHERE alias = ?)",
    ):
        found = connection.execute(statement, (any_id,)).fetchone()
        if found is not None:
            return _decode_session(found[0])
    return None


def read_sessions(connection: sqlite3.Connection, query: SessionQuery) -> SessionPage:
    where = Conditions()
    where.one_of("state", query.states)
    for tag in query.tags:
        where.add("instr(tags, ?) > 0", tag_text(tag))
    if query.text:
        where.add("instr(text, ?) > 0", query.text.casefold())
    if query.cwd:
        folder = f"{query.cwd.rstrip('/')}/"
        where.add("substr(cwd, 1, ?) = ?", len(folder), folder)
    where.equal("archived", query.archived)
    if query.cursor is not None:
        active_at, session = session_after(query.cursor)
        where.add("(active_at < ? OR (active_at = ? AND id > ?))", active_at, active_at, session)
    statement = f"SELECT record FROM sessions {where} ORDER BY active_at DESC, id LIMIT ?"
    found = connection.execute(statement, (*where.values, query.limit + 1)).fetchall()
    page = [_decode_session(record) for (record,) in found[: query.limit]]
    return SessionPage(page, session_cursor(page[-1]) if len(found) > len(page) > 0 else None)


def read_approval(connection: sqlite3.Connection, approval: str) -> ApprovalRecord | None:
    found = connection.execute("SELECT record FROM approvals WHERE id = ?", (approval,)).fetchone()
    return _decode_approval(found[0]) if found else None


def read_approvals(connection: sqlite3.Connection, query: ApprovalQuery) -> ApprovalPage:
    where = Conditions()
    where.one_of("state", query.states)
    where.one_of("kind", query.kinds)
    where.equal("session", query.session)
    where.equal("request_id", query.request_id)
    if (cursor := number_cursor(query.cursor)) is not None:
        where.add("number < ?" if query.newest_first else "number > ?", cursor)
    order = "number DESC" if query.newest_first else "number"
    statement = f"SELECT number, record FROM approvals {where} ORDER BY {order} LIMIT ?"
    found = connection.execute(statement, (*where.values, query.limit + 1)).fetchall()
    page = found[: query.limit]
    more = len(found) > len(page) > 0
    return ApprovalPage([_decode_approval(record) for _, record in page], str(page[-1][0]) if more else None)


def read_usage(
    connection: sqlite3.Connection, by: Sequence[UsageDimension], *, since: str, until: str, session: str | None
) -> list[UsageTotal]:
    where = Conditions()
    where.equal("session", session)
    if since:
        where.add("day >= ?", since)
    if until:
        where.add("day <= ?", until)
    groups = [f"CAST({name} AS TEXT)" for name in by]
    sums = ", ".join([*groups, *(f"coalesce(sum({name}), 0)" for name in _USAGE)])
    grouped = f"GROUP BY {', '.join(groups)} ORDER BY {', '.join(groups)}" if by else ""
    found = connection.execute(f"SELECT {sums} FROM usage {where} {grouped}", where.values)
    split = len(by)
    return [UsageTotal(values[:split], Usage(**dict(zip(_USAGE, values[split:], strict=True)))) for values in found]


def read_audit(connection: sqlite3.Connection, query: AuditQuery) -> AuditPage:
    where = Conditions()
    where.equal("session", query.session)
    where.equal("who", query.who)
    if query.since is not None:
        where.add("at >= ?", query.since)
    if query.until is not None:
        where.add("at < ?", query.until)
    before = number_cursor(query.cursor)
    if before is not None:
        where.add("id < ?", before)
    statement = f"SELECT id, at, who, operation, via, session, body FROM audit {where} ORDER BY id DESC LIMIT ?"
    found = connection.execute(statement, (*where.values, query.limit + 1)).fetchall()
    names = ("id", "at", "who", "operation", "via", "session", "body")
    page = [AuditRecord(**dict(zip(names, values, strict=True))) for values in found[: query.limit]]
    return AuditPage(page, str(page[-1].id) if len(found) > len(page) > 0 else None)


def read_effects(connection: sqlite3.Connection, session: str | None) -> list[Effect]:
    where = Conditions()
    where.equal("session", session)
    return [
        Effect(*values)
        for values in connection.execute(
            f"SELECT id, session, kind, body FROM effects {where} ORDER BY id", where.values
        )
    ]
