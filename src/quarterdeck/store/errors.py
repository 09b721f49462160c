"""Every error of a store, as one tree grouped by what the caller can do. After any of them nothing was written.

::

    StoreError
    ├── StorageFailed               the disk or the database: the message says what to do; the store goes on by itself
    │   ├── StorageFull             make room
    │   ├── StorageReadOnly         make the folder and its files writable
    │   ├── StorageBusy             another program holds the database: end it, or wait
    │   └── StorageCorrupt          restore a backup
    ├── StoreInUse                  another host has this folder: its pid is in the message
    ├── StoreTooNew                 a newer version has written this: update
    ├── StoreClosed                 the program closed it
    ├── CommitRefused               the state does not allow it: look at it again
    │   ├── NoSuchSession
    │   ├── LogExists
    │   ├── Fenced                  another host owns the session now
    │   ├── LogMoved                the log does not end where the caller believed
    │   ├── NoSuchApproval
    │   ├── ApprovalConflict        somebody else was faster: the error has their decision
    │   └── KeyReused               the idempotency key belongs to another request
    ├── InvalidCommit               the program passed something that cannot be kept
    └── InvalidCursor               the program passed a cursor that this query never returned
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck._errors import QuarterdeckError

if TYPE_CHECKING:
    from .records import ApprovalRecord


class StoreError(QuarterdeckError):
    """The base of a store's errors."""


class StorageFailed(StoreError):  # noqa: N818  # says what happened
    """The disk or the database refused."""

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class StorageFull(StorageFailed):
    """There is no room, on the disk or within the store's own limit."""


class StorageReadOnly(StorageFailed):
    """The database or its folder cannot be written."""


class StorageBusy(StorageFailed):
    """Another program has held the database for too long."""


class StorageCorrupt(StorageFailed):
    """The database is damaged."""


class StoreInUse(StoreError):  # noqa: N818  # says what happened
    """Another process has this folder; ``pid`` is None where it could not be read."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        who = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"{who} is using {folder}. Stop it, or choose another folder: two hosts cannot share one.")
        self.folder = folder
        self.pid = pid


class StoreTooNew(StoreError):  # noqa: N818  # says what happened
    """The database was written by a newer version of this package."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has version {found}; this Quarterdeck supports versions up to {known}. Update Quarterdeck, or "
            "restore the backup that the update made."
        )
        self.path = path
        self.found = found
        self.known = known


class StoreClosed(StoreError):  # noqa: N818  # says what happened
    """The program has closed the store."""

    def __init__(self) -> None:
        super().__init__("The store is closed. Open it again.")


class CommitRefused(StoreError):  # noqa: N818  # says what happened
    """The state does not allow the commit."""


class NoSuchSession(CommitRefused):
    """There is no log of this session."""

    def __init__(self, session: str) -> None:
        super().__init__(f"There is no session {session}. Create it with a commit that puts its record, with fence 0.")
        self.session = session


class LogExists(CommitRefused):
    """This session already has a log."""

    def __init__(self, session: str) -> None:
        super().__init__(f"Session {session} already exists. Claim it, and write with the fence you get.")
        self.session = session


class Fenced(CommitRefused):
    """Another host has claimed the session since: this one must not write to it any more."""

    def __init__(self, session: str, fence: int, current: int, owner: str) -> None:
        super().__init__(
            f"Session {session} belongs to {owner} since claim {current}, but this write has fence {fence}. Stop "
            "serving the session here, or claim it."
        )
        self.session = session
        self.fence = fence
        self.current = current
        self.owner = owner


class LogMoved(CommitRefused):
    """The log does not end at the row that the commit should follow."""

    def __init__(self, session: str, after: int, last_seq: int) -> None:
        super().__init__(f"The log of session {session} ends at {last_seq}, not at {after}. Read it again, then retry.")
        self.session = session
        self.after = after
        self.last_seq = last_seq


class NoSuchApproval(CommitRefused):
    """There is no approval of this id."""

    def __init__(self, approval: str) -> None:
        super().__init__(f"There is no approval {approval}.")
        self.approval_id = approval


class ApprovalConflict(CommitRefused):
    """The approval's state does not allow the change; ``approval`` says what was decided, and by whom."""

    def __init__(self, approval: ApprovalRecord, to: str) -> None:
        decision = approval.decision
        by = f" by {decision.by_kind} {decision.by}".rstrip() if decision else ""
        super().__init__(f"Approval {approval.id} is {approval.state}{by} and cannot become {to}.")
        self.approval = approval
        self.to = to


class KeyReused(CommitRefused):
    """The same idempotency key came with another request."""

    def __init__(self, scope: str, key: str) -> None:
        super().__init__(f"The idempotency key {key} was used for another request ({scope}). Use a new key.")
        self.scope = scope
        self.key = key


class InvalidCommit(StoreError):  # noqa: N818  # says what happened
    """Something in the commit cannot be kept."""


class InvalidCursor(StoreError):  # noqa: N818  # says what happened
    """A cursor that no page of this kind has returned."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"{cursor!r} is not a cursor of this list. Start without one.")
        self.cursor = cursor
