"""Whether a commit may be written. Every refusal happens here, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

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
from .errors import (
    ApprovalConflict,
    Fenced,
    InvalidCommit,
    KeyReused,
    LogExists,
    LogMoved,
    NoSuchApproval,
    NoSuchSession,
)
from .interface import RECEIPT_KEPT_S
from .records import APPROVAL_MOVES, ApprovalRecord, Receipt
from .tables import Log, Tables
from .text import check_text

_NEED_SESSION = (PutSession, DeleteSession, RenewEpoch, PutSnapshot, OpenApproval, MoveApproval)


def replayed(former: tuple[Receipt, Committed] | None, receipt: Receipt) -> Committed | None:
    """The outcome of an earlier commit with this key, unless it is too long ago."""
    if former is None or former[0].at + RECEIPT_KEPT_S < receipt.at:
        return None
    if former[0].request != receipt.request:
        raise KeyReused(receipt.scope, receipt.key)
    return msgspec.structs.replace(former[1], replayed=True, outcome=former[0].outcome)


def checked_log(tables: Tables, commit: Commit) -> Log | None:
    """The commit's log, None if it concerns no session or one not created yet."""
    if commit.session is None:
        if commit.rows or any(isinstance(change, _NEED_SESSION) for change in commit.changes):
            raise InvalidCommit("A commit with rows or changes of a session must name the session.")
        return None
    log = tables.log(commit.session)
    if commit.fence == NEW_LOG:
        if log is not None:
            raise LogExists(commit.session)
        if not any(isinstance(change, PutSession) for change in commit.changes):
            raise NoSuchSession(commit.session)
    elif log is None:
        raise NoSuchSession(commit.session)
    elif commit.fence != log.fence:
        raise Fenced(commit.session, commit.fence, log.fence, log.owner)
    last_seq = log.last_seq if log else 0
    if commit.after is not None and commit.after != last_seq:
        raise LogMoved(commit.session, commit.after, last_seq)
    return log


def check_changes(tables: Tables, commit: Commit, log: Log | None) -> dict[str, ApprovalRecord]:
    """Raise where a change is impossible; returns the approvals as they will be."""
    for row in commit.rows:
        if row.sender:
            check_text(row)
    if not commit.changes:
        return {}
    checking = _Checking(tables, commit, log.last_seq if log else 0)
    for change in commit.changes:
        _CHECKS[type(change)](checking, change)
    return checking.approvals


class _Checking:
    """The changes of one commit, each seeing what those before it will do to approvals."""

    def __init__(self, tables: Tables, commit: Commit, before: int) -> None:
        """``before`` is the log's last row before the commit."""
        self._tables = tables
        self._commit = commit
        self._first_seq = before + 1 if commit.rows else before
        self._last_seq = before + len(commit.rows)
        self._digests: dict[bytes, str] = {}
        self.approvals: dict[str, ApprovalRecord] = {}

    def put_session(self, change: PutSession) -> None:
        check_text(change.record)
        if change.record.id != self._commit.session:
            raise InvalidCommit(f"A commit of session {self._commit.session} cannot put {change.record.id}.")

    def delete_session(self, _: DeleteSession) -> None:
        if self._commit.rows or sum(isinstance(one, _NEED_SESSION) for one in self._commit.changes) > 1:
            raise InvalidCommit("A commit that deletes a session cannot change it as well.")

    def put_snapshot(self, change: PutSnapshot) -> None:
        if not 0 < change.seq <= self._last_seq:
            raise InvalidCommit(f"A snapshot at row {change.seq} does not fit a log that ends at {self._last_seq}.")

    def open_approval(self, change: OpenApproval) -> None:
        record = change.record
        check_text(record)
        if record.session != self._commit.session:
            raise InvalidCommit(
                f"A commit of session {self._commit.session} cannot open an approval of {record.session}."
            )
        if record.state != "pending" or record.decision is not None:
            raise InvalidCommit(f"Approval {record.id} must be opened as pending; move it from there.")
        if record.id in self.approvals or self._tables.approval(record.id) is not None:
            raise InvalidCommit(f"Approval {record.id} already exists.")
        self.approvals[record.id] = msgspec.structs.replace(record, seq=record.seq or self._first_seq)

    def move_approval(self, move: MoveApproval) -> None:
        record = self.approvals.get(move.id) or self._tables.approval(move.id)
        if record is None or record.session != self._commit.session:
            raise NoSuchApproval(move.id)
        if move.to not in APPROVAL_MOVES.get(record.state, ()):
            raise ApprovalConflict(record, move.to)
        if (move.to == "decided") != (move.decision is not None):
            raise InvalidCommit(f"Approval {move.id}: only the state decided has a decision.")
        check_text(move)
        if move.decision is not None:
            check_text(move.decision)
        self.approvals[move.id] = msgspec.structs.replace(
            record,
            state=move.to,
            decision=move.decision or record.decision,
            moved_at={**record.moved_at, move.to: move.at},
            body=record.body if move.body is None else move.body,
        )

    def put_token(self, change: PutToken) -> None:
        check_text(change.record)
        digest, token = change.record.digest, change.record.id
        if self._digests.setdefault(digest, self._tables.token_id(digest) or token) != token:
            raise InvalidCommit(f"Token {token} has the digest of another token.")

    def record(self, change: PutGrant) -> None:
        check_text(change.record)

    def entry(self, change: AddUsage | AddAudit) -> None:
        check_text(change.entry)

    def itself(self, change: RenewEpoch | AddEffect | FinishEffect | PutSetting) -> None:
        check_text(change)


_CHECKS: dict[type, Callable[[_Checking, Any], None]] = {
    PutSession: _Checking.put_session,
    DeleteSession: _Checking.delete_session,
    RenewEpoch: _Checking.itself,
    PutSnapshot: _Checking.put_snapshot,
    OpenApproval: _Checking.open_approval,
    MoveApproval: _Checking.move_approval,
    PutGrant: _Checking.record,
    PutToken: _Checking.put_token,
    AddUsage: _Checking.entry,
    AddAudit: _Checking.entry,
    AddEffect: _Checking.itself,
    FinishEffect: _Checking.itself,
    PutSetting: _Checking.itself,
}
