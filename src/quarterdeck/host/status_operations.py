"""Operations on the host itself: information, health, metrics, rate limits."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import shutil
from collections import Counter
from pathlib import Path

import msgspec

from quarterdeck._version import __version__
from quarterdeck.store.errors import StoreError
from quarterdeck.store.queries import ApprovalQuery, SessionQuery

from . import requests as takes
from . import resources as returns
from .callers import PROGRAM, Caller
from .host_base import HostBase
from .times import moment

API_VERSION = "1"
LOW_DISK_BYTES = 64 * 1024 * 1024
"""Below this, health reports a problem: the log and spools are about to stop."""


class StatusOperations(HostBase):
    """Operations on the host itself."""

    async def get_host(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.HostView:
        """Get versions, machine and limits."""
        versions = {actor.log.body.cli_version for actor in self._actors.values()}
        features = ["keeper"] if self._with_keeper else []
        allowed = self.folders.allowed
        return returns.HostView(
            api_version=API_VERSION,
            version=__version__,
            features=[*features, "previews", "raw", "queue", "worktrees"],
            cli_versions=sorted(version for version in versions if version is not None),
            machine={
                "name": self.name,
                "system": platform.system(),
                "architecture": platform.machine(),
                "python": platform.python_version(),
                "cpus": os.cpu_count(),
                "started_at": moment(self._opened_at).isoformat(),
            },
            limits={
                **msgspec.to_builtins(self.limits),
                "folders": None if allowed is None else [str(one) for one in allowed],
            },
        )

    async def get_health(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Health:
        """Check whether the host accepts work."""
        problems = [f"Session {session}: {why}" for session, why in self.stalls.all()]
        if self._keeper is not None and self._keeper.why_lost is not None:
            problems.append(f"The keeper is gone: {self._keeper.why_lost}")
        free = (await asyncio.to_thread(shutil.disk_usage, self.folder)).free
        if free < LOW_DISK_BYTES:
            problems.append(f"The disk of {self.folder} has {free} bytes left.")
        try:
            await self.store.position()
        except StoreError as error:
            problems.append(str(error))
        return returns.Health(ready=not problems, problems=problems)

    async def get_metrics(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Details:
        """Get counters and gauges, by their Prometheus names."""
        states = await self._session_states()
        approvals = await self.store.approvals(ApprovalQuery(states=["pending"], limit=10_000))
        asked_at = min((one.asked_at for one in approvals.approvals), default=self.now())
        heads = await self.store.heads()
        actors = self._actors.values()
        return returns.Details(
            details={
                "sessions": dict(states),
                "processes": sum(1 for actor in actors if actor.has_process),
                "processes_warm": self._warm.ready,
                "approvals_pending": len(approvals.approvals),
                "approval_oldest_s": max(round(self.now() - asked_at, 3), 0.0),
                "prompts_waiting": sum(len(actor.log.fold.queue.prompts) for actor in actors),
                "log_rows_total": self.store.rows_written,
                "log_bytes": sum(head.size_bytes for head in heads),
                "store_bytes": await asyncio.to_thread(_size_of, self.folder),
                "commits_waiting": self.store.commits_waiting,
                "cli_starts": self.tally.cli_starts,
                "cli_crashes": self.tally.cli_crashes,
                "drift": dict(self._drift.counts),
                "host_position": await self.store.position(),
                "uptime_s": round(self.now() - self._opened_at, 3),
            }
        )

    async def _session_states(self) -> Counter[str]:
        states: Counter[str] = Counter()
        cursor: str | None = None
        while True:
            page = await self.store.sessions(SessionQuery(archived=None, limit=1_000, cursor=cursor))
            states.update(record.state for record in page.sessions)
            cursor = page.next_cursor
            if cursor is None:
                return states

    async def get_limits(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Details:
        """Get the rate limits of each account, as its sessions last reported."""
        for actor in self._actors.values():
            told = actor.log.fold.timeline.state.session.account
            if told is not None and told.email:
                self._accounts.gauge(actor.log.body.account).email = told.email
        return returns.Details(details={"accounts": self._accounts.shown()})


def _size_of(folder: Path) -> int:
    """The size of the database, its write-ahead log, and bodies stored as files."""
    files = [*folder.glob("store.db*"), *folder.glob("large/*")]
    sizes = []
    for file in files:
        with contextlib.suppress(OSError):  # removed meanwhile
            sizes.append(file.stat().st_size)
    return sum(sizes)
