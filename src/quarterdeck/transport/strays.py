"""Strays: processes of a session outside its process group, started by tools in the background or in other sessions.

On Linux they carry our mark (``marks``), which survives their parents. Elsewhere we find them by descent, which works
only while their parents live, so we look before ending the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from concurrent.futures import Future
from typing import Protocol

from . import census
from .marks import Mark
from .process_table import descendants, listed

KILL_S = 1.0
"""For repeated kills: a later scan finds a process that forked during an earlier one."""
POLL_S = 0.01
"""Between checks of the processes that were asked to end."""
ORPHANS_S = 3.0
"""From SIGTERM to SIGKILL for processes of a dead program, as its watchdog would have waited."""


class Strays(Protocol):
    def note(self) -> None:
        """Find the strays before the process ends."""

    def signal(self, number: int) -> int:
        """Signal the living strays; returns how many there were."""

    def look(self) -> Future[list[int]] | None:
        """Start a scan without waiting for it; None if scans can't be shared."""


def sweep(strays: Strays, patience_s: float) -> None:
    """Ask the strays to end, then kill the rest. Takes one scan if there are none."""
    deadline = time.monotonic() + patience_s
    if not _ask_to_end(strays):
        return
    while strays.signal(0):
        if time.monotonic() > deadline:
            kill_all(strays)
            return
        time.sleep(POLL_S)


def _ask_to_end(strays: Strays) -> bool:
    asked = strays.signal(signal.SIGTERM) > 0
    if asked:
        strays.signal(signal.SIGCONT)  # a stopped process accepts no signal except SIGKILL
    return asked


def kill_all(strays: Strays) -> None:
    deadline = time.monotonic() + KILL_S
    while strays.signal(signal.SIGKILL) and time.monotonic() < deadline:
        pass


class MarkedStrays:
    """Linux: all processes with the mark."""

    def __init__(self, mark: Mark) -> None:
        self._mark = mark

    def note(self) -> None:
        """Does nothing: a mark outlives the parents."""

    def signal(self, number: int) -> int:
        return census.signal_carriers(self._mark, number)

    def look(self) -> Future[list[int]]:
        return census.look(self._mark)


class DescendantStrays:
    """Elsewhere: the process's descendants when we looked, and their descendants now."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._noted: dict[int, str] = {}

    def note(self) -> None:
        everyone = {one.pid: one for one in listed()}
        self._noted |= {pid: everyone[pid].started for pid in descendants([self._pid], list(everyone.values()))}

    def signal(self, number: int) -> int:
        if not self._noted:
            return 0
        everyone = listed()
        # The start time distinguishes a process from a later one with the same number.
        alive = [one.pid for one in everyone if self._noted.get(one.pid) == one.started and one.state != "Z"]
        started = {one.pid: one.started for one in everyone}
        self._noted |= {pid: started[pid] for pid in descendants(alive, everyone)}
        found = [one.pid for one in everyone if self._noted.get(one.pid) == one.started and one.state != "Z"]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return len(found)

    def look(self) -> None:
        """None: ``signal`` lists all processes itself."""


class NoStrays:
    """Fallback where strays can't be identified (Windows)."""

    def note(self) -> None:
        """Nobody to look for."""

    def signal(self, number: int) -> int:
        return 0

    def look(self) -> None:
        """Nobody to look for."""


_looked_for_orphans: set[int] = set()


def end_orphans() -> None:
    """End what dead programs and their watchdogs left running. Runs once per program, in the background."""
    pid = os.getpid()
    if pid not in _looked_for_orphans:
        _looked_for_orphans.add(pid)
        with contextlib.suppress(RuntimeError):  # no more threads: the next program will look
            threading.Thread(target=_end_orphans, name="quarterdeck-orphans", daemon=True).start()


def _end_orphans() -> None:
    for mark in list(census.orphaned()):
        sweep(MarkedStrays(mark), ORPHANS_S)
