"""Ends a kept process and everything it started: a plain sequence of steps, in its own thread.

Each step waits at most as long as the host said. Once started it runs to its end, even without a host.
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
"""Between checks whether a group is empty: nothing reports it, and it takes a few milliseconds at most."""
STEP_LIMIT_S = 600.0
"""The longest that a host may ask to wait for one step."""


class EndingGrace(NamedTuple):
    """``transport.Grace`` without its imports."""

    eof_s: float = 3.0
    term_s: float = 3.0
    group_s: float = 0.5
    kill_s: float = 2.0

    @classmethod
    def asked_for(cls, fields: dict[str, Any]) -> EndingGrace:
        """From a request. Raises ``ValueError`` for what is no time."""
        given = {name: float(fields[name]) for name in cls._fields if name in fields}
        if not all(0 <= seconds <= STEP_LIMIT_S for seconds in given.values()):
            raise ValueError(f"each step must be 0 to {STEP_LIMIT_S:g} seconds")
        return cls(**given)


AT_ONCE = EndingGrace(eof_s=0, term_s=0)


def end_process(family: Family, gone: threading.Event, enough: threading.Event, patience: EndingGrace) -> None:
    """End-of-file was sent; wait, then SIGTERM, then SIGKILL, then whatever is left of the family.

    ``enough`` ends the first wait early: the process is gone, or the host does not want to wait any longer.
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
    """End what outlived the process: its group first, then what its tools left outside of it."""
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
