"""Marks that identify our processes: a variable in the environment and, on Linux, a number in a resource limit.

Everything a CLI starts inherits both, through ``setsid``, ``nohup``, ``disown`` and double forks, and keeps them when
its parents are gone. The environment can be lost: ``env -i`` clears it, and servers such as PostgreSQL and nginx
overwrite it with their title. So we also set the soft limit of file locks, which Linux hasn't enforced since 2.4.25 and
nobody uses, to a number of our own. We can't find a process that raises that limit *and* clears its environment, or
that another program starts (a container engine, ``systemd-run``, ``at``).

Both name their owner, the program that started the CLI, by process ID, start time and PID namespace (the number has
room for part of the last two). So a reused process ID doesn't make a dead owner look alive, and owners in other
namespaces are left alone.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

MARK = "QUARTERDECK_FAMILY"
"""The environment variable that identifies the processes of one session."""
LIMIT = 10
"""``RLIMIT_LOCKS`` of Linux, which the ``resource`` module does not name."""
FAMILY_DIGITS = 6
"""The last digits of the number count a program's families; the ones before identify the program."""
STARTS, CHECKS = 4096, 509
"""A number has 63 bits: 20 for the family, 22 for the process ID, 12 of the start time, and the rest to know it by."""
ENVIRONMENT_BYTES = 8 * 1024 * 1024
"""More than Linux lets a program start with (6 MiB)."""
CHUNK_BYTES = 64 * 1024
"""Reads most environments in one call."""
_ENTRY = b"\0" + MARK.encode() + b"="


class Mark(NamedTuple):
    """The mark of all processes of one session."""

    text: str
    """``OWNER.FAMILY``, in the environment."""
    number: int
    """In the resource limit."""


class Program(NamedTuple):
    """This program as its marks name it."""

    owner: str
    prefix: int
    """Prefix of its families' numbers: process ID, start time and a checksum."""

    def mark(self) -> Mark:
        family = next(_families) % 10**FAMILY_DIGITS
        return Mark(f"{self.owner}.{os.urandom(16).hex()}", self.prefix * 10**FAMILY_DIGITS + family)


_families = itertools.count(1)


def this_program() -> Program:
    return _program(os.getpid())


@cache
def _program(pid: int) -> Program:
    """Keyed by the process ID: after a fork the child is a separate program."""
    started = start_of(pid) or 0
    named = pid * STARTS + started % STARTS
    return Program(f"{namespace()}.{pid}.{started}", named * CHECKS + _check(named))


def _check(named: int) -> int:
    """Includes the PID namespace, because each namespace has its own process 7."""
    return (named + int(namespace())) % CHECKS


def names_a_dead_program(number: int) -> bool:
    """Whether this number's owner is a dead program of this PID namespace."""
    named, check = divmod(number // 10**FAMILY_DIGITS, CHECKS)
    pid, started = divmod(named, STARTS)
    if pid == 0 or check != _check(named):
        return False
    now = start_of(pid)
    return now is None or now % STARTS != started


def attach(pid: int, mark: Mark) -> None:
    """Set a process's number before it starts anything. If that fails, only the environment marks it."""
    _set_limit(pid, mark.number)


@contextlib.contextmanager
def carrying(mark: Mark) -> Iterator[None]:
    """Carry a mark's number ourselves, so a child started meanwhile has it from its first instruction.

    The program must start nothing else meanwhile: any other child would count as part of that family.
    """
    before = number_of(os.getpid()) if sys.platform.startswith("linux") else 0
    _set_limit(os.getpid(), mark.number)
    try:
        yield
    finally:
        _set_limit(os.getpid(), before or None)


def detach(pid: int) -> None:
    """Remove our own mark from a helper, so that it doesn't end with the family that we belong to."""
    _set_limit(pid, None)


def _set_limit(pid: int, number: int | None) -> None:
    if not sys.platform.startswith("linux"):
        return
    import resource

    with contextlib.suppress(OSError, ValueError):  # already gone, another user's, or a sandbox that refuses
        _, hard = resource.prlimit(pid, LIMIT)
        resource.prlimit(pid, LIMIT, (hard if number is None else number, hard))


def carried_by(pid: int) -> tuple[str, int]:
    """Return a process's mark as text and number; empty and 0 if it has none or we can't read it."""
    text, number = "", 0
    with contextlib.suppress(OSError):
        text = text_of(pid)
    with contextlib.suppress(OSError):
        number = number_of(pid)
    return text, number


def process_ids() -> Iterator[int]:
    """Return all processes that we can see."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208  # half the time of Path


def text_of(pid: int) -> str:
    """Return the mark in a process's environment, or an empty string. Raises ``OSError`` if the process is gone."""
    environment = b"\0" + _read(pid, "environ", ENVIRONMENT_BYTES)
    at = environment.find(_ENTRY)
    if at < 0:
        return ""
    return environment[at + len(_ENTRY) :].partition(b"\0")[0].decode(errors="replace")


def number_of(pid: int) -> int:
    """Return the number in a process's limits; 0 if there is none."""
    for line in _read(pid, "limits", 4096).splitlines():
        if line.startswith(b"Max file locks"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else 0
    return 0


def start_of(pid: int) -> int | None:
    """Return a process's start time in ticks since boot; None if it doesn't exist or is a zombie."""
    with contextlib.suppress(OSError):
        # What follows the name, which may hold spaces and parentheses itself.
        fields = _read(pid, "stat", 4096).rpartition(b")")[2].split()
        threads, dead = int(fields[17]), fields[0] in {b"Z", b"X"}
        return None if dead and threads <= 1 else int(fields[19])
    return None


def namespace(pid: int | str = "self") -> str:
    """Return a process's PID namespace as its number; "0" if unknown."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def _read(pid: int, name: str, limit_bytes: int) -> bytes:
    descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = chunk = os.read(descriptor, CHUNK_BYTES)
        while len(chunk) == CHUNK_BYTES and len(data) < limit_bytes:  # a short read is the end
            chunk = os.read(descriptor, CHUNK_BYTES)
            data += chunk
        return data
    finally:
        os.close(descriptor)
