"""By what a process is known as ours: a mark in its environment and, on Linux, a number among its limits.

Both are inherited by everything a CLI starts, through ``setsid``, ``nohup``, ``disown`` and double forks, and both stay
when the parents are gone. The environment can be lost: ``env -i`` clears it, and servers such as PostgreSQL and nginx
write their title over it. A limit cannot be lost that way, so we also set the soft limit of file locks, which Linux has
not enforced since 2.4.25 and nobody sets, to a number of our own. A process that raises that limit *and* clears its
environment, or that another program starts for it (a container engine, ``systemd-run``, ``at``), cannot be found.

The mark names its owner, the program that started the CLI, by process ID, start time and PID namespace: a process ID
that was given to somebody else does not make a dead owner look alive, and a namespace that is not ours is not judged.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

MARK = "QUARTERDECK_FAMILY"
"""The environment variable by which the processes of one session are recognised."""
LIMIT = 10
"""``RLIMIT_LOCKS`` of Linux, which the ``resource`` module does not name."""
FAMILY_DIGITS = 6
"""The last digits of the number count a program's families; those before are the program's own."""
ENVIRONMENT_BYTES = 8 * 1024 * 1024
"""More than Linux lets a program start with (6 MiB): a read beyond it would not be of an environment."""
CHUNK_BYTES = 64 * 1024
"""Most environments at once."""
_ENTRY = b"\0" + MARK.encode() + b"="


class Mark(NamedTuple):
    """What all processes of one session carry."""

    text: str
    """``OWNER.FAMILY``, in the environment."""
    number: int
    """Among the limits."""


class Program(NamedTuple):
    """This program as its marks name it."""

    owner: str
    prefix: int
    """Of the numbers of its families: random, so that no two programs share it."""

    def mark(self) -> Mark:
        family = next(_families) % 10**FAMILY_DIGITS
        return Mark(f"{self.owner}.{os.urandom(16).hex()}", self.prefix * 10**FAMILY_DIGITS + family)


_families = itertools.count(1)


def this_program() -> Program:
    return _program(os.getpid())


@cache
def _program(pid: int) -> Program:
    """Keyed by the process ID: after a fork the child is a program of its own."""
    owner = f"{_namespace()}.{pid}.{start_of(pid) or 0}"
    return Program(owner, 10**11 + int.from_bytes(os.urandom(8)) % (9 * 10**11))


def attach(pid: int, mark: Mark) -> None:
    """Give a process its number, before it starts anything. Where that cannot be done, the environment has to do."""
    _set_limit(pid, mark.number)


def detach(pid: int) -> None:
    """For a helper of ours: when we are part of a family ourselves, it does not end with that family."""
    _set_limit(pid, None)


def _set_limit(pid: int, number: int | None) -> None:
    if not sys.platform.startswith("linux"):
        return
    import resource

    with contextlib.suppress(OSError, ValueError):  # gone already, another user's, or a sandbox that refuses
        _, hard = resource.prlimit(pid, LIMIT)
        resource.prlimit(pid, LIMIT, (hard if number is None else number, hard))


def carried_by(pid: int) -> tuple[str, int]:
    """The mark that a process carries, as text and as number; empty and 0 where it has none, or we may not look."""
    text, number = "", 0
    with contextlib.suppress(OSError):
        text = _text(pid)
    with contextlib.suppress(OSError):
        number = _number(pid)
    return text, number


class Census:
    """Who carries which mark, at one moment."""

    def __init__(self) -> None:
        self.taken = time.monotonic_ns()
        self.by_text: dict[str, list[int]] = {}
        self.by_number: dict[int, list[int]] = {}
        for pid in process_ids():
            with contextlib.suppress(OSError):  # gone meanwhile, or another user's
                text = _text(pid)
                if text:
                    self.by_text.setdefault(text, []).append(pid)
                elif number := _number(pid):
                    self.by_number.setdefault(number, []).append(pid)

    def carriers(self, mark: Mark) -> list[int]:
        return [*self.by_text.get(mark.text, ()), *self.by_number.get(mark.number, ())]


_lock = threading.Lock()
_latest: Census | None = None


def carriers(mark: Mark) -> list[int]:
    """The processes that carry the mark now. Threads that ask while somebody looks share the next look."""
    global _latest  # one look serves all who wait for it
    asked = time.monotonic_ns()
    with _lock:
        if _latest is None or _latest.taken < asked:
            _latest = Census()
        return _latest.carriers(mark)


def signal_carriers(mark: Mark, number: int) -> int:
    """Signal each process that carries the mark, as soon as it is seen; how many there were."""
    return sum(_signal(pid, mark, number) for pid in carriers(mark))


def _signal(pid: int, mark: Mark, number: int) -> bool:
    """Held by a descriptor while it is looked at again: so the process ID cannot become somebody else's in between."""
    if pid == os.getpid():
        return False
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):  # no such call, a sandbox that refuses it, or the process is gone
        descriptor = -1
    try:
        if mark.text != _text(pid) and mark.number != _number(pid):
            return False
        if descriptor >= 0:
            signal.pidfd_send_signal(descriptor, number)
        else:
            os.kill(pid, number)
    except OSError:  # it ended, or belongs to another user by now (sudo)
        return False
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return True


def orphaned() -> Iterator[Mark]:
    """The marks in use whose owner, a program of this PID namespace, is dead. Never the one that we carry ourselves."""
    own, namespace = os.environ.get(MARK), _namespace()
    for text in Census().by_text:
        match text.split("."):
            case [space, pid, started, _] if space == namespace != "0" and pid.isdigit() and started.isdigit():
                if text != own and start_of(int(pid)) != int(started):
                    yield Mark(text, -1)


def process_ids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208  # half the time of Path


def _text(pid: int) -> str:
    environment = b"\0" + _read(pid, "environ", ENVIRONMENT_BYTES)
    at = environment.find(_ENTRY)
    if at < 0:
        return ""
    return environment[at + len(_ENTRY) :].partition(b"\0")[0].decode(errors="replace")


def _number(pid: int) -> int:
    for line in _read(pid, "limits", 4096).splitlines():
        if line.startswith(b"Max file locks"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else 0
    return 0


def start_of(pid: int) -> int | None:
    """When the process was started, in ticks since the boot; None when there is none, or only its zombie."""
    with contextlib.suppress(OSError):
        # What follows the name, which may hold spaces and parentheses itself.
        fields = _read(pid, "stat", 4096).rpartition(b")")[2].split()
        threads, dead = int(fields[17]), fields[0] in {b"Z", b"X"}
        return None if dead and threads <= 1 else int(fields[19])
    return None


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def _read(pid: int, name: str, limit_bytes: int) -> bytes:
    descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(descriptor, CHUNK_BYTES)
        while len(data) < limit_bytes and (more := os.read(descriptor, CHUNK_BYTES)):
            data += more
        return data
    finally:
        os.close(descriptor)
