"""Answers an editor before the agent is there: importing that takes longer than starting Python.

``initialize`` and the first ``session/new`` need little of it. The rest is imported in parts, and between two parts
whatever has come is read, answered and written.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from . import identity, schema
from .peer import Peer, decoded

if TYPE_CHECKING:
    from .agent import EditorAgent

PARTS = (
    "quarterdeck.wire.messages",
    "quarterdeck.client.errors",
    "quarterdeck.timeline.events",
    "quarterdeck.timeline.answers",
    "quarterdeck.timeline",
    "quarterdeck.client.options",
    "quarterdeck.client.session_lifecycle",
    "quarterdeck.client.session",
    "quarterdeck.gateways.acp.conversation",
    "quarterdeck.gateways.acp.agent",
)
"""What the agent imports, in an order in which none takes much longer than another."""
EARLY_LIMIT = 16
"""Sessions that are answered before the agent counts them."""
_TURNS = 3
"""Of the loop, between two parts: one reads a request, one serves it, one writes the answer."""


class Usual(msgspec.Struct, frozen=True):
    """What new sessions begin with, as the command line says."""

    mode: str | None = None
    model: str | None = None
    bypass: bool = False


class Front:
    """The connection. The agent is made when its parts are imported, or when something is asked that needs it."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        make: Callable[[Peer], EditorAgent],
        *,
        draft: bool = False,
        usual: Usual | None = None,
    ) -> None:
        """
        Args:
            write: Takes lines for the editor.
            make: Makes the agent; this imports it.
            draft: An editor that asks for the draft is answered by the agent.
            usual: What sessions begin with that live in this process; None: all sessions are left to the agent.
        """
        self.peer = Peer(write, serve=self._serve, notice=self._notice)
        self._make = make
        self._draft = draft
        self._usual = usual
        self._agent: EditorAgent | None = None
        self._greeting: schema.InitializeRequest | None = None
        self._begun: list[tuple[str, schema.NewSessionRequest]] = []
        """Sessions that the editor knows of and the agent does not yet."""
        self.importing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """The editor is gone: leave sessions in a host running, end everything else."""
        if self.importing is not None:
            self.importing.cancel()
        if self._agent is not None:
            self._agent.leave()  # first: open requests there must not be answered just because nobody listens here
        await self.peer.close()
        if self._agent is not None:
            await self._agent.close()

    def make_agent(self) -> EditorAgent:
        if self._agent is None:
            self._agent = self._make(self.peer)
            if self._greeting is not None:
                self._agent.greeted(self._greeting)
            for session_id, asked in self._begun:
                self._agent.adopt(session_id, asked)
        return self._agent

    async def _import(self) -> None:
        for part in PARTS:
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if self._agent is not None:
                return
            import_module(part)
        self.make_agent()

    async def _serve(self, method: str, params: bytes) -> Any:
        if self._agent is None and not self._draft:
            if method == "initialize":
                return self._initialize(decoded(params, schema.InitializeRequest))
            if method == "session/new" and self._greeting is not None and self._usual is not None:
                asked = decoded(params, schema.NewSessionRequest)
                if asked.meta is None and len(self._begun) < EARLY_LIMIT:
                    return self._new(asked, self._usual)
        return await self.make_agent().serve(method, params)

    def _initialize(self, asked: schema.InitializeRequest) -> schema.InitializeResponse:
        self._greeting = asked
        if self.importing is None:
            self.importing = asyncio.get_running_loop().create_task(self._import())
        return identity.initialized(asked.client_capabilities or schema.ClientCapabilities())

    def _new(self, asked: schema.NewSessionRequest, usual: Usual) -> schema.NewSessionResponse:
        """Refuses what the agent would refuse. The process is started by the agent, as soon as it is there."""
        from . import config_options, content

        content.folder_of(asked.cwd)
        content.servers_of(asked.mcp_servers)
        content.system_prompt_of(asked.system_prompt)
        made = str(uuid.uuid4())
        self._begun.append((made, asked))
        return schema.NewSessionResponse(
            session_id=made,
            modes=config_options.modes_of(usual.mode, bypass=usual.bypass),
            config_options=config_options.options_of(
                None, config_options.Chosen(mode=usual.mode, model=usual.model, bypass=usual.bypass)
            ),
        )

    def _notice(self, method: str, params: bytes) -> None:
        if self._agent is not None:
            self._agent.notice(method, params)
