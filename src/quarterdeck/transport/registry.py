"""Registry of this interpreter's processes: all end with it, and a forked child doesn't own them."""

from __future__ import annotations

import atexit
import os
import time
from typing import Protocol

FAREWELL_S = 1.5
"""At interpreter exit: time for all CLIs together to end their children after SIGTERM."""
POLL_S = 0.01


class Running(Protocol):
    def abandon(self) -> None:
        """Kill it immediately."""

    def dismiss(self) -> None:
        """Close its input and ask it to end."""

    def has_ended(self) -> bool:
        """Whether the process itself has exited."""

    def disown(self) -> None:
        """In a forked child: close the descriptors, and leave the parent's processes alone."""


_running: set[Running] = set()


def enter(process: Running) -> None:
    _running.add(process)


def leave(process: Running) -> None:
    _running.discard(process)


@atexit.register
def end_all() -> None:
    """Ask all to end, wait briefly, kill the rest. No asyncio: the event loop is usually closed by now."""
    everyone = list(_running)
    for process in everyone:
        process.dismiss()
    deadline = time.monotonic() + FAREWELL_S
    while not all(process.has_ended() for process in everyone) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    for process in everyone:
        process.abandon()


def _disown_all() -> None:
    for process in _running:
        process.disown()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)
