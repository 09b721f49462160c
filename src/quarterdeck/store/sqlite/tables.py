"""The tables of a store in SQLite, as one transaction of the writer sees them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import msgspec

from quarterdeck.store.commits import Committed
from quarterdeck.store.queries import searched_text
from quarterdeck.store.records import (
    ApprovalRecord,
    AuditRecord,
    GrantRecord,
    NewRow,
    Receipt,
    SessionRecord,
    TokenRecord,
    UsageEntry,
)
from quarterdeck.store.tables import Log

from .folder import LARGE_BYTES, StoreFolder
from .schema import SEQ_BITS

encode = msgspec.msgpack.encode

LOG_FIELDS = Log.__struct_fields__
_SELECT_LOG = f"SELECT {', '.join(LOG_FIELDS)} FROM logs WHERE session = ?"  # noqa: S608  # names of ours
_CHANGING = LOG_FIELDS[2:]  # number and session never change: naming the session would make SQLite rewrite its index
_UPDATE_LOG = f"UPDATE logs SET {', '.join(f'{name} = ?' for name in _CHANGING)} WHERE number = ?"  # noqa: S608
_CAN_UPDATE_FROM = sqlite3.sqlite_version_info >= (3, 33)
_INSERT_LOG = f"INSERT INTO logs VALUES ({', '.join('?' * len(LOG_FIELDS))})"  # noqa: S608
_ROW = f"({', '.join('?' * 10)})"
_TAKES_MANY = sqlite3.sqlite_version_info >= (3, 32)
AT_ONCE = (*((1_024, 256) if _TAKES_MANY else ()), 64, *range(32, 0, -1))
"""How many rows or logs are written in one step: after each step the interpreter's lock has to be taken again, and a
loop that is busy keeps it for a while. Older versions of SQLite take 999 values at once, newer ones 32,766."""
_USAGE_FIELDS = UsageEntry.__struct_fields__
_INSERT_USAGE = f"INSERT INTO usage ({', '.join(_USAGE_FIELDS)}) VALUES ({', '.join('?' * len(_USAGE_FIELDS))})"  # noqa: S608


@cache
def _insert_rows(count: int) -> str:
    """``OR FAIL``: a transaction that fails is undone as a whole, so SQLite need not keep a copy of each page in order
    to undo one statement. With rows of many sessions, that took two thirds of the time of an insert."""
    return f"INSERT OR FAIL INTO rows VALUES {', '.join([_ROW] * count)}"  # noqa: S608


@cache
def _update_logs(count: int) -> str:
    if count == 1:
        return _UPDATE_LOG
    values = ", ".join([f"({', '.join('?' * (len(_CHANGING) + 1))})"] * count)
    changes = ", ".join(f"{name} = new.column{at}" for at, name in enumerate(_CHANGING, 1))
    where = f"logs.number = new.column{len(_CHANGING) + 1}"
    return f"UPDATE OR FAIL logs SET {changes} FROM (VALUES {values}) AS new WHERE {where}"  # noqa: S608


class SqliteTables:
    """What ``tables.Tables`` asks for. Logs and rows of a transaction are gathered and written by ``flush``."""

    def __init__(self, connection: sqlite3.Connection, folder: StoreFolder, *, shared: bool = False) -> None:
        """``shared``: other processes write, too."""
        self.connection = connection
        self.folder = folder
        self._shared = shared
        self.large_gone: list[int] = []
        """Rows whose files may be removed after the commit."""
        self.has_deleted_logs = True
        self._data_version: tuple[int] | None = None
        self._logs: dict[str, Log] = {}
        self._changed_logs: dict[int, Log] = {}
        self._new_rows: list[tuple[Any, ...]] = []

    def begin(self) -> None:
        """Logs stay cached between transactions, unless someone else has written."""
        self.connection.execute("BEGIN IMMEDIATE")
        if not self._shared:
            return
        data_version = self.connection.execute("PRAGMA data_version").fetchone()
        if data_version != self._data_version:
            self._data_version = data_version
            self._logs.clear()

    def commit(self) -> None:
        self.flush()
        self.connection.execute("COMMIT")
        self.folder.remove_large(self.large_gone)
        self.large_gone.clear()

    def rollback(self) -> None:
        self._logs.clear()
        self._changed_logs.clear()
        self._new_rows.clear()
        self.large_gone.clear()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def flush(self) -> None:
        """Write what was collected, so that SQL sees it."""
        if self._new_rows:
            rows, self._new_rows = self._new_rows, []
            for some in _in_parts(rows):
                self.connection.execute(_insert_rows(len(some)), list(chain.from_iterable(some)))
        if self._changed_logs:
            logs = [(*msgspec.structs.astuple(log)[2:], log.number) for log in self._changed_logs.values()]
            self._changed_logs.clear()
            if not _CAN_UPDATE_FROM:
                self.connection.executemany(_UPDATE_LOG, logs)
                return
            for some in _in_parts(logs):
                self.connection.execute(_update_logs(len(some)), list(chain.from_iterable(some)))

    def forget_logs(self) -> None:
        """Before SQL changes logs: write what was collected, and read them again when needed."""
        self.flush()
        self._logs.clear()

    def log(self, session: str) -> Log | None:
        log = self._logs.get(session)
        if log is None:
            values = self.connection.execute(_SELECT_LOG, (session,)).fetchone()
            if values is None:
                return None
            log = self._logs[session] = Log(*values)
        return log

    def new_log(self, session: str, *, epoch: str, fence: int, owner: str) -> Log:
        log = Log(0, session, epoch, fence, owner)
        values = msgspec.structs.astuple(log)[1:]
        log.number = self.connection.execute(_INSERT_LOG, (None, *values)).lastrowid or 0
        self._logs[session] = log
        return log

    def save_log(self, log: Log) -> None:
        self._changed_logs[log.number] = log

    def delete_log(self, log: Log) -> None:
        """The rows stay for now: the writer removes them piece by piece when it has nothing else to do."""
        self.flush()
        execute = self.connection.execute
        execute("DELETE FROM logs WHERE number = ?", (log.number,))
        execute("INSERT INTO deleted_logs VALUES (?)", (log.number,))
        execute("DELETE FROM snapshots WHERE log = ?", (log.number,))
        execute("DELETE FROM sessions WHERE id = ?", (log.session,))
        for table in ("aliases", "approvals", "effects"):
            execute(f"DELETE FROM {table} WHERE session = ?", (log.session,))  # noqa: S608  # names of ours
        del self._logs[log.session]
        self.has_deleted_logs = True

    def add_rows(self, log: Log, rows: Sequence[NewRow]) -> None:
        first = (log.number << SEQ_BITS) + log.last_seq + 1
        self._new_rows += [
            (
                number,
                row.at,
                row.kind,
                row.origin,
                row.generation,
                row.spool_end,
                row.input_number,
                row.sender,
                0,
                row.body,
            )
            if len(row.body) <= LARGE_BYTES
            else self._large_row(number, row)
            for number, row in enumerate(rows, first)
        ]

    def _large_row(self, number: int, row: NewRow) -> tuple[Any, ...]:
        self.folder.write_large(number, row.body)
        where = (number, row.at, row.kind, row.origin, row.generation, row.spool_end, row.input_number, row.sender)
        return (*where, len(row.body), b"")

    def put_snapshot(self, log: Log, seq: int, body: bytes) -> None:
        self.connection.execute("REPLACE INTO snapshots VALUES (?, ?, ?)", (log.number, seq, body))

    def snapshot_seqs(self, log: Log) -> list[int]:
        found = self.connection.execute("SELECT seq FROM snapshots WHERE log = ? ORDER BY seq", (log.number,))
        return [seq for (seq,) in found]

    def delete_snapshots(self, log: Log, seqs: Iterable[int]) -> None:
        self.connection.executemany(
            "DELETE FROM snapshots WHERE log = ? AND seq = ?", [(log.number, seq) for seq in seqs]
        )

    def put_session(self, record: SessionRecord) -> None:
        values = (
            record.id,
            record.state,
            f"{record.cwd.rstrip('/')}/",
            record.archived,
            record.active_at,
            "".join(map(tag_text, record.tags)),
            searched_text(record),
            record.open_seq,
            encode(record),
        )
        self.connection.execute("REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        self.connection.execute("DELETE FROM aliases WHERE session = ?", (record.id,))
        self.connection.executemany(
            "REPLACE INTO aliases VALUES (?, ?)", [(alias, record.id) for alias in record.aliases]
        )

    def approval(self, approval: str) -> ApprovalRecord | None:
        found = self.connection.execute("SELECT record FROM approvals WHERE id = ?", (approval,)).fetchone()
        return msgspec.msgpack.decode(found[0], type=ApprovalRecord) if found else None

    def put_approval(self, record: ApprovalRecord) -> None:
        where = (record.id, record.session, record.request_id, record.kind)
        self.connection.execute(
            "INSERT INTO approvals (id, session, request_id, kind, state, seq, record) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET state = excluded.state, record = excluded.record",
            (*where, record.state, record.seq, encode(record)),
        )

    def put_grant(self, record: GrantRecord) -> None:
        self.connection.execute("REPLACE INTO grants VALUES (?, ?)", (record.id, encode(record)))

    def token_id(self, digest: bytes) -> str | None:
        found = self.connection.execute("SELECT id FROM tokens WHERE digest = ?", (digest,)).fetchone()
        return found[0] if found else None

    def put_token(self, record: TokenRecord) -> None:
        self.connection.execute("REPLACE INTO tokens VALUES (?, ?, ?)", (record.id, record.digest, encode(record)))

    def add_usage(self, entry: UsageEntry) -> None:
        self.connection.execute(_INSERT_USAGE, msgspec.structs.astuple(entry))

    def add_audit(self, entry: AuditRecord) -> None:
        values = (entry.at, entry.who, entry.operation, entry.via, entry.session, entry.body)
        self.connection.execute("INSERT INTO audit VALUES (NULL, ?, ?, ?, ?, ?, ?)", values)

    def add_effect(self, session: str | None, kind: str, body: bytes) -> int:
        return (
            self.connection.execute("INSERT INTO effects VALUES (NULL, ?, ?, ?)", (session, kind, body)).lastrowid or 0
        )

    def finish_effect(self, session: str | None, effect: int) -> None:
        self.connection.execute("DELETE FROM effects WHERE id = ? AND session IS ?", (effect, session))

    def put_setting(self, name: str, body: bytes | None) -> None:
        if body is None:
            self.connection.execute("DELETE FROM settings WHERE name = ?", (name,))
        else:
            self.connection.execute("REPLACE INTO settings VALUES (?, ?)", (name, body))

    def receipt(self, scope: str, key: str) -> tuple[Receipt, Committed] | None:
        return find_receipt(self.connection, scope, key)

    def put_receipt(self, receipt: Receipt, committed: Committed) -> None:
        values = (receipt.scope, receipt.key, receipt.request, receipt.outcome, receipt.at, encode(committed))
        self.connection.execute("REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?)", values)

    def add_change(self, kind: str, id: str, record: SessionRecord | ApprovalRecord | None) -> int:  # noqa: A002
        values = (kind, id, None if record is None else encode(record))
        return self.connection.execute("INSERT INTO changes VALUES (NULL, ?, ?, ?)", values).lastrowid or 0


def _in_parts(values: list[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """In few parts, of few sizes: there is a statement for each size."""
    at = 0
    for size in AT_ONCE:
        while len(values) - at >= size:
            yield values[at : at + size]
            at += size


def tag_text(tag: str) -> str:
    """A tag as it is looked for: as JSON, which has no line break in it, between line breaks."""
    return f"\n{msgspec.json.encode(tag).decode()}\n"


def find_receipt(connection: sqlite3.Connection, scope: str, key: str) -> tuple[Receipt, Committed] | None:
    """The outcome of a write with this key, however long ago."""
    found = connection.execute(
        "SELECT request, outcome, at, committed FROM receipts WHERE scope = ? AND key = ?", (scope, key)
    ).fetchone()
    if found is None:
        return None
    request, outcome, at, committed = found
    receipt = Receipt(scope=scope, key=key, request=request, outcome=outcome, at=at)
    return receipt, msgspec.msgpack.decode(committed, type=Committed)
