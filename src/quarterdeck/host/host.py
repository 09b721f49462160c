"""``Host``: many sessions, one durable log, approvals that cannot be lost, turns that survive its restart.

>>> async with Host("~/.local/state/quarterdeck") as host:   # doctest: +SKIP
...     session = await host.create_session(CreateSession(cwd="/srv/repo", prompt="Which tests fail?"))
...     async for frame in host.watch_session(WatchSession(session_id=session.id)):
...         print(frame)

Each method is an operation of ``operations.OPERATIONS``: it takes the request of that name, and the caller.
"""

from __future__ import annotations

import functools
import gc
from types import TracebackType

from .alert_operations import AlertOperations
from .callback_operations import CallbackOperations
from .callers import Caller
from .control_operations import ControlOperations
from .importing import ImportOperations
from .log_operations import LogOperations
from .looking_operations import LookingOperations
from .machine_operations import MachineOperations
from .orchestrating import Orchestrating
from .policy_operations import PolicyOperations
from .prompt_operations import PromptOperations
from .scopes import checked
from .searching import Searching
from .status_operations import StatusOperations
from .token_operations import TokenOperations
from .usage_operations import UsageOperations

__all__ = ["Caller", "Host"]


@checked
class Host(
    LookingOperations,
    ImportOperations,
    ControlOperations,
    PromptOperations,
    LogOperations,
    MachineOperations,
    StatusOperations,
    CallbackOperations,
    PolicyOperations,
    UsageOperations,
    AlertOperations,
    TokenOperations,
    Searching,
    Orchestrating,
):
    """Has all operations as methods. Use it as an async context manager."""

    async def open(self) -> Host:
        """Open the log, find the keeper, and resume every session that has a process."""
        _set_program_aside()
        await self._open()
        return self

    async def __aenter__(self) -> Host:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


@functools.cache
def _set_program_aside() -> None:
    """Exclude everything loaded before a process's first host from full garbage collections. Runs once.

    A collection would spend nearly all its time on modules, and block every session: for 12 ms on an idle machine and
    35 on a busy one, about once a second at 5,000 lines per second. Collects garbage first, which would stay otherwise.
    """
    gc.collect()
    gc.freeze()
