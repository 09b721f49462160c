"""Which kind of event loop runs the caller."""

from __future__ import annotations

import sys


def under_trio() -> bool:
    """Is the caller a task of trio's? Where trio was never imported, this costs one look into a dict.

    Where both run (``trio.run`` inside a coroutine of asyncio, as in a notebook), trio is the inner one.
    """
    check = getattr(sys.modules.get("trio.lowlevel"), "in_trio_task", None)  # may be half imported, by another thread
    return check is not None and bool(check())
