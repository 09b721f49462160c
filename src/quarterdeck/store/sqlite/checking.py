"""Looking whether everything is as it should be."""

from __future__ import annotations

import sqlite3

from .folder import StoreFolder
from .schema import SEQ_BITS

MOST_PROBLEMS = 100


def find_problems(connection: sqlite3.Connection, folder: StoreFolder) -> list[str]:
    """Problems, in words: of the file, the logs, and the large bodies next to it."""
    told = connection.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})").fetchall()
    problems = [f"{folder.database}: {text}" for (text,) in told if text != "ok"]
    return problems or [*_log_problems(connection), *_large_problems(connection, folder), *_lost(connection)]


def _log_problems(connection: sqlite3.Connection) -> list[str]:
    problems = []
    logs = connection.execute("SELECT number, session, first_seq, last_seq, size_bytes FROM logs").fetchall()
    for number, session, first_seq, last_seq, size_bytes in logs:
        base = number << SEQ_BITS
        count, first, last, size = connection.execute(
            "SELECT count(*), min(id), max(id), coalesce(sum(length(body) + large_bytes), 0) FROM rows"
            " WHERE id BETWEEN ? AND ?",
            (base, base + (1 << SEQ_BITS) - 1),
        ).fetchone()
        expected = last_seq - first_seq + 1
        if (count, size) != (expected, size_bytes) or (count and (first, last) != (base + first_seq, base + last_seq)):
            problems.append(
                f"session {session}: expected rows {first_seq} to {last_seq} with {size_bytes} bytes, found {count} "
                f"rows with {size} bytes"
            )
    return problems


def _large_problems(connection: sqlite3.Connection, folder: StoreFolder) -> list[str]:
    problems = []
    for row, size in connection.execute("SELECT id, large_bytes FROM rows WHERE large_bytes > 0"):
        path = folder.large_file(row)
        found = path.stat().st_size if path.exists() else 0
        if found != size:
            problems.append(f"{path} should have {size} bytes but has {found}")
    return problems


def _lost(connection: sqlite3.Connection) -> list[str]:
    """Rows, sessions and approvals that belong to no log."""
    lost = {
        "rows": "SELECT count(*) FROM rows WHERE id >> 40 NOT IN"
        " (SELECT number FROM logs UNION ALL SELECT number FROM deleted_logs)",
        "sessions": "SELECT count(*) FROM sessions WHERE id NOT IN (SELECT session FROM logs)",
        "approvals": "SELECT count(*) FROM approvals WHERE session NOT IN (SELECT session FROM logs)",
    }
    counts = {what: connection.execute(statement).fetchone()[0] for what, statement in lost.items()}
    return [f"{count} {what} belong to no log" for what, count in counts.items() if count]
