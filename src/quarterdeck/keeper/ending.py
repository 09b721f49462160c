"""Ends a kept process and everything it started, step by step, in its own thread.

The host sets how long each step waits. Once started, the sequence completes even if the host disconnects.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, NamedTuple

from quarterdeck.transport.family import Family
from quarterdeck.transport.strays import sweep

logger = logging.getLogger(__name__)

GROUP_POLL_S = 0.01
"""Between checks for an empty group: no event reports it, and it takes a few milliseconds at most."""
STEP_LIMIT_S = 600.0
"""The longest wait that a host may set for one step."""


class EndingGrace(NamedTuple):
    """``transport.Grace`` without its imports."""

    eof_s: float = 3.0
    term_s: float = 3.0
    group_s: float = 0.5
    kill_s: float = 2.0

    @classmethod
    def asked_for(cls, fields: dict[str, Any]) -> EndingGrace:
        """Parse a request. Raises ``ValueError`` for an invalid time."""
        given = {name: float(fields[name]) for name in cls._fields if name in fields}
        if not all(0 <= seconds <= STEP_LIMIT_S for seconds in given.values()):
            raise ValueError(f"each step must be 0 to {STEP_LIMIT_S:g} seconds")
        return cls(**given)


AT_ONCE = EndingGrace(eof_s=0, term_s=0)


def end_process(family: Family, gone: threading.Event, enough: threading.Event, patience: EndingGrace) -> None:
    """After end-of-file: wait, then SIGTERM, then SIGKILL, then end what is left of the family.

    ``enough`` cuts the first wait short: the process has exited, or the host won't wait any longer.
    """
    family.strays.note()
    enough.wait(patience.eof_s)
    if not gone.is_set():
        family.terminate()
        if not gone.wait(patience.term_s):
            family.kill()
            if not gone.wait(patience.kill_s):
                logger.error("a process did not end although it was killed")
    end_rest(family, patience)


def end_rest(family: Family, patience: EndingGrace) -> None:
    """End what outlived the process: its group, then what its tools left running outside it."""
    if family.remains():
        family.terminate()
        if _outlives(family, patience.group_s):
            family.kill()
            _outlives(family, patience.kill_s)
    sweep(family.strays, patience.group_s)


def _outlives(family: Family, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while family.remains():
        if time.monotonic() >= deadline:
            return True
        time.sleep(GROUP_POLL_S)
    return False
