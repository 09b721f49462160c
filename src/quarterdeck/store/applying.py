"""What a commit means, for every store with direct access to its tables: first all checks, then all writes.

The checks raise ``CommitRefused`` or ``InvalidCommit`` before anything is written, and the writes can only fail with
the disk. So a store can apply many commits in one transaction, and a refused one does not affect the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from .checking import check_changes, checked_log, replayed
from .commits import (
    NEW_LOG,
    AddAudit,
    AddEffect,
    AddUsage,
    Commit,
    Committed,
    DeleteSession,
    FinishEffect,
    MoveApproval,
    OpenApproval,
    PutGrant,
    PutSession,
    PutSetting,
    PutSnapshot,
    PutToken,
    RenewEpoch,
)
from .errors import NoSuchSession
from .records import ApprovalRecord
from .tables import Log, Tables, new_epoch
from .text import check_text

NEWEST_SNAPSHOTS = 4
MOST_SNAPSHOTS = 16
"""Beyond this many every second of the older ones goes, so that they are dense at the end and sparse at the start."""


def apply(tables: Tables, commit: Commit) -> Committed:
    """Write everything, or raise before anything is written."""
    if commit.receipt is not None:
        former = replayed(tables.receipt(commit.receipt.scope, commit.receipt.key), commit.receipt)
        if former is not None:
            return former
        check_text(commit.receipt)
    log = checked_log(tables, commit)
    approvals = check_changes(tables, commit, log)
    return _Writing(tables, commit, log).write(approvals)


def claim(tables: Tables, sessions: Sequence[str], owner: str) -> dict[str, int]:
    """Give these logs a new owner and the next fence."""
    logs: dict[str, Log] = {}
    for session in sessions:
        log = tables.log(session)
        if log is None:
            raise NoSuchSession(session)
        logs[session] = log
    for log in logs.values():
        log.fence += 1
        log.owner = owner
        tables.save_log(log)
    return {session: log.fence for session, log in logs.items()}


class _Writing:
    """The second half: nothing here refuses."""

    def __init__(self, tables: Tables, commit: Commit, log: Log | None) -> None:
        self._tables = tables
        self._commit = commit
        self._log = log
        self._pos = 0
        self._effects: list[int] = []

    def write(self, approvals: dict[str, ApprovalRecord]) -> Committed:
        tables, commit = self._tables, self._commit
        if self._log is None and commit.session is not None:
            self._log = tables.new_log(commit.session, epoch=new_epoch(), fence=NEW_LOG + 1, owner=commit.owner)
        first_seq = last_seq = 0
        if self._log is not None and commit.rows:
            tables.add_rows(self._log, commit.rows)
            first_seq = self._log.last_seq + 1
            self._log.extend(commit.rows)
            last_seq = self._log.last_seq
            tables.save_log(self._log)
        for change in commit.changes:
            _WRITES[type(change)](self, change)
        for record in approvals.values():
            tables.put_approval(record)
            self._pos = tables.add_change("approval", record.id, record)
        done = Committed(first_seq=first_seq, last_seq=last_seq, pos=self._pos, effects=tuple(self._effects))
        if commit.receipt is not None:
            tables.put_receipt(commit.receipt, done)
            done = msgspec.structs.replace(done, outcome=commit.receipt.outcome)
        return done

    def put_session(self, change: PutSession) -> None:
        self._tables.put_session(change.record)
        self._pos = self._tables.add_change("session", change.record.id, change.record)

    def delete_session(self, _: DeleteSession) -> None:
        log = self._session_log()
        self._tables.delete_log(log)
        self._pos = self._tables.add_change("session", log.session, None)

    def renew_epoch(self, _: RenewEpoch) -> None:
        log = self._session_log()
        log.epoch = new_epoch()
        self._tables.save_log(log)

    def put_snapshot(self, change: PutSnapshot) -> None:
        log = self._session_log()
        self._tables.put_snapshot(log, change.seq, change.body)
        seqs = self._tables.snapshot_seqs(log)
        if len(seqs) > MOST_SNAPSHOTS:
            self._tables.delete_snapshots(log, seqs[:-NEWEST_SNAPSHOTS][1::2])
        log.snapshot_seq = max(log.snapshot_seq, change.seq)
        self._tables.save_log(log)

    def add_effect(self, change: AddEffect) -> None:
        self._effects.append(self._tables.add_effect(self._commit.session, change.kind, change.body))

    def finish_effect(self, change: FinishEffect) -> None:
        self._tables.finish_effect(self._commit.session, change.id)

    def put_grant(self, change: PutGrant) -> None:
        self._tables.put_grant(change.record)

    def put_token(self, change: PutToken) -> None:
        self._tables.put_token(change.record)

    def add_usage(self, change: AddUsage) -> None:
        self._tables.add_usage(change.entry)

    def add_audit(self, change: AddAudit) -> None:
        self._tables.add_audit(change.entry)

    def put_setting(self, change: PutSetting) -> None:
        self._tables.put_setting(change.name, change.body)

    def approval_change(self, change: OpenApproval | MoveApproval) -> None:
        """Written at the end, as the last of the commit's changes leaves it."""

    def _session_log(self) -> Log:
        if self._log is None:
            raise AssertionError("the checks let a change of no session through")
        return self._log


_WRITES: dict[type, Callable[[_Writing, Any], None]] = {
    PutSession: _Writing.put_session,
    DeleteSession: _Writing.delete_session,
    RenewEpoch: _Writing.renew_epoch,
    PutSnapshot: _Writing.put_snapshot,
    OpenApproval: _Writing.approval_change,
    MoveApproval: _Writing.approval_change,
    PutGrant: _Writing.put_grant,
    PutToken: _Writing.put_token,
    AddUsage: _Writing.add_usage,
    AddAudit: _Writing.add_audit,
    AddEffect: _Writing.add_effect,
    FinishEffect: _Writing.finish_effect,
    PutSetting: _Writing.put_setting,
}
