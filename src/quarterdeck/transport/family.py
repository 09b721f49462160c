"""A process and everything it started: finds it, asks it to end, kills it.

The process group is the handle, but not all of it: the CLI (2.1.325) runs each Bash tool call in a session of its own.
On SIGTERM it ends those itself; when it is killed they stay. So a kill also looks for processes outside the group: on
Linux by a mark in their environment, which survives the death of their parents; elsewhere by descent, before the kill.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from .capabilities import Capabilities

MARK = "QUARTERDECK_FAMILY"
"""The environment variable by which the processes of one session are recognised."""
SWEEPS = 3
"""Looks for marked processes: one that forks while it is being looked for is found by the next."""
COMMAND_S = 5.0
"""For ``ps`` and ``taskkill``."""


class Process(NamedTuple):
    pid: int
    ppid: int
    pgid: int
    state: str


class Family(Protocol):
    def terminate(self) -> None:
        """Ask all to end."""

    def kill(self) -> None:
        """End all, now."""

    def remains(self) -> bool:
        """Whether any of them is alive."""


def family_of(process: subprocess.Popen[bytes], mark: str, capabilities: Capabilities) -> Family:
    if capabilities.process_groups:
        return GroupFamily(process.pid, mark, proc_files=capabilities.proc_files)
    return TreeFamily(process)


class GroupFamily:
    """A process group, led by the process itself."""

    __slots__ = ("_entry", "_gone", "_pgid", "_proc_files")

    def __init__(self, pgid: int, mark: str, *, proc_files: bool) -> None:
        self._pgid = pgid
        self._entry = f"{MARK}={mark}".encode()
        self._proc_files = proc_files
        self._gone = False

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        outside = () if self._proc_files else descendants(self._pgid)
        self._signal(signal.SIGKILL)
        _kill_each(outside)
        if self._proc_files:
            for _ in range(SWEEPS):
                if not _kill_each(marked(self._entry)):
                    break

    def remains(self) -> bool:
        return self._signal(0) and not self._only_zombies()

    def _signal(self, number: int) -> bool:
        """Whether there was anyone to signal. Once there was not, never again: the number may be somebody else's."""
        if self._gone:
            return False
        try:
            os.killpg(self._pgid, number)
        except ProcessLookupError:
            self._gone = True
            return False
        except PermissionError:
            # macOS answers so when only zombies are left; elsewhere it is a process under another user.
            return sys.platform != "darwin"
        return True

    def _only_zombies(self) -> bool:
        """In a container whose first process reaps nobody, killed grandchildren stay in the table for ever."""
        everyone = _stats() if self._proc_files else _listed()
        return bool(everyone) and all(one.state in {"Z", "X"} for one in everyone if one.pgid == self._pgid)


class TreeFamily:
    """Without process groups (Windows): the process, and by ``taskkill /T`` its descendants."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def terminate(self) -> None:
        """Ctrl-Break, the one signal a process group of its own can be sent on Windows; elsewhere SIGTERM."""
        if self._process.returncode is None:
            with contextlib.suppress(OSError):  # already gone, or without a console: the kill comes next
                self._process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))

    def kill(self) -> None:
        if self._process.returncode is not None:
            return
        command = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # no taskkill, or it hangs: at least the process
            subprocess.run(command, capture_output=True, timeout=COMMAND_S, check=False)
        with contextlib.suppress(OSError):
            self._process.kill()

    def remains(self) -> bool:
        return self._process.returncode is None


def marked(entry: bytes) -> list[int]:
    """The processes that have this entry in their environment; those of other users cannot be seen."""
    found = []
    for directory in _processes():
        with contextlib.suppress(OSError):  # gone meanwhile, or not ours
            if entry in (directory / "environ").read_bytes().split(b"\0"):
                found.append(int(directory.name))
    return found


def descendants(pid: int) -> list[int]:
    """The processes that descend from ``pid``, as ``ps`` sees it."""
    children: dict[int, list[int]] = {}
    for one in _listed():
        children.setdefault(one.ppid, []).append(one.pid)
    found: list[int] = []
    generation = [pid]
    while generation:
        generation = [child for parent in generation for child in children.get(parent, ())]
        found += generation
    return found


def _kill_each(pids: list[int] | tuple[int, ...]) -> bool:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(pids)


def _processes() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _stats() -> list[Process]:
    found = []
    for directory in _processes():
        with contextlib.suppress(OSError):
            # What follows the name, which may hold spaces and parentheses itself.
            state, ppid, pgid, *_ = (directory / "stat").read_text(errors="replace").rpartition(")")[2].split()
            found.append(Process(int(directory.name), int(ppid), int(pgid), state))
    return found


def _listed() -> list[Process]:
    """The same from ``ps``; nothing if there is none, and then the group is all that can be reached."""
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat="]
    try:
        listing = subprocess.run(command, capture_output=True, timeout=COMMAND_S, check=True, text=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = (line.split() for line in listing.splitlines())
    return [Process(int(pid), int(ppid), int(pgid), state[0]) for pid, ppid, pgid, state in rows]
