"""Which kind of event loop runs the caller."""

from __future__ import annotations

import sys


def under_trio() -> bool:
    """Is the caller a task of trio's? Where trio was never imported, this costs one look into a dict.

    Where both run (``trio.run`` inside a coroutine of asyncio, as in a notebook), trio is the inner one.
    """
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_task())
