"""Who is connected to decide, and how long each approval has waited unattended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec

from .folders import is_below


class Waiting(msgspec.Struct, frozen=True):
    """A pending approval."""

    approval_id: str
    cwd: str
    limit_s: float | None
    """How long it may wait unattended; None: forever."""


class Attendance:
    """A clock per approval that runs only while nobody who may decide it is connected.

    It restarts with the host, so a restart doesn't deny something that a person is looking at.
    """

    def __init__(self, clock: Callable[[], float], waiting: Callable[[], Iterable[Waiting]]) -> None:
        self._clock = clock
        self._waiting = waiting
        self._attending: list[tuple[str, ...]] = []
        """The folders of everyone connected; empty means all folders."""
        self._unattended_s: dict[str, float] = {}
        self._at = clock()

    @contextmanager
    def attend(self, folders: tuple[str, ...]) -> Iterator[None]:
        self.expired()  # the time until now passed without them
        self._attending.append(folders)
        try:
            yield
        finally:
            self.expired()
            self._attending.remove(folders)

    def expired(self) -> list[str]:
        """Advance the clocks; returns the approvals that timed out."""
        now = self._clock()
        passed, self._at = max(now - self._at, 0.0), now
        before, self._unattended_s = self._unattended_s, {}
        over: list[str] = []
        for one in self._waiting():
            waited = before.get(one.approval_id)
            if waited is None:
                waited = 0.0  # it was opened since we last looked
            elif not self.attended(one.cwd):
                waited += passed
            self._unattended_s[one.approval_id] = waited
            if one.limit_s is not None and waited >= one.limit_s:
                over.append(one.approval_id)
        return over

    def attended(self, cwd: str) -> bool:
        return any(not folders or is_below(cwd, folders) for folders in self._attending)
