"""How much a call does: steps and memory, which are the same on a busy machine. Seconds are for ``benchmarks/``."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType


def steps(function: Callable[[], object]) -> int:
    """How many functions are entered and left, those written in C included."""
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def most_bytes(function: Callable[[], object]) -> int:
    """How much more memory than before was in use at the worst moment: a copy shows even if it goes at once."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
