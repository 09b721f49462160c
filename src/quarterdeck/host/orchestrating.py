"""Manages sessions that start others: they get host tools, and their children end with them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.store.records import SessionRecord

from .actor import SessionActor
from .bodies import SessionBody
from .callbacks import OpenCalls
from .session_log import SessionLog
from .tending import Tending

if TYPE_CHECKING:
    from .host import Host

OVER = frozenset({"stopped", "crashed"})


class Orchestrating(Tending):
    """Manages parents and children."""

    def _options(self, log: SessionLog, calls: OpenCalls) -> ClaudeAgentOptions:
        options = super()._options(log, calls)
        if log.body.host_tools is not None:
            from .host_tools import SERVER, host_tools

            servers = options.mcp_servers if isinstance(options.mcp_servers, dict) else {}
            options.mcp_servers = {**servers, SERVER: host_tools(cast("Host", self), log.id)}
        return options

    async def children_of(self, session_id: str) -> list[SessionRecord]:
        """The sessions it started, most recently active first."""
        found = [await self.store.session(one) for one in self._spending.families.children(session_id)]
        return sorted((one for one in found if one is not None), key=lambda one: one.active_at, reverse=True)

    def place_for_child(self, child_id: str, parent_id: str) -> AbstractContextManager[None]:
        """Reserve a place for a child that is about to run. Raises ``HostError`` if an ancestor has too many."""
        return self._spending.families.place_for(child_id, parent_id, self._runs)

    def _runs(self, session_id: str) -> bool:
        actor = self._actors.get(session_id)  # without a process, now or soon, it needn't be loaded
        return actor is not None and (actor.has_process or actor.log.body.restart_at is not None)

    def left_of_budgets(self, session_id: str, body: SessionBody) -> Decimal | None:
        """The least that is left of its budget and its ancestors'; None if there are none."""
        return self._spending.left(session_id, body)

    def tend(self) -> None:
        """Do what is due. The host calls this itself."""
        super().tend()
        for actor in list(self._actors.values()):
            body = actor.log.body
            if not body.is_child or body.outlives_parent or actor.session is None or actor.id in self._busy:
                continue
            parent = None if body.parent_id is None else self._actors.get(body.parent_id)
            if parent is None or (parent.session is None and parent.log.body.restart_at is None):
                self._do(actor, self._end_orphan(actor))

    async def _end_orphan(self, child: SessionActor) -> None:
        """End a child without a parent. A parent that is parked or about to start counts."""
        parent_id = child.log.body.parent_id
        parent = None if parent_id is None else await self.find_session(parent_id)
        if parent is None or parent.state in OVER:
            await child.stop()
