"""Ends a process and everything it started.

The process group covers most, but not all of it: the CLI (2.1.325) runs each Bash tool call in its own session, and
background processes of such a call outlive the CLI: see ``strays``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Protocol

from .capabilities import Capabilities
from .marks import Mark
from .process_table import COMMAND_S, listed, stats
from .strays import DescendantStrays, MarkedStrays, NoStrays, Strays, kill_all


class Family(Protocol):
    strays: Strays

    def terminate(self) -> None:
        """Ask the group to end."""

    def kill(self) -> None:
        """Kill everything immediately."""

    def remains(self) -> bool:
        """Whether any process of the group is alive."""


def family_of(process: subprocess.Popen[bytes], mark: Mark, capabilities: Capabilities) -> Family:
    if not capabilities.process_groups:
        return TreeFamily(process)
    strays: Strays = MarkedStrays(mark) if capabilities.proc_files else DescendantStrays(process.pid)
    return GroupFamily(process.pid, strays, proc_files=capabilities.proc_files)


class GroupFamily:
    """A process group, led by the process itself, and its strays."""

    __slots__ = ("_gone", "_pgid", "_proc_files", "strays")

    def __init__(self, pgid: int, strays: Strays, *, proc_files: bool) -> None:
        self.strays = strays
        self._pgid = pgid
        self._proc_files = proc_files
        self._gone = False

    def terminate(self) -> None:
        if self._signal(signal.SIGTERM):
            self._signal(signal.SIGCONT)  # a stopped process accepts no signal except SIGKILL

    def kill(self) -> None:
        if not self._gone:
            self.strays.note()
        self._signal(signal.SIGKILL)
        kill_all(self.strays)

    def remains(self) -> bool:
        return self._signal(0) and not self._only_zombies()

    def _signal(self, number: int) -> bool:
        """Signal the group; False if it is empty. It is never signalled again then: its number may be reused."""
        if self._gone:
            return False
        try:
            os.killpg(self._pgid, number)
        except ProcessLookupError:
            self._gone = True
            return False
        except PermissionError:
            # On macOS only zombies are left; elsewhere it is a process under another user.
            return sys.platform != "darwin"
        return True

    def _only_zombies(self) -> bool:
        """Whether only zombies are left: in a container whose init doesn't reap, they stay forever."""
        everyone = stats() if self._proc_files else listed()
        return bool(everyone) and all(one.state in {"Z", "X"} for one in everyone if one.pgid == self._pgid)


class TreeFamily:
    """Without process groups (Windows): the process and, with ``taskkill /T``, its descendants."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.strays: Strays = NoStrays()
        self._process = process

    def terminate(self) -> None:
        """Ctrl-Break, the only signal for a process group on Windows; elsewhere SIGTERM."""
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
