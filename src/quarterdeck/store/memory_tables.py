"""The tables of a store in memory: dicts and lists."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .commits import Committed
from .records import (
    ApprovalRecord,
    AuditRecord,
    ChangeRecord,
    Effect,
    GrantRecord,
    NewRow,
    Receipt,
    Row,
    SessionRecord,
    TokenRecord,
    UsageEntry,
)
from .tables import Log


class MemoryTables:
    """What ``applying.Tables`` asks for."""

    def __init__(self) -> None:
        self.fold_version: str | None = None
        self.logs: dict[str, Log] = {}
        self.rows: dict[str, list[Row]] = {}
        self.snapshots: dict[str, dict[int, bytes]] = {}
        self.sessions: dict[str, SessionRecord] = {}
        self.aliases: dict[str, str] = {}
        self.approvals: dict[str, ApprovalRecord] = {}
        self.approval_numbers: dict[str, int] = {}
        self.grants: dict[str, GrantRecord] = {}
        self.tokens: dict[str, TokenRecord] = {}
        self.usage: list[UsageEntry] = []
        self.audit: list[AuditRecord] = []
        self.effects: dict[int, Effect] = {}
        self.settings: dict[str, bytes] = {}
        self.receipts: dict[tuple[str, str], tuple[Receipt, Committed]] = {}
        self.changes: list[ChangeRecord] = []
        self.position = 0
        self._counts = dict.fromkeys(("log", "approval", "audit", "effect"), 0)

    def _count(self, what: str) -> int:
        self._counts[what] += 1
        return self._counts[what]

    def log(self, session: str) -> Log | None:
        return self.logs.get(session)

    def new_log(self, session: str, *, epoch: str, fence: int, owner: str) -> Log:
        self.logs[session] = log = Log(self._count("log"), session, epoch, fence, owner)
        self.rows[session] = []
        return log

    def save_log(self, log: Log) -> None:
        """It was changed in place."""

    def delete_log(self, log: Log) -> None:
        session = log.session
        for table in (self.logs, self.rows, self.snapshots, self.sessions):
            table.pop(session, None)
        self.aliases = {alias: owner for alias, owner in self.aliases.items() if owner != session}
        self.approvals = {key: one for key, one in self.approvals.items() if one.session != session}
        self.effects = {key: one for key, one in self.effects.items() if one.session != session}

    def add_rows(self, log: Log, rows: Sequence[NewRow]) -> None:
        kept = self.rows[log.session]
        for seq, row in enumerate(rows, log.last_seq + 1):
            kept.append(Row(session=log.session, seq=seq, **msgspec.structs.asdict(row)))

    def put_snapshot(self, log: Log, seq: int, body: bytes) -> None:
        self.snapshots.setdefault(log.session, {})[seq] = body

    def snapshot_seqs(self, log: Log) -> list[int]:
        return sorted(self.snapshots.get(log.session, ()))

    def delete_snapshots(self, log: Log, seqs: Sequence[int]) -> None:
        for seq in seqs:
            del self.snapshots[log.session][seq]

    def put_session(self, record: SessionRecord) -> None:
        self.sessions[record.id] = record
        self.aliases = {alias: owner for alias, owner in self.aliases.items() if owner != record.id}
        self.aliases |= dict.fromkeys(record.aliases, record.id)

    def approval(self, approval: str) -> ApprovalRecord | None:
        return self.approvals.get(approval)

    def put_approval(self, record: ApprovalRecord) -> None:
        if record.id not in self.approvals:
            self.approval_numbers[record.id] = self._count("approval")
        self.approvals[record.id] = record

    def put_grant(self, record: GrantRecord) -> None:
        self.grants[record.id] = record

    def token_id(self, digest: bytes) -> str | None:
        return next((record.id for record in self.tokens.values() if record.digest == digest), None)

    def put_token(self, record: TokenRecord) -> None:
        self.tokens[record.id] = record

    def add_usage(self, entry: UsageEntry) -> None:
        self.usage.append(entry)

    def add_audit(self, entry: AuditRecord) -> None:
        self.audit.append(msgspec.structs.replace(entry, id=self._count("audit")))

    def add_effect(self, session: str | None, kind: str, body: bytes) -> int:
        number = self._count("effect")
        self.effects[number] = Effect(number, session, kind, body)
        return number

    def finish_effect(self, session: str | None, effect: int) -> None:
        if effect in self.effects and self.effects[effect].session == session:
            del self.effects[effect]

    def put_setting(self, name: str, body: bytes | None) -> None:
        if body is None:
            self.settings.pop(name, None)
        else:
            self.settings[name] = body

    def receipt(self, scope: str, key: str) -> tuple[Receipt, Committed] | None:
        return self.receipts.get((scope, key))

    def put_receipt(self, receipt: Receipt, committed: Committed) -> None:
        self.receipts[receipt.scope, receipt.key] = receipt, committed

    def add_change(self, kind: str, id: str, record: SessionRecord | ApprovalRecord | None) -> int:  # noqa: A002
        self.position += 1
        self.changes.append(ChangeRecord(self.position, kind, id, record))  # type: ignore[arg-type]
        return self.position
