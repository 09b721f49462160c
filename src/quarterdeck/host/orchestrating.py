"""Sessions that start others: they get their tools, and their children end with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from quarterdeck.client.options import ClaudeAgentOptions

from .actor import SessionActor
from .callbacks import CallDesk
from .session_log import SessionLog
from .tending import Tending

if TYPE_CHECKING:
    from .host import Host

OVER = frozenset({"stopped", "crashed"})


class Orchestrating(Tending):
    """Looks after parents and children."""

    def _options(self, log: SessionLog, calls: CallDesk) -> ClaudeAgentOptions:
        options = super()._options(log, calls)
        if log.body.host_tools is not None:
            from .host_tools import SERVER, host_tools

            servers = options.mcp_servers if isinstance(options.mcp_servers, dict) else {}
            options.mcp_servers = {**servers, SERVER: host_tools(cast("Host", self), log.id)}
        return options

    def tend(self) -> None:
        """Start what is due. The host calls this itself."""
        super().tend()
        for actor in list(self._actors.values()):
            body = actor.log.body
            if not body.is_child or body.outlives_parent or actor.session is None or actor.id in self._busy:
                continue
            parent = None if body.parent_id is None else self._actors.get(body.parent_id)
            if parent is None or (parent.session is None and parent.log.body.restart_at is None):
                self._do(actor, self._end_orphan(actor))

    async def _end_orphan(self, child: SessionActor) -> None:
        """A parent that is parked, or about to be started, is still there."""
        parent_id = child.log.body.parent_id
        parent = None if parent_id is None else await self.find_session(parent_id)
        if parent is None or parent.state in OVER:
            await child.stop()
