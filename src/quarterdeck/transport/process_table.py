"""Lists all processes of the machine from ``/proc``, or from ``ps`` without it."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .marks import process_ids

COMMAND_S = 5.0
"""For ``ps`` and ``taskkill``."""


class Process(NamedTuple):
    pid: int
    ppid: int
    pgid: int
    state: str
    started: str


def stats() -> list[Process]:
    found = []
    for pid in process_ids():
        with contextlib.suppress(OSError):
            # What follows the name, which may hold spaces and parentheses itself.
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            found.append(Process(pid, int(fields[1]), int(fields[2]), fields[0], fields[19]))
    return found


def listed() -> list[Process]:
    """List processes with ``ps``; empty without it, and then only the group can be reached."""
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart="]
    try:
        listing = subprocess.run(command, capture_output=True, timeout=COMMAND_S, check=True, text=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = (line.split(maxsplit=4) for line in listing.splitlines())
    return [Process(int(pid), int(ppid), int(pgid), state[0], started) for pid, ppid, pgid, state, started in rows]


def descendants(pids: Iterable[int], everyone: Iterable[Process]) -> list[int]:
    """Return the descendants of these processes."""
    children: dict[int, list[int]] = {}
    for one in everyone:
        children.setdefault(one.ppid, []).append(one.pid)
    found: list[int] = []
    generation = list(pids)
    while generation:
        generation = [child for parent in generation for child in children.get(parent, ())]
        found += generation
    return found
