"""A command's output while it runs. Claude Code does not send it: it is polled, as long as someone is looking.

A command becomes a task after three seconds (2.1.325); from then on its output is available. The answer reaches the
timeline like everything else, and is drawn from there.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from quarterdeck._errors import QuarterdeckError

LOOK_S = 0.5
"""Often enough to follow a build; each look costs Claude Code the reading of one file."""
SHELL_TASK = "local_bash"


class LiveOutput:
    """The commands of one session that run."""

    def __init__(self, ask: Callable[[str], Awaitable[Any]]) -> None:
        self._ask = ask
        self._looking: dict[str, asyncio.Task[None]] = {}

    def started(self, task_id: str, kind: str | None) -> None:
        if kind == SHELL_TASK and task_id not in self._looking:
            self._looking[task_id] = asyncio.get_running_loop().create_task(self._look(task_id))

    def ended(self, task_id: str) -> None:
        looking = self._looking.pop(task_id, None)
        if looking is not None:
            looking.cancel()

    def close(self) -> None:
        for task_id in tuple(self._looking):
            self.ended(task_id)

    async def _look(self, task_id: str) -> None:
        with contextlib.suppress(QuarterdeckError):  # it has ended, or this version cannot report it
            while True:
                await self._ask(task_id)
                await asyncio.sleep(LOOK_S)
