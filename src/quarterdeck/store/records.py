"""What a store keeps: rows of the log, and the projections that are written with them.

A record has the fields that are looked for, and a ``body`` of bytes that only the host reads. Times are seconds since
1970 by the host's clock; nothing is ever ordered by them. Text must be valid Unicode without NUL (PostgreSQL takes
nothing else); a ``body`` may hold anything. A field that is added later has a default: older records lack it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

RowKind: TypeAlias = Literal["received", "sent", "event", "partial"]
"""A line of the CLI; a line of ours; an event of the host; text of a block that never was completed."""

Origin: TypeAlias = Literal["agent", "user", "host", "external"]

ApprovalState: TypeAlias = Literal[
    "pending", "decided", "delivered", "applied", "undeliverable", "withdrawn", "stranded"
]

APPROVAL_MOVES: dict[str, frozenset[str]] = {
    "pending": frozenset({"decided", "withdrawn", "stranded"}),
    "decided": frozenset({"delivered", "undeliverable"}),
    "delivered": frozenset({"applied"}),
}
"""State → the states it may become. A state that is not here is final."""

OPEN_APPROVALS: frozenset[str] = frozenset({"pending", "decided"})
"""States in which the host still has something to do."""


class NewRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row to be written; the store gives it its ``seq``."""

    at: float
    kind: RowKind
    origin: Origin
    body: bytes
    generation: int = 0
    """Counts the session's processes."""
    spool_end: int = 0
    """Where the line ends in the spool of its process; rows at or below the head's are not written twice."""
    input_number: int = 0
    """The number of a line of ours among those written to its process."""
    sender: str = ""
    """Who sent a line of ours."""


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of a session's log."""

    session: str
    seq: int
    at: float
    kind: RowKind
    origin: Origin
    generation: int
    spool_end: int
    input_number: int
    sender: str
    body: bytes


class LogHead(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session's log stands."""

    session: str
    epoch: str
    """Random; a cursor of another epoch means nothing here."""
    fence: int
    owner: str
    first_seq: int = 1
    """The oldest row that is kept."""
    last_seq: int = 0
    size_bytes: int = 0
    snapshot_seq: int = 0
    """The newest snapshot's row; 0 if there is none."""
    generation: int = 0
    spool_end: int = 0
    """How far the spool of this generation is committed."""
    input_number: int = 0
    """The last line of ours committed for this generation."""


class Snapshot(msgspec.Struct, frozen=True):
    """The fold of all rows up to ``seq``."""

    session: str
    seq: int
    body: bytes


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session, as lists show it."""

    id: str
    state: str
    cwd: str
    created_at: float
    active_at: float
    name: str = ""
    tags: tuple[str, ...] = ()
    text: str = ""
    """What a search looks through besides name, folder and tags."""
    archived: bool = False
    aliases: tuple[str, ...] = ()
    """The CLI's ids of this session; each of them finds it."""
    open_seq: int = 0
    """The first unfinished row, e.g. of the open turn: retention keeps it. 0: everything is finished."""
    body: bytes = b""


class ApprovalDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided, by whom, through which interface."""

    at: float
    outcome: str
    by_kind: Literal["user", "token", "rule", "deadline"]
    by: str = ""
    via: str = ""
    body: bytes = b""


class ApprovalRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a person is asked, and the outcome."""

    id: str
    session: str
    request_id: str
    kind: str
    asked_at: float
    state: ApprovalState = "pending"
    seq: int = 0
    """Retention keeps the rows from here on while it is open. Left 0, it becomes the first row of the commit that opens
    it: a commit may hold more than the row that asks."""
    tool: str = ""
    replaces: str | None = None
    decision: ApprovalDecision | None = None
    moved_at: dict[str, float] = {}
    """State → when it was reached."""
    body: bytes = b""


class GrantRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is remembered."""

    id: str
    rule: str
    scope: str
    created_at: float
    by: str
    session: str | None = None
    cwd: str | None = None
    expires_at: float | None = None
    revoked_at: float | None = None
    body: bytes = b""


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A token's permissions. The token itself is stored nowhere, only its digest."""

    id: str
    name: str
    digest: bytes
    scope: str
    created_at: float
    may_bypass: bool = False
    expires_at: float | None = None
    revoked_at: float | None = None
    last_used_at: float | None = None
    folders: tuple[str, ...] = ()


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and their cost. Money is in whole billionths of a dollar, so that sums are exact."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_nano_usd: int = 0


class UsageEntry(Usage, frozen=True, kw_only=True):
    """What one turn used of one model."""

    session: str
    turn: int
    day: str
    """``2026-11-16``, in the time zone in which the host counts days."""
    model: str
    cwd: str
    account: str = ""
    agent: str = ""
    """The sub-agent's type; empty for the main agent."""


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who did what, through which face. The store counts the entries (``id``)."""

    at: float
    who: str
    operation: str
    via: str = ""
    session: str | None = None
    body: bytes = b""
    id: int = 0


class Effect(msgspec.Struct, frozen=True):
    """Something to do after the commit, kept until it is done: a host that died in between does it at its start."""

    id: int
    session: str | None
    kind: str
    body: bytes


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a write, by its idempotency key."""

    scope: str
    """Token, operation and target."""
    key: str
    request: bytes
    """A digest of the request: the same key with another one is refused."""
    outcome: bytes
    at: float


class ChangeRecord(msgspec.Struct, frozen=True):
    """A session or an approval as it was at this position of the host-wide stream; None: it was deleted."""

    pos: int
    kind: Literal["session", "approval"]
    id: str
    record: SessionRecord | ApprovalRecord | None
