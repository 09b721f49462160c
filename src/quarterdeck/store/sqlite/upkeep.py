"""Removes what is no longer kept, in pieces, so that nobody waits for long."""

from __future__ import annotations

import sqlite3

from quarterdeck.store.interface import RECEIPT_KEPT_S
from quarterdeck.store.queries import Retained, Retention
from quarterdeck.store.records import OPEN_APPROVALS

from .schema import SEQ_BITS, SEQ_MASK
from .tables import SqliteTables

PIECE_ROWS = 2_000
FREE_PAGES_KEPT = 4_096
PIECE_PAGES = 2_048

_OPEN = ", ".join(f"'{state}'" for state in sorted(OPEN_APPROVALS))
_NEEDED = f"""SELECT min(seq) FROM (
    SELECT min(seq) AS seq FROM approvals WHERE session = :session AND state IN ({_OPEN})
    UNION ALL SELECT open_seq FROM sessions WHERE id = :session AND open_seq > 0
)"""  # noqa: S608  # words of ours
_SIZES = """SELECT id, at, length(body) + large_bytes FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"""


def trim(tables: SqliteTables, session: str, retention: Retention, now: float) -> int:
    """Remove up to a piece of the oldest rows of a session; returns how many."""
    tables.flush()
    log = tables.log(session)
    if log is None:
        return 0
    base = log.number << SEQ_BITS
    needed_from = tables.connection.execute(_NEEDED, {"session": session}).fetchone()[0]
    found = tables.connection.execute(_SIZES, (base + log.first_seq, base + log.last_seq, PIECE_ROWS)).fetchall()
    sizes = ((row & SEQ_MASK, at, size) for row, at, size in found)
    last = log.last_to_go(sizes, needed_from=needed_from, retention=retention, now=now)
    gone = last + 1 - log.first_seq
    if gone == 0:
        return 0
    _delete_rows(tables, base + log.first_seq, base + last)
    log.size_bytes -= sum(size for _, _, size in found[:gone])
    log.first_seq = last + 1
    tables.save_log(log)
    tables.connection.execute("DELETE FROM snapshots WHERE log = ? AND seq < ?", (log.number, last))
    return gone


def _delete_rows(tables: SqliteTables, first: int, last: int) -> None:
    large = tables.connection.execute("SELECT id FROM rows WHERE id BETWEEN ? AND ? AND large_bytes > 0", (first, last))
    tables.large_gone += [row for (row,) in large]
    tables.connection.execute("DELETE FROM rows WHERE id BETWEEN ? AND ?", (first, last))


def remove_deleted_rows(tables: SqliteTables) -> None:
    """Remove a piece of what deleted sessions left."""
    found = tables.connection.execute("SELECT number FROM deleted_logs LIMIT 1").fetchone()
    if found is None:
        tables.has_deleted_logs = False
        return
    first, last = found[0] << SEQ_BITS, (found[0] + 1 << SEQ_BITS) - 1
    piece = "SELECT max(id) FROM (SELECT id FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?)"
    end = tables.connection.execute(piece, (first, last, PIECE_ROWS)).fetchone()[0]
    if end is None:
        tables.connection.execute("DELETE FROM deleted_logs WHERE number = ?", found)
    else:
        _delete_rows(tables, first, end)


def trim_others(tables: SqliteTables, retention: Retention, now: float) -> Retained:
    """Receipts, the host-wide stream, the audit: each is small, and goes at once."""
    execute = tables.connection.execute
    receipts = execute("DELETE FROM receipts WHERE at < ?", (now - RECEIPT_KEPT_S,)).rowcount
    newest = position(tables.connection)
    changes = execute("DELETE FROM changes WHERE pos <= ?", (newest - retention.change_count,)).rowcount
    audit = 0
    if retention.audit_age_s is not None:
        audit = execute("DELETE FROM audit WHERE at < ?", (now - retention.audit_age_s,)).rowcount
    return Retained(receipts=receipts, changes=changes, audit=audit)


def position(connection: sqlite3.Connection) -> int:
    """The last position of the host-wide stream that was given out."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    return int(found[0]) if found else 0


def give_back_space(tables: SqliteTables) -> bool:
    """Shrink the file by a piece if much of it is empty; returns whether it did."""
    connection = tables.connection
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    if free < FREE_PAGES_KEPT or free * 4 < pages:
        return False
    connection.execute(f"PRAGMA incremental_vacuum({PIECE_PAGES})").fetchall()
    return True
