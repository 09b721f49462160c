"""Answers ``initialize`` before the agent is loaded: importing it takes longer than starting Python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import identity, schema
from .peer import Peer, decoded

if TYPE_CHECKING:
    from .agent import Agent


class Front:
    """The connection. The agent is made right after the first answer is written, or when something else is asked."""

    def __init__(self, write: Callable[[bytes], None], make: Callable[[Peer], Agent], *, draft: bool = False) -> None:
        """``draft``: an editor that asks for the draft is answered by the agent."""
        self.peer = Peer(write, serve=self._serve, notice=self._notice)
        self._make = make
        self._draft = draft
        self._agent: Agent | None = None
        self._greeting: schema.InitializeRequest | None = None

    async def close(self) -> None:
        """The editor is gone: leave sessions in a host running, end everything else."""
        if self._agent is not None:
            self._agent.leave()  # first: open requests there must not be answered just because nobody listens here
        await self.peer.close()
        if self._agent is not None:
            await self._agent.close()

    def _made(self) -> Agent:
        if self._agent is None:
            self._agent = self._make(self.peer)
            if self._greeting is not None:
                self._agent.greeted(self._greeting)
        return self._agent

    async def _serve(self, method: str, params: bytes) -> Any:
        if method == "initialize" and self._agent is None and not self._draft:
            asked = decoded(params, schema.InitializeRequest)
            self._greeting = asked
            asyncio.get_running_loop().call_later(0, self._made)  # later than the answer is written
            return identity.initialized(asked.client_capabilities or schema.ClientCapabilities())
        return await self._made().serve(method, params)

    def _notice(self, method: str, params: bytes) -> None:
        if self._agent is not None:
            self._agent.notice(method, params)
