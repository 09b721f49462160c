"""What a commit reads and writes: the same few operations, whether the tables are dicts or SQL."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from .commits import Committed
from .queries import Retention
from .records import (
    ApprovalRecord,
    AuditRecord,
    GrantRecord,
    LogHead,
    NewRow,
    Receipt,
    SessionRecord,
    TokenRecord,
    UsageEntry,
)


def new_epoch() -> str:
    return secrets.token_hex(8)


class Log(msgspec.Struct):
    """A session's log as a store works on it: the head, to be changed, and the store's own number for it."""

    number: int
    session: str
    epoch: str
    fence: int
    owner: str
    first_seq: int = 1
    last_seq: int = 0
    size_bytes: int = 0
    snapshot_seq: int = 0
    generation: int = 0
    spool_end: int = 0
    input_number: int = 0

    def head(self) -> LogHead:
        values = {name: getattr(self, name) for name in LogHead.__struct_fields__}
        return LogHead(**values)

    def extend(self, rows: Sequence[NewRow]) -> None:
        """Count rows that were added."""
        self.size_bytes += sum([len(row.body) for row in rows])
        generation, spool_end, input_number = self.generation, self.spool_end, self.input_number
        for row in rows:
            if row.generation > generation:
                generation, spool_end, input_number = row.generation, 0, 0
            if row.generation == generation:
                if row.spool_end > spool_end:
                    spool_end = row.spool_end
                if row.input_number > input_number:
                    input_number = row.input_number
        self.generation, self.spool_end, self.input_number = generation, spool_end, input_number
        self.last_seq += len(rows)

    def last_to_go(
        self, rows: Iterable[tuple[int, float, int]], *, needed_from: int | None, retention: Retention, now: float
    ) -> int:
        """The last row that may go: the oldest may that are too old or too many, up to the first that is needed.

        It is the one before the log's first if none may. ``rows`` are number, time and size from the log's first on;
        only as many are read as may go. A clock that was set back leaves rows with times out of order: then those
        behind a younger row stay until that one has aged.
        """
        limit = self.snapshot_seq if needed_from is None else min(self.snapshot_seq, needed_from - 1)
        oldest = None if retention.row_age_s is None else now - retention.row_age_s
        excess = 0 if retention.row_bytes is None else self.size_bytes - retention.row_bytes
        last = self.first_seq - 1
        for seq, at, size in rows:
            is_old = oldest is not None and at < oldest
            if seq > limit or not (is_old or excess > 0):
                break
            last = seq
            excess -= size
        return last


class Tables(Protocol):
    """What a commit reads and writes, inside one transaction."""

    def log(self, session: str) -> Log | None: ...
    def new_log(self, session: str, *, epoch: str, fence: int, owner: str) -> Log: ...
    def save_log(self, log: Log) -> None: ...
    def delete_log(self, log: Log) -> None:
        """With its rows, snapshots, approvals, effects, and the session's record."""

    def add_rows(self, log: Log, rows: Sequence[NewRow]) -> None:
        """After the log's last one."""

    def put_snapshot(self, log: Log, seq: int, body: bytes) -> None: ...
    def snapshot_seqs(self, log: Log) -> list[int]:
        """Ascending."""

    def delete_snapshots(self, log: Log, seqs: Sequence[int]) -> None: ...
    def put_session(self, record: SessionRecord) -> None: ...
    def approval(self, approval: str) -> ApprovalRecord | None: ...
    def put_approval(self, record: ApprovalRecord) -> None: ...
    def put_grant(self, record: GrantRecord) -> None: ...
    def token_id(self, digest: bytes) -> str | None: ...
    def put_token(self, record: TokenRecord) -> None: ...
    def add_usage(self, entry: UsageEntry) -> None: ...
    def add_audit(self, entry: AuditRecord) -> None: ...
    def add_effect(self, session: str | None, kind: str, body: bytes) -> int: ...
    def finish_effect(self, session: str | None, effect: int) -> None: ...
    def put_setting(self, name: str, body: bytes | None) -> None: ...
    def receipt(self, scope: str, key: str) -> tuple[Receipt, Committed] | None: ...
    def put_receipt(self, receipt: Receipt, committed: Committed) -> None: ...
    def add_change(self, kind: str, id: str, record: SessionRecord | ApprovalRecord | None) -> int:  # noqa: A002
        """Add to the host-wide stream; returns its position."""
