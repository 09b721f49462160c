"""A store in memory: for programs that need no log after their end, and as the plainest form of what a store does."""

from __future__ import annotations

from collections.abc import Sequence

from .applying import apply, claim
from .commits import Commit, Committed
from .errors import NoSuchSession, StoreClosed
from .interface import RECEIPT_KEPT_S, EventStore
from .memory_tables import MemoryTables
from .queries import (
    PAGE_BYTES,
    PAGE_ROWS,
    ApprovalPage,
    ApprovalQuery,
    AuditPage,
    AuditQuery,
    HostChangePage,
    LoadedSession,
    LogPage,
    Retained,
    Retention,
    SessionPage,
    SessionQuery,
    UsageDimension,
    UsageTotal,
    check_dimensions,
    number_cursor,
    searched_text,
    session_after,
    session_cursor,
    to_continue,
)
from .records import (
    OPEN_APPROVALS,
    ApprovalRecord,
    AuditRecord,
    Effect,
    GrantRecord,
    LogHead,
    Receipt,
    Row,
    SessionRecord,
    Snapshot,
    TokenRecord,
    Usage,
)
from .tables import Log, new_epoch


class MemoryStore(EventStore):
    """Keeps everything until the program ends."""

    def __init__(self) -> None:
        self._tables_while_open = MemoryTables()
        self._rows = 0
        self._closed = False

    @property
    def _tables(self) -> MemoryTables:
        if self._closed:
            raise StoreClosed
        return self._tables_while_open

    @property
    def rows_written(self) -> int:
        return self._rows

    async def commit(self, commit: Commit) -> Committed:
        committed = apply(self._tables, commit)
        self._rows += committed.rows
        return committed

    async def claim(self, sessions: Sequence[str], *, owner: str) -> dict[str, int]:
        return claim(self._tables, sessions, owner)

    async def use_fold(self, version: str) -> bool:
        tables = self._tables
        if tables.fold_version == version:
            return False
        tables.fold_version = version
        tables.snapshots.clear()
        for log in tables.logs.values():
            log.epoch = new_epoch()
            log.snapshot_seq = 0
        return True

    async def retain(self, retention: Retention, *, now: float) -> Retained:
        tables = self._tables
        rows = sum(self._trim(log, retention, now) for log in tables.logs.values())
        receipts = {key: kept for key, kept in tables.receipts.items() if kept[0].at + RECEIPT_KEPT_S >= now}
        changes = tables.changes[-retention.change_count :] if retention.change_count else []
        oldest = None if retention.audit_age_s is None else now - retention.audit_age_s
        audit = [entry for entry in tables.audit if oldest is None or entry.at >= oldest]
        removed = Retained(
            rows=rows,
            receipts=len(tables.receipts) - len(receipts),
            changes=len(tables.changes) - len(changes),
            audit=len(tables.audit) - len(audit),
        )
        tables.receipts, tables.changes, tables.audit = receipts, changes, audit
        return removed

    def _trim(self, log: Log, retention: Retention, now: float) -> int:
        tables = self._tables
        rows = tables.rows[log.session]
        open_seqs = [
            one.seq for one in tables.approvals.values() if one.session == log.session and one.state in OPEN_APPROVALS
        ]
        record = tables.sessions.get(log.session)
        if record is not None and record.open_seq:
            open_seqs.append(record.open_seq)
        sizes = ((row.seq, row.at, len(row.body)) for row in rows)
        last = log.last_to_go(sizes, needed_from=min(open_seqs, default=None), retention=retention, now=now)
        gone = last + 1 - log.first_seq
        log.size_bytes -= sum(len(row.body) for row in rows[:gone])
        del rows[:gone]
        log.first_seq = last + 1
        tables.delete_snapshots(log, [seq for seq in tables.snapshot_seqs(log) if seq < last])
        return gone

    async def check(self) -> list[str]:
        tables = self._tables
        return [
            f"session {session}: the log says rows {log.first_seq} to {log.last_seq}, which are not there"
            for session, log in tables.logs.items()
            if [row.seq for row in tables.rows[session]] != list(range(log.first_seq, log.last_seq + 1))
        ]

    async def close(self) -> None:
        self._closed = True

    async def heads(self) -> list[LogHead]:
        return [log.head() for _, log in sorted(self._tables.logs.items())]

    async def head(self, session: str) -> LogHead | None:
        log = self._tables.log(session)
        return log.head() if log else None

    async def read(
        self, session: str, *, after: int = 0, limit_rows: int = PAGE_ROWS, limit_bytes: int = PAGE_BYTES
    ) -> LogPage:
        log = self._tables.log(session)
        if log is None:
            raise NoSuchSession(session)
        if not log.first_seq - 1 <= after <= log.last_seq:
            return LogPage(log.head(), [], gap=True)
        page: list[Row] = []
        size = 0
        start = after + 1 - log.first_seq
        for row in self._tables.rows[session][start : start + limit_rows]:
            page.append(row)
            size += len(row.body)
            if size >= limit_bytes:
                break
        return LogPage(log.head(), page)

    async def snapshot(self, session: str, *, at_most: int | None = None) -> Snapshot | None:
        kept = self._tables.snapshots.get(session, {})
        seqs = [seq for seq in kept if at_most is None or seq <= at_most]
        return Snapshot(session, max(seqs), kept[max(seqs)]) if seqs else None

    async def load(self, session: str) -> LoadedSession | None:
        record, head, snapshot = await self.session(session), await self.head(session), await self.snapshot(session)
        if record is None or head is None:
            return None
        unfinished, stranded = [(await self.approvals(query)).approvals for query in to_continue(session)]
        return LoadedSession(
            record=record,
            head=head,
            snapshot=snapshot,
            rows=(await self.read(session, after=0 if snapshot is None else snapshot.seq)).rows,
            unfinished=unfinished,
            stranded=stranded,
        )

    async def changes(self, *, after: int, limit: int = PAGE_ROWS) -> HostChangePage:
        tables = self._tables
        first = tables.changes[0].pos if tables.changes else tables.position + 1
        if not first - 1 <= after <= tables.position:
            return HostChangePage([], tables.position, gap=True)
        return HostChangePage([one for one in tables.changes if one.pos > after][:limit], tables.position)

    async def position(self) -> int:
        return self._tables.position

    async def session(self, any_id: str) -> SessionRecord | None:
        tables = self._tables
        return tables.sessions.get(any_id) or tables.sessions.get(tables.aliases.get(any_id, ""))

    async def sessions(self, query: SessionQuery) -> SessionPage:
        records = [record for record in self._tables.sessions.values() if _matches(record, query)]
        records.sort(key=lambda record: (-record.active_at, record.id))
        if query.cursor is not None:
            active_at, session = session_after(query.cursor)
            records = [record for record in records if (-record.active_at, record.id) > (-active_at, session)]
        page = records[: query.limit]
        return SessionPage(page, session_cursor(page[-1]) if len(records) > len(page) > 0 else None)

    async def approval(self, approval: str) -> ApprovalRecord | None:
        return self._tables.approval(approval)

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        cursor = number_cursor(query.cursor)
        numbers = self._tables.approval_numbers
        records = list(self._tables.approvals.values())
        found = [
            record
            for record in (reversed(records) if query.newest_first else records)
            if (cursor is None or (numbers[record.id] < cursor if query.newest_first else numbers[record.id] > cursor))
            and (not query.states or record.state in query.states)
            and query.session in (None, record.session)
            and (not query.kinds or record.kind in query.kinds)
            and query.request_id in (None, record.request_id)
        ]
        page = found[: query.limit]
        return ApprovalPage(page, str(numbers[page[-1].id]) if len(found) > len(page) > 0 else None)

    async def grants(self) -> list[GrantRecord]:
        return [record for _, record in sorted(self._tables.grants.items())]

    async def token(self, digest: bytes) -> TokenRecord | None:
        return next((record for record in self._tables.tokens.values() if record.digest == digest), None)

    async def tokens(self) -> list[TokenRecord]:
        return [record for _, record in sorted(self._tables.tokens.items())]

    async def usage(
        self, by: Sequence[UsageDimension], *, since: str = "", until: str = "", session: str | None = None
    ) -> list[UsageTotal]:
        check_dimensions(by)
        sums: dict[tuple[str, ...], dict[str, int]] = {}
        if not by:
            sums[()] = dict.fromkeys(Usage.__struct_fields__, 0)
        for entry in self._tables.usage:
            if entry.day < since or (until and entry.day > until) or session not in (None, entry.session):
                continue
            group = sums.setdefault(
                tuple(str(getattr(entry, name)) for name in by), dict.fromkeys(Usage.__struct_fields__, 0)
            )
            for name in group:
                group[name] += getattr(entry, name)
        return [UsageTotal(key, Usage(**counts)) for key, counts in sorted(sums.items())]

    async def audit(self, query: AuditQuery) -> AuditPage:
        before = number_cursor(query.cursor)
        found = [entry for entry in reversed(self._tables.audit) if _audited(entry, query, before)]
        page = found[: query.limit]
        return AuditPage(page, str(page[-1].id) if len(found) > len(page) > 0 else None)

    async def effects(self, *, session: str | None = None) -> list[Effect]:
        return [effect for effect in self._tables.effects.values() if session in (None, effect.session)]

    async def receipt(self, scope: str, key: str, *, now: float) -> tuple[Receipt, Committed] | None:
        kept = self._tables.receipt(scope, key)
        return kept if kept and kept[0].at + RECEIPT_KEPT_S >= now else None

    async def setting(self, name: str) -> bytes | None:
        return self._tables.settings.get(name)


def _matches(record: SessionRecord, query: SessionQuery) -> bool:
    return (
        (not query.states or record.state in query.states)
        and set(query.tags) <= set(record.tags)
        and query.text.casefold() in searched_text(record)
        and (not query.cwd or f"{record.cwd.rstrip('/')}/".startswith(f"{query.cwd.rstrip('/')}/"))
        and query.archived in (None, record.archived)
    )


def _audited(entry: AuditRecord, query: AuditQuery, before: int | None) -> bool:
    return (
        (before is None or entry.id < before)
        and query.session in (None, entry.session)
        and query.who in (None, entry.who)
        and (query.since is None or entry.at >= query.since)
        and (query.until is None or entry.at < query.until)
    )
