"""What is asked of a store, and the pages that it answers with.

A page's ``next_cursor`` is for the same query only, and None at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from .errors import InvalidCursor
from .records import (
    ApprovalRecord,
    ApprovalState,
    AuditRecord,
    ChangeRecord,
    LogHead,
    Row,
    SessionRecord,
    Snapshot,
    Usage,
)

UsageDimension: TypeAlias = Literal["day", "model", "session", "cwd", "account", "agent", "turn"]

PAGE_ROWS = 1_000
PAGE_BYTES = 4 * 1024 * 1024
"""Approximate size of a page of the log, so that neither memory nor a database snapshot is held for long."""


class LogPage(msgspec.Struct, frozen=True):
    """Rows after a cursor, in order, and where the log stood when they were read.

    ``gap``: the row after the cursor is not kept any more, or the cursor is beyond the log's end. Then there are no
    rows: begin again from a snapshot.
    """

    head: LogHead
    rows: list[Row]
    gap: bool = False


class LoadedSession(msgspec.Struct, frozen=True, kw_only=True):
    """All that it takes to go on with a session, as of one moment."""

    record: SessionRecord
    head: LogHead
    snapshot: Snapshot | None
    rows: list[Row]
    """The first page of those after the snapshot."""
    unfinished: list[ApprovalRecord]
    """Approvals that are pending, decided or delivered."""
    stranded: list[ApprovalRecord]


class SessionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Filters add up; an empty one lets everything through. The most recently active come first."""

    states: Sequence[str] = ()
    tags: Sequence[str] = ()
    """A session has to have all of them."""
    text: str = ""
    cwd: str = ""
    """This folder or one below it."""
    archived: bool | None = False
    """None: both."""
    limit: int = 50
    cursor: str | None = None


class SessionPage(msgspec.Struct, frozen=True):
    """Part of the sessions."""

    sessions: list[SessionRecord]
    next_cursor: str | None = None


class ApprovalQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Filters add up; an empty one lets everything through. In the order in which they were opened, or against it."""

    states: Sequence[ApprovalState] = ()
    session: str | None = None
    kinds: Sequence[str] = ()
    request_id: str | None = None
    newest_first: bool = False
    limit: int = 50
    cursor: str | None = None


class ApprovalPage(msgspec.Struct, frozen=True):
    """Part of the approvals."""

    approvals: list[ApprovalRecord]
    next_cursor: str | None = None


def to_continue(session: str) -> tuple[ApprovalQuery, ApprovalQuery]:
    """Which approvals matter to who goes on with a session: unfinished ones, and stranded ones."""
    return (
        ApprovalQuery(session=session, states=["pending", "decided", "delivered"], limit=10_000),
        ApprovalQuery(session=session, states=["stranded"], limit=1_000),
    )


class AuditQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Filters add up. The newest come first."""

    session: str | None = None
    who: str | None = None
    since: float | None = None
    until: float | None = None
    limit: int = 50
    cursor: str | None = None


class AuditPage(msgspec.Struct, frozen=True):
    """Part of the audit."""

    entries: list[AuditRecord]
    next_cursor: str | None = None


class UsageTotal(msgspec.Struct, frozen=True):
    """The sum for one value of each dimension, in the order in which they were asked for."""

    by: tuple[str, ...]
    usage: Usage


class HostChangePage(msgspec.Struct, frozen=True):
    """Changes after a position. ``gap``: they do not go back that far, or not that far ahead; fetch the lists."""

    changes: list[ChangeRecord]
    position: int
    gap: bool = False


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How much is kept. Unfinished things are always kept: see ``EventStore.retain``."""

    row_age_s: float | None = 90 * 86_400.0
    """Age of a session's rows."""
    row_bytes: int | None = 512 * 1024 * 1024
    """Size of one session's rows."""
    change_count: int = 100_000
    """Length of the host-wide stream."""
    audit_age_s: float | None = 400 * 86_400.0


class Retained(msgspec.Struct, frozen=True, kw_only=True):
    """What retention removed."""

    rows: int = 0
    receipts: int = 0
    changes: int = 0
    audit: int = 0


def number_cursor(cursor: str | None) -> int | None:
    """The number that the last entry of the page before had."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise InvalidCursor(cursor)
    return int(cursor)


def session_cursor(record: SessionRecord) -> str:
    """After this session."""
    return f"{record.active_at!r} {record.id}"


def session_after(cursor: str) -> tuple[float, str]:
    """When the last session of the page before was active, and its id."""
    active_at, _, session = cursor.partition(" ")
    try:
        return float(active_at), session
    except ValueError:
        raise InvalidCursor(cursor) from None


def check_dimensions(by: Sequence[str]) -> None:
    """Raise ``ValueError`` for a dimension that usage does not have."""
    unknown = [name for name in by if name not in get_args(UsageDimension)]
    if unknown:
        raise ValueError(f"usage has no dimension {', '.join(unknown)}; it has {', '.join(get_args(UsageDimension))}")


def searched_text(record: SessionRecord) -> str:
    """What a search for a text looks through."""
    return "\n".join((record.name, record.cwd, *record.tags, record.text)).casefold()
