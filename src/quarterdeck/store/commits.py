"""What is written in one transaction: rows, changes of projections, effects, and a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from .records import (
    ApprovalDecision,
    ApprovalRecord,
    ApprovalState,
    AuditRecord,
    GrantRecord,
    NewRow,
    Receipt,
    SessionRecord,
    TokenRecord,
    UsageEntry,
)

NEW_LOG = 0
"""The fence of the commit that makes a session's log."""


class PutSession(msgspec.Struct, frozen=True):
    """Add or replace the record of the commit's session."""

    record: SessionRecord


class DeleteSession(msgspec.Struct, frozen=True):
    """Forget the commit's session: its log, approvals, snapshots and effects. Usage and audit stay."""


class RenewEpoch(msgspec.Struct, frozen=True):
    """Make every cursor into the session's log a foreign one, e.g. after an import."""


class PutSnapshot(msgspec.Struct, frozen=True):
    """The fold of the session's rows up to ``seq``, which must not be beyond the rows of this commit."""

    seq: int
    body: bytes


class OpenApproval(msgspec.Struct, frozen=True):
    """A person is asked."""

    record: ApprovalRecord


class MoveApproval(msgspec.Struct, frozen=True, kw_only=True):
    """Bring an approval to its next state. The whole commit is refused if it is not in a state that leads there."""

    id: str
    to: ApprovalState
    at: float
    decision: ApprovalDecision | None = None
    """For ``decided`` only."""
    body: bytes | None = None
    """Replaces the record's."""


class PutGrant(msgspec.Struct, frozen=True):
    """Add or replace a grant."""

    record: GrantRecord


class PutToken(msgspec.Struct, frozen=True):
    """Add or replace a token."""

    record: TokenRecord


class AddUsage(msgspec.Struct, frozen=True):
    """Count what a turn used."""

    entry: UsageEntry


class AddAudit(msgspec.Struct, frozen=True):
    """Note who did what."""

    entry: AuditRecord


class AddEffect(msgspec.Struct, frozen=True):
    """Something to do after the commit."""

    kind: str
    body: bytes


class FinishEffect(msgspec.Struct, frozen=True):
    """It is done. Finishing an unknown one changes nothing."""

    id: int


class PutSetting(msgspec.Struct, frozen=True):
    """Something that the whole host knows, e.g. budgets; None removes it."""

    name: str
    body: bytes | None


Change: TypeAlias = (
    PutSession
    | DeleteSession
    | RenewEpoch
    | PutSnapshot
    | OpenApproval
    | MoveApproval
    | PutGrant
    | PutToken
    | AddUsage
    | AddAudit
    | AddEffect
    | FinishEffect
    | PutSetting
)


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction: all of it is written, or nothing.

    ``session`` and ``fence`` say whose log it is about and by which claim; a commit that has no session can only have
    changes that concern none. ``after`` is where the log must end, for a caller that does not wait for one commit
    before the next: if one fails, those behind it are refused instead of closing ranks.
    """

    session: str | None = None
    fence: int = NEW_LOG
    rows: Sequence[NewRow] = ()
    changes: Sequence[Change] = ()
    receipt: Receipt | None = None
    after: int | None = None
    owner: str = ""
    """Who owns a new log."""


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a commit."""

    first_seq: int = 0
    """The first row it wrote; 0 if it wrote none."""
    last_seq: int = 0
    """The last row it wrote; 0 if it wrote none."""
    pos: int = 0
    """The host-wide position after it; 0 if it changed no session record and no approval."""
    effects: tuple[int, ...] = ()
    """The ids of its effects, in order."""
    replayed: bool = False
    """Nothing was written now: this is the outcome of an earlier commit with the same key, including ``outcome``."""
    outcome: bytes = b""

    @property
    def rows(self) -> int:
        """How many it has written now."""
        return self.last_seq - self.first_seq + 1 if self.last_seq and not self.replayed else 0
