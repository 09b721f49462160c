"""The way from a session to the editor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from quarterdeck.timeline import events

from . import schema
from .drawing import Audience
from .peer import Peer

if TYPE_CHECKING:
    from .conversation import Conversation


class EditorLink:
    """The way to the editor, and what it said of itself."""

    def __init__(
        self,
        peer: Peer,
        *,
        drained: Callable[[], asyncio.Future[None] | None] = lambda: None,
        editor_tools: bool = True,
    ) -> None:
        """``editor_tools``: use the editor's files and terminals, where it offers them."""
        self.peer = peer
        self.drained = drained
        self.editor_tools = editor_tools
        self.capabilities = schema.ClientCapabilities()
        self.turn: Callable[[str, events.TurnStarted | events.TurnEnded], None] = lambda session_id, event: None
        """Called when a turn starts or ends, including those that Claude Code starts itself."""
        self.account: Callable[[], None] = lambda: None
        """Called when a session has learned who is logged in."""
        self.learned: Callable[[Conversation], None] = lambda made: None
        """Called when a session has learned what is the same for others in its folder."""

    @property
    def has_switches(self) -> bool:
        """Options may be switches."""
        offered = self.capabilities.session.config_options if self.capabilities.session is not None else None
        return offered is not None and offered.boolean is not None

    @property
    def audience(self) -> Audience:
        return Audience.of(self.capabilities)
