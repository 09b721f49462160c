"""What this machine and event loop can do. Code checks capabilities, never platform names.

Each capability is probed: a sandbox may refuse ``pidfd_open`` on a kernel that supports it, and not every event loop
can watch pipes. Tests override capabilities to force each fallback.
"""

from __future__ import annotations

import os
import select
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the keeper uses this module too, and has no event loop
    import asyncio

SHELL = "/bin/sh"


class Capabilities(NamedTuple):
    add_reader: bool
    """The loop can watch pipes (the Proactor loop of Windows can't). Fallback: threads that read and write."""
    epoll: bool
    """Pipes can be watched together, separately from the loop's other descriptors (Linux). Fallback: the loop watches
    each."""
    pidfd: bool
    """A process's exit can be watched as a file descriptor (Linux 5.3). Fallback: a waiting thread."""
    process_groups: bool
    """A process and its children can be signalled together (not on Windows). Fallback: ``taskkill /T``."""
    proc_files: bool
    """Processes' environments can be read (Linux). Fallback: ``ps``."""
    posix_shell: bool
    """A POSIX shell is available for the watchdog. Fallback: the parent-death signal, where it exists."""


def detect(loop: asyncio.AbstractEventLoop | None = None) -> Capabilities:
    """Detect the capabilities of this machine and, if given, this loop."""
    return Capabilities(
        add_reader=loop is not None and _watches_pipes(loop),
        epoll=hasattr(select, "epoll"),
        pidfd=_has_pidfd(),
        process_groups=hasattr(os, "killpg"),
        proc_files=_has_proc_files(),
        posix_shell=_has_shell(),
    )


_watching_loops: dict[type, bool] = {}


def _watches_pipes(loop: asyncio.AbstractEventLoop) -> bool:
    known = _watching_loops.get(type(loop))
    if known is None:
        known = _watching_loops[type(loop)] = _probe_pipe(loop)
    return known


def _probe_pipe(loop: asyncio.AbstractEventLoop) -> bool:
    read_end, write_end = os.pipe()
    try:
        loop.add_reader(read_end, os.getpid)
        loop.remove_reader(read_end)
    except (NotImplementedError, OSError, ValueError):  # Proactor: the first; a select() loop on Windows: the others
        return False
    else:
        return True
    finally:
        os.close(read_end)
        os.close(write_end)


@cache
def _has_pidfd() -> bool:
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


@cache
def _has_proc_files() -> bool:
    try:
        # Not if /proc belongs to another PID namespace, where the same PIDs are other processes.
        return os.readlink("/proc/self") == str(os.getpid()) and Path("/proc/self/environ").exists()  # noqa: PTH115
    except OSError:
        return False


@cache
def _has_shell() -> bool:
    return os.access(SHELL, os.X_OK)
