"""Memory that nobody uses goes back to the system."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def give_back() -> None:
    """Let the C library return whole pages that lie free between others.

    By itself it returns only what is free at the end of its memory, and every thread has memory of its own. So a page
    cache that was freed, or sessions that have left, would stay with the process until it ends. Takes about a
    millisecond. Does nothing where the C library has no such call: only glibc has.
    """
    if (trim := _trim()) is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], Any] | None:
    try:
        import ctypes

        return ctypes.CDLL(None).malloc_trim
    except (ImportError, OSError, TypeError, AttributeError):  # TypeError: Windows
        return None
