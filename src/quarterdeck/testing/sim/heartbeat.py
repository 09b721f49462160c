"""Signs of life during something that takes long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

HEARTBEAT_S = 30.0
"""The CLI's own interval (2.1.325)."""


@asynccontextmanager
async def heartbeat(beat: Callable[[int, float], None], interval_s: float) -> AsyncIterator[None]:
    """Call ``beat(number, elapsed_s)`` at each interval until the block is left. No interval, no beats."""
    if interval_s <= 0:
        yield
        return
    task = asyncio.create_task(_beats(beat, interval_s))
    try:
        yield
    finally:
        task.cancel()


async def _beats(beat: Callable[[int, float], None], interval_s: float) -> None:
    number = 0
    while True:
        await asyncio.sleep(interval_s)
        beat(number, HEARTBEAT_S * (number + 1))
        number += 1
