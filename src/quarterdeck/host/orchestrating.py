"""Manages sessions that start others: they get host tools, their children never have a more permissive mode, and end
with them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.store.records import SessionRecord

from .actor import SessionActor
from .bodies import SessionBody
from .callbacks import OpenCalls
from .callers import Caller
from .errors import HostError
from .modes import mode_of
from .requests import UpdateSession
from .session_log import SessionLog
from .tending import Tending

if TYPE_CHECKING:
    from .host import Host

logger = logging.getLogger("quarterdeck.host")

OVER = frozenset({"stopped", "crashed"})
LOWERING = Caller(name="host", via="host_tools")
"""Who lowers the mode of a child."""


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

    # Modes

    async def lower_mode(self, session_id: str) -> None:
        """Give a session the mode that its ancestors allow, if its own is more permissive."""
        await self._lower(await self._actor(session_id))

    def _allowed_mode(self, actor: SessionActor) -> str | None:
        """The mode that it must get; None if its own is strict enough."""
        own = mode_of(actor.log.body)
        allowed = self._spending.families.mode_of_elders(actor.log.body, own)
        return None if allowed == own else allowed

    async def _lower(self, actor: SessionActor) -> None:
        """A process that doesn't take the mode is ended."""
        mode = self._allowed_mode(actor)
        if mode is None:
            return
        lowered = UpdateSession(session_id=actor.id, permission_mode=mode)
        try:
            await cast("Host", self).update_session(lowered, LOWERING)
        except HostError as error:
            if actor.session is not None:
                logger.warning("Session %s is ended, because its mode cannot be lowered: %s", actor.id, error)
                await actor.stop()

    async def _mode_was_set(self, actor: SessionActor) -> None:
        await super()._mode_was_set(actor)
        families = self._spending.families
        families.note(actor.id, actor.log.body)
        below = [self._actors.get(one) for one in families.below(actor.id)]
        await asyncio.gather(*(self._lower(one) for one in below if one is not None and one.session is not None))

    def _unloaded(self, actor: SessionActor) -> None:
        super()._unloaded(actor)
        self._spending.families.note(actor.id, actor.log.body)

    def _admit_process(self, actor: SessionActor) -> None:
        super()._admit_process(actor)
        mode = self._allowed_mode(actor)
        if mode is not None:
            actor.log.body.chosen = {**actor.log.body.chosen, "permission_mode": mode}

    def tend(self) -> None:
        """Do what is due. The host calls this itself."""
        super().tend()
        for actor in self._actors.values():
            if actor.log.body.host_tools is not None:
                self._spending.families.note(actor.id, actor.log.body)
        for actor in list(self._actors.values()):
            body = actor.log.body
            if not body.is_child or actor.session is None or actor.id in self._busy:
                continue
            if self._allowed_mode(actor) is not None:
                self._do(actor, self._lower(actor))
                continue
            if body.outlives_parent:
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
