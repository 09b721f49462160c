"""Random programs: each step goes to a store and to a model of plain dicts, which must agree on every answer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quarterdeck.store import Commit, EventStore, StoreError
from quarterdeck.store.commits import (
    AddAudit,
    AddEffect,
    AddUsage,
    Change,
    DeleteSession,
    FinishEffect,
    MoveApproval,
    OpenApproval,
    PutSession,
    PutSetting,
    PutSnapshot,
)
from quarterdeck.store.queries import ApprovalQuery, AuditQuery, Retention, SessionQuery
from quarterdeck.store.records import ApprovalRecord, AuditRecord, NewRow, SessionRecord, UsageEntry
from store.making import approval, decided, everything, moved, receipt, row, session, usage

SESSIONS = ("s1", "s2", "s3")
STATES = ("decided", "delivered", "applied", "undeliverable", "withdrawn", "stranded")
BEFORE = {
    "decided": "pending",
    "withdrawn": "pending",
    "stranded": "pending",
    "delivered": "decided",
    "undeliverable": "decided",
    "applied": "delivered",
}


@dataclass
class ModelLog:
    fence: int = 1
    first: int = 1
    rows: list[NewRow] = field(default_factory=list)
    snapshot: int = 0

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


@dataclass
class Model:
    """What should be there."""

    logs: dict[str, ModelLog] = field(default_factory=dict)
    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    approvals: dict[str, ApprovalRecord] = field(default_factory=dict)
    effects: dict[int, str | None] = field(default_factory=dict)
    receipts: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    settings: dict[str, bytes] = field(default_factory=dict)
    usage: list[UsageEntry] = field(default_factory=list)
    audit: list[AuditRecord] = field(default_factory=list)
    stream: list[tuple[str, str]] = field(default_factory=list)
    asked_at: int = 0
    """The row that the approvals of the commit being written belong to."""

    def refusal(self, commit: Commit) -> str | None:
        """Why the commit cannot be written."""
        if commit.receipt is not None and commit.receipt.key in self.receipts:
            return "KeyReused" if self.receipts[commit.receipt.key][0] != commit.receipt.request else "replayed"
        if commit.session is None:
            return None
        log = self.logs.get(commit.session)
        is_new = any(isinstance(change, PutSession) for change in commit.changes)
        if commit.fence == 0 and (log or not is_new):
            return "LogExists" if log else "NoSuchSession"
        if commit.fence and (log is None or log.fence != commit.fence):
            return "Fenced" if log else "NoSuchSession"
        if commit.after is not None and commit.after != (log.last if log else 0):
            return "LogMoved"
        return self._approval_refusal(commit, log)

    def _approval_refusal(self, commit: Commit, log: ModelLog | None) -> str | None:
        states = {name: one.state for name, one in self.approvals.items() if one.session == commit.session}
        for change in commit.changes:
            match change:
                case OpenApproval(record):
                    if record.id in self.approvals or record.id in states:
                        return "InvalidCommit"
                    states[record.id] = "pending"
                case MoveApproval():
                    if change.id not in states:
                        return "NoSuchApproval"
                    if states[change.id] != BEFORE[change.to]:
                        return "ApprovalConflict"
                    states[change.id] = change.to
                case PutSnapshot(seq, _) if not 0 < seq <= (log.last if log else 0) + len(commit.rows):
                    return "InvalidCommit"
        return None

    def write(self, commit: Commit, effects: Sequence[int]) -> None:
        """Keep what the store says that it has written."""
        if commit.session is not None:
            log = self.logs.setdefault(commit.session, ModelLog())
            self.asked_at = log.last + 1 if commit.rows else log.last
            log.rows += commit.rows
        numbers = iter(effects)
        for change in commit.changes:
            if isinstance(change, OpenApproval | MoveApproval):
                self._write_approval(change)
            elif isinstance(change, AddEffect):
                self.effects[next(numbers)] = commit.session
            else:
                self._write_other(change, str(commit.session))
        touched = [change for change in commit.changes if isinstance(change, OpenApproval | MoveApproval)]
        names = [change.record.id if isinstance(change, OpenApproval) else change.id for change in touched]
        self.stream += [("approval", name) for name in dict.fromkeys(names)]
        if commit.receipt is not None:
            self.receipts[commit.receipt.key] = commit.receipt.request, len(commit.rows)

    def _write_approval(self, change: OpenApproval | MoveApproval) -> None:
        if isinstance(change, OpenApproval):
            record = change.record
            self.approvals[record.id] = msgspec.structs.replace(record, seq=record.seq or self.asked_at)
            return
        before = self.approvals[change.id]
        self.approvals[change.id] = msgspec.structs.replace(
            before,
            state=change.to,
            decision=change.decision or before.decision,
            moved_at={**before.moved_at, change.to: change.at},
        )

    def _write_other(self, change: Change, name: str) -> None:
        match change:
            case PutSession(record):
                self.sessions[record.id] = record
                self.stream.append(("session", record.id))
            case DeleteSession():
                self.delete(name)
            case PutSnapshot(seq, _):
                self.logs[name].snapshot = max(self.logs[name].snapshot, seq)
            case FinishEffect(number) if self.effects.get(number) == name:
                del self.effects[number]
            case PutSetting(setting, body):
                self.settings.pop(setting, None)
                self.settings |= {} if body is None else {setting: body}
            case AddUsage(entry):
                self.usage.append(entry)
            case AddAudit(entry):
                self.audit.append(entry)

    def delete(self, name: str) -> None:
        del self.logs[name], self.sessions[name]
        self.approvals = {key: one for key, one in self.approvals.items() if one.session != name}
        self.effects = {key: one for key, one in self.effects.items() if one != name}
        self.stream.append(("session", name))

    def retain(self, retention: Retention, now: float) -> int:
        gone = 0
        for name, log in self.logs.items():
            needed = [
                one.seq
                for one in self.approvals.values()
                if one.session == name and one.state in ("pending", "decided")
            ]
            needed += [self.sessions[name].open_seq] if self.sessions[name].open_seq else []
            while log.rows and log.first <= log.snapshot and log.first < min(needed, default=10**9):
                size = sum(len(one.body) for one in log.rows)
                is_old = retention.row_age_s is not None and log.rows[0].at < now - retention.row_age_s
                if not is_old and (retention.row_bytes is None or size <= retention.row_bytes):
                    break
                log.rows.pop(0)
                log.first += 1
                gone += 1
        return gone


class Program:
    """Makes up what happens next."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.model = Model()
        self._count = 0

    def number(self) -> int:
        self._count += 1
        return self._count

    def commit(self) -> Commit:
        chance = self.chance
        name = chance.choice(SESSIONS)
        log = self.model.logs.get(name)
        fence = log.fence if log else 0
        if chance.random() < 0.08:
            fence = chance.choice((0, 1, 2, 7))
        changes: list[Change] = [self.change(name, log) for _ in range(chance.choice((0, 0, 1, 1, 2, 3)))]
        if log is None or chance.random() < 0.1:
            changes.append(PutSession(self.record(name, log)))
        rows = [self.row() for _ in range(chance.choice((0, 1, 1, 2, 5)))]
        if log is not None and chance.random() < 0.03:
            changes, rows = [DeleteSession()], []
        after = None if chance.random() < 0.7 else (log.last if log else 0) + (chance.random() < 0.2)
        key = (
            receipt(f"k{chance.randrange(30)}", request=chance.choice((b"a", b"b"))) if chance.random() < 0.2 else None
        )
        return Commit(session=name, fence=fence, rows=rows, changes=changes, after=after, receipt=key)

    def row(self) -> NewRow:
        chance = self.chance
        return row(chance.randbytes(chance.choice((0, 1, 30, 5_000))), at=chance.uniform(0, 100), generation=1)

    def record(self, name: str, log: ModelLog | None) -> SessionRecord:
        chance = self.chance
        open_seq = chance.randrange(log.last + 2) if log and chance.random() < 0.3 else 0
        tags = tuple(chance.sample(("a", "b", "ä"), k=chance.randrange(3)))
        return session(name, active_at=chance.uniform(0, 9), tags=tags, open_seq=open_seq, aliases=(f"cli-{name}",))

    def change(self, name: str, log: ModelLog | None) -> Change:
        chance, last = self.chance, log.last if log else 0
        known = [one.id for one in self.model.approvals.values()] or ["nobody"]
        to: Any = chance.choice(STATES)
        asked = chance.choice(known)
        making: list[Change] = [
            OpenApproval(approval(f"a{chance.randrange(40)}", name)),
            decided(asked, by=str(self.number())) if to == "decided" else moved(asked, to),
            PutSnapshot(chance.randrange(last + 2), b"snapshot"),
            AddEffect("send", b"effect"),
            FinishEffect(chance.randrange(20)),
            PutSetting(chance.choice("ab"), chance.choice((None, b"1", b"2"))),
            AddUsage(usage(name, turn=self.number(), model=chance.choice("xy"), cost_nano_usd=chance.randrange(10**9))),
            AddAudit(AuditRecord(at=chance.uniform(0, 100), who=chance.choice("ab"), operation="stop")),
        ]
        return chance.choice(making)


async def run_program(store: EventStore, chance: random.Random, *, steps: int) -> None:
    program = Program(chance)
    for step in range(steps):
        what = chance.random()
        if what < 0.04:
            await _claim(store, program)
        elif what < 0.08:
            retention = Retention(row_age_s=chance.choice((None, 50.0)), row_bytes=chance.choice((None, 4_000)))
            assert (await store.retain(retention, now=110.0)).rows == program.model.retain(retention, 110.0)
        else:
            await _commit(store, program)
        if step % 30 == 29:
            await compare(store, program.model)


async def _claim(store: EventStore, program: Program) -> None:
    for name, log in program.model.logs.items():
        log.fence += 1
        assert await store.claim([name], owner="b") == {name: log.fence}


async def _commit(store: EventStore, program: Program) -> None:
    commit, model = program.commit(), program.model
    expected = model.refusal(commit)
    try:
        done = await store.commit(commit)
    except StoreError as refused:
        assert type(refused).__name__ == expected
        return
    assert done.replayed == (expected == "replayed")
    assert expected in (None, "replayed")
    if not done.replayed:
        before = model.logs[str(commit.session)].last if commit.session in model.logs else 0
        rows = len(commit.rows)
        assert (done.first_seq, done.last_seq) == ((before + 1, before + rows) if rows else (0, 0))
        model.write(commit, done.effects)
        assert done.pos in (0, len(model.stream))


async def by_pages(store: EventStore, query: ApprovalQuery) -> list[ApprovalRecord]:
    found: list[ApprovalRecord] = []
    while True:
        page = await store.approvals(query)
        found += page.approvals
        if page.next_cursor is None:
            return found
        query = msgspec.structs.replace(query, cursor=page.next_cursor)


async def compare(store: EventStore, model: Model) -> None:
    """Everything that can be asked."""
    heads = {
        head.session: (head.first_seq, head.last_seq, head.fence, head.snapshot_seq) for head in await store.heads()
    }
    assert heads == {name: (log.first, log.last, log.fence, log.snapshot) for name, log in model.logs.items()}
    for name, log in model.logs.items():
        found = await everything(store, name, after=log.first - 1)
        assert [(one.seq, one.at, one.body) for one in found] == [
            (seq, one.at, one.body) for seq, one in enumerate(log.rows, log.first)
        ]
        assert await store.session(f"cli-{name}") == model.sessions[name]
    listed = (await store.sessions(SessionQuery(archived=None))).sessions
    assert listed == sorted(model.sessions.values(), key=lambda one: (-one.active_at, one.id))
    for tag in ("a", "ä"):
        tagged = (await store.sessions(SessionQuery(tags=[tag]))).sessions
        assert {one.id for one in tagged} == {one.id for one in model.sessions.values() if tag in one.tags}
    approvals = list(model.approvals.values())
    assert (await store.approvals(ApprovalQuery(limit=1_000))).approvals == approvals
    assert await by_pages(store, ApprovalQuery(limit=2, newest_first=True)) == approvals[::-1]
    assert {effect.id: effect.session for effect in await store.effects()} == model.effects
    assert [await store.setting(name) for name in "ab"] == [model.settings.get(name) for name in "ab"]
    for key, (request, _) in model.receipts.items():
        kept = await store.receipt(receipt().scope, key, now=1.0)
        assert kept is not None
        assert kept[0].request == request
    cost = {total.by[0]: total.usage.cost_nano_usd for total in await store.usage(["model"])}
    models = {entry.model for entry in model.usage}
    assert cost == {one: sum(entry.cost_nano_usd for entry in model.usage if entry.model == one) for one in models}
    audit = (await store.audit(AuditQuery(limit=1_000))).entries
    assert [(entry.at, entry.who) for entry in audit] == [(entry.at, entry.who) for entry in reversed(model.audit)]
    stream = (await store.changes(after=0, limit=10_000)).changes
    assert [(change.kind, change.id) for change in stream] == model.stream
    assert await store.check() == []
