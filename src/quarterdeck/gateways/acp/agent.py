"""The agent: every method of the protocol that an editor may call. ``AGENT_METHODS`` of the schema is the table."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import msgspec

from quarterdeck.client import transcripts
from quarterdeck.client.errors import ControlError
from quarterdeck.host.errors import HostError
from quarterdeck.timeline import Timeline

from . import content, extensions, history, identity, jsonrpc, schema
from .account import EditorAccount
from .config_options import Chosen
from .conversation import Conversation, MakeOptions
from .drawing import Drawing
from .editor_link import EditorLink
from .jsonrpc import RpcError
from .peer import Peer, decoded
from .prompts import EditorPrompt

if TYPE_CHECKING:
    from quarterdeck.host import resources as returns

    from .draft import DraftDialect
    from .hosted import HostSessions
    from .kept_sessions import FindHost

logger = logging.getLogger(__name__)

PLAN_TOOLS = "CLAUDE_CODE_ENABLE_TODO_TOOLS"
SESSIONS_LIMIT = 2_000
_HOST_CODES = {
    **dict.fromkeys(("not_found",), jsonrpc.NOT_FOUND),
    **dict.fromkeys(("invalid", "option_not_allowed", "forbidden", "conflict"), jsonrpc.INVALID_PARAMS),
    "unauthenticated": jsonrpc.AUTH_REQUIRED,
}
_SHOWN_IN_DRAFT: dict[str, Any] = {
    "session": {"notices": {}, "compaction": {}},
    "plan": {},
    "_meta": {"terminal_output": True},
}


class SetSessionModelRequest(schema.Part, kw_only=True):
    """``session/set_model``, which editors of earlier versions of the protocol call."""

    session_id: str
    model_id: str


class EditorAgent(EditorAccount):
    """Serves one editor."""

    def __init__(
        self,
        peer: Peer,
        make: MakeOptions,
        *,
        drained: Callable[[], asyncio.Future[None] | None] = lambda: None,
        bypass: bool = False,
        logout: Callable[[], Awaitable[None]] | None = None,
        editor_tools: bool = True,
        draft: bool = False,
        find_host: FindHost | None = None,
    ) -> None:
        """``make`` makes the options of a process from what differs between processes; ``logout`` forgets the login.

        ``draft``: speak the draft of version 2 with an editor that asks for it. ``find_host``: where sessions live,
        if not in this process.
        """
        super().__init__(peer, find_host, logout)
        self._link = EditorLink(self.peer, drained=drained, editor_tools=editor_tools)
        self._link.account = self._account_changed
        self._link.learned = self._share
        self._make = make
        self._bypass = bypass
        self._initialized = False
        self._offers_draft = draft
        self._draft: DraftDialect | None = None
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """For sessions that are being loaded, by id."""

    def leave(self) -> None:
        """The editor is gone: sessions in a host are left to it before anything else ends."""
        for one in self._sessions.values():
            one.leave()

    async def close(self) -> None:
        """End everything else."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(one.close() for one in sessions), return_exceptions=True)
        hosts = {id(one.host): one.host for one in sessions if one.host is not None}
        await asyncio.gather(*(host.close() for host in hosts.values()), return_exceptions=True)

    # The table

    async def serve(self, method: str, params: bytes) -> Any:
        if method == "initialize" and self._offers_draft:
            asked = decoded(params, dict[str, Any])
            version = asked.get("protocolVersion")
            if isinstance(version, int) and version >= identity.DRAFT_VERSION:
                return await self._initialize_draft(asked)
        if self._draft is not None and method != "initialize":
            return await self._draft.serve(method, params)
        return await self._serve_first(method, params)

    async def _serve_first(self, method: str, params: bytes) -> Any:
        """Version 1."""
        if method.startswith("_"):
            return await extensions.serve(method, params, self._conversation)
        handler = METHODS.get(method)
        if handler is None:
            raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"there is no method {method}", {"method": method})
        if not self._initialized and method != "initialize":
            raise RpcError(jsonrpc.INVALID_REQUEST, "call initialize first")
        kind = SetSessionModelRequest if method == "session/set_model" else schema.AGENT_METHODS[method]
        try:
            return await handler(self, decoded(params, kind))
        except transcripts.SessionNotFound as error:
            raise RpcError(jsonrpc.NOT_FOUND, str(error)) from error
        except ControlError as error:
            raise RpcError(jsonrpc.INVALID_PARAMS, str(error)) from error
        except HostError as error:
            raise RpcError(_HOST_CODES.get(error.code, jsonrpc.INTERNAL_ERROR), str(error)) from error

    def notice(self, method: str, params: bytes) -> None:
        if method == "session/cancel":
            found = self._sessions.get(decoded(params, schema.CancelNotification).session_id)
            if found is not None:
                found.cancel()

    def _conversation(self, session_id: str) -> Conversation:
        found = self._sessions.get(session_id)
        if found is None:
            raise RpcError(jsonrpc.NOT_FOUND, f"no session {session_id} is open", {"sessionId": session_id})
        return found

    # The connection

    def greeted(self, params: schema.InitializeRequest) -> None:
        """``initialize`` has been answered."""
        self._initialized = True
        self._link.capabilities = params.client_capabilities or schema.ClientCapabilities()

    async def _initialize(self, params: schema.InitializeRequest) -> schema.InitializeResponse:
        self.greeted(params)
        return identity.initialized(self._link.capabilities)

    async def _initialize_draft(self, asked: dict[str, Any]) -> Any:
        """In the draft every editor shows notices, compactions, plans and the output of commands."""
        given = {**(asked.get("capabilities") or {}), **_SHOWN_IN_DRAFT}
        first = {"protocolVersion": identity.PROTOCOL_VERSION, "clientCapabilities": given}
        from . import draft_frames
        from .draft import DraftDialect

        answer = await self._serve_first("initialize", msgspec.json.encode(first))
        self._draft = DraftDialect(self.peer, self._serve_first, self._conversation)
        self.peer.dialect, self._link.turn = self._draft, self._draft.turn
        return draft_frames.initialized(msgspec.to_builtins(answer))

    # Sessions

    def _make_session(self, params: Any, session_id: str, **more: Any) -> Conversation:
        """``more``: what a ``Conversation`` takes."""
        if len(self._sessions) >= SESSIONS_LIMIT:
            raise RpcError(jsonrpc.INTERNAL_ERROR, f"{SESSIONS_LIMIT:,} sessions are open; close some")
        cwd = content.folder_of(params.cwd)
        options: dict[str, Any] = {
            **content.options_of(params.meta),
            "cwd": cwd,
            "add_dirs": list(params.additional_directories or ()),
            "mcp_servers": content.servers_of(params.mcp_servers),
            "system_prompt": content.system_prompt_of(params.system_prompt),
            "allow_dangerously_skip_permissions": self._bypass,
        }

        def make(**more: Any) -> Any:
            try:
                return self._make(**{**options, **more}, env={**_plan_tools(), **self._providers.environment()})
            except (TypeError, ValueError) as error:
                raise RpcError(jsonrpc.INVALID_PARAMS, f"_meta.claudeCode.options: {error}") from error

        first = make()  # report an invalid option now, not at the first prompt
        made = Conversation(self._link, session_id, make, cwd=cwd, **more)
        made.settings.chosen = Chosen(
            mode=first.permission_mode, model=first.model, agent=first.agent, bypass=self._bypass
        )
        return made

    async def _begin(self, params: Any, session_id: str | None = None, **more: Any) -> Conversation:
        """Start a session, in the host if there is one; without an id, under a new one."""
        host = await self._host()
        if host is not None:
            made = self._make_session(params, session_id or "", host=host, **more)
            try:
                await made.session()
            except HostError as error:
                if host.required or error.code != "unavailable":
                    raise
                logger.warning("The host does not answer, so the session runs in this process: %s", error)
            else:
                self._sessions[made.id] = made
                return made
        made = self._make_session(params, session_id or str(uuid.uuid4()), **more)
        beside = self._beside(made)
        self._sessions[made.id] = made
        if made.resumes is None or made.forks or not beside:
            made.warm_up()
        else:  # it may never be continued, and what an editor wants to know of it now, the others know
            for one in beside:
                if one.settings.known:
                    made.borrow(one.settings.details)
                    break
        return made

    def _beside(self, made: Conversation) -> list[Conversation]:
        """Other sessions in its folder that know which commands and models there are, or will."""
        return [
            one for one in self._sessions.values() if one.cwd == made.cwd and one is not made and one.details_expected
        ]

    def _share(self, made: Conversation) -> None:
        for one in self._sessions.values():
            if one.cwd == made.cwd and one is not made:
                one.borrow(made.settings.details)

    def adopt(self, session_id: str, params: schema.NewSessionRequest) -> None:
        """A session that the editor was told of before this agent was there."""
        try:
            made = self._make_session(params, session_id)
        except RpcError as error:  # its folder has gone meanwhile
            logger.warning("Session %s cannot begin: %s", session_id, error)
        else:
            self._sessions[session_id] = made
            made.warm_up()

    async def _new(self, params: schema.NewSessionRequest) -> schema.NewSessionResponse:
        made = await self._begin(params)
        return schema.NewSessionResponse(
            session_id=made.id, modes=made.settings.modes(), config_options=made.settings.options()
        )

    async def _load(self, params: schema.LoadSessionRequest) -> schema.LoadSessionResponse:
        made = await self._stored(params, shown=True)
        return schema.LoadSessionResponse(modes=made.settings.modes(), config_options=made.settings.options())

    async def _resume(self, params: schema.ResumeSessionRequest) -> schema.ResumeSessionResponse:
        made = await self._stored(params, shown=False)
        return schema.ResumeSessionResponse(modes=made.settings.modes(), config_options=made.settings.options())

    async def _stored(self, params: Any, *, shown: bool) -> Conversation:
        """A stored session; ``shown``: its messages are sent before the answer, as the protocol requires."""
        lock = self._opening.setdefault(params.session_id, asyncio.Lock())
        async with lock:  # whoever asks for it a second time finds it open
            return await self._open_stored(params, shown=shown)

    async def _open_stored(self, params: Any, *, shown: bool) -> Conversation:
        open_ = self._sessions.get(params.session_id)
        if open_ is not None:
            if shown:
                await self._replay(open_)
            return open_
        cwd = content.folder_of(params.cwd)
        host = await self._host()
        found = None if host is None else await host.find(params.session_id)
        if host is not None and found is not None:
            return await self._take_up(params, host, found, shown=shown)
        await self._must_be_stored(params.session_id, cwd)
        made = await self._begin(params, params.session_id, resumes=params.session_id)
        if shown:
            await self._replay(made)
        return made

    async def _take_up(self, params: Any, host: HostSessions, found: returns.Session, *, shown: bool) -> Conversation:
        """A session of the host, as it is now."""
        made = self._make_session(params, params.session_id, host=host, host_id=found.id)
        chosen = made.settings.chosen
        chosen.mode, chosen.model = found.permission_mode or chosen.mode, found.model or chosen.model
        self._sessions[made.id] = made
        try:
            if shown:
                await self._replay_older(made, found.transcript_id)
            await made.take_up(shown=shown)
        except BaseException:
            self._sessions.pop(made.id, None)
            made.leave()
            raise
        return made

    async def _replay(self, made: Conversation) -> None:
        """The messages of a session that is open here."""
        timeline = Timeline()
        drawing = Drawing(made.update, timeline, audience=self._link.audience, cwd=made.cwd, history=True)
        if made.host is None or made.host_id is None:
            for happened in history.replay(timeline, made.id, made.cwd):
                drawing.draw(happened)
            return
        found = await made.host.find(made.host_id)
        await self._replay_older(made, (found and found.transcript_id) or made.resumes)
        async for direction, message, at in made.host.log(made.host_id):
            drawing.draw(timeline.take(direction, message, at=at))

    async def _replay_older(self, made: Conversation, transcript: str | None) -> None:
        """Messages from before the host had the session: they are in its transcript, not in the host's log."""
        host = made.host
        if host is None or made.host_id is None or transcript is None or not host.here:
            return
        first = await asyncio.to_thread(history.first_uuid, transcript, made.cwd)
        known: set[str | None] = set()
        async for _, message, _ in host.log(made.host_id):
            known.add(getattr(message, "uuid", None))
            if first in known:
                return
        timeline = Timeline()
        drawing = Drawing(made.update, timeline, audience=self._link.audience, cwd=made.cwd, history=True)
        with contextlib.suppress(transcripts.SessionNotFound):
            for happened in history.replay(timeline, transcript, made.cwd, until=known):
                drawing.draw(happened)

    async def _fork(self, params: schema.ForkSessionRequest) -> schema.ForkSessionResponse:
        cwd = content.folder_of(params.cwd)
        source = self._sessions.get(params.session_id)
        host = await self._host()
        found = None if host is None else await host.find(params.session_id)
        if found is None:
            await self._must_be_stored(params.session_id, cwd)
        elif found.transcript_id is None:
            raise RpcError(jsonrpc.INVALID_PARAMS, "nothing to fork: this session has no messages yet")
        transcript = params.session_id if found is None else found.transcript_id
        made = await self._begin(params, resumes=transcript, forks=True)
        if source is not None:
            chosen, own = source.settings.chosen, made.settings.chosen
            own.mode, own.model, own.effort = chosen.mode, chosen.model, chosen.effort
        return schema.ForkSessionResponse(
            session_id=made.id, modes=made.settings.modes(), config_options=made.settings.options()
        )

    async def _close(self, params: schema.CloseSessionRequest) -> schema.CloseSessionResponse:
        made = self._conversation(params.session_id)
        del self._sessions[made.id]
        await made.close()
        return schema.CloseSessionResponse()

    # One session

    async def _prompt(self, params: schema.PromptRequest) -> schema.PromptResponse:
        made = self._conversation(params.session_id)
        prompt = EditorPrompt(str(uuid.uuid4()), content.blocks_of(params.prompt))
        done = await made.say(prompt, steers=content.steers(params.meta))
        told: dict[str, Any] = {"promptId": done.id}
        if done.turn is not None and done.turn.structured_output is not None:
            told["structuredOutput"] = done.turn.structured_output
        return schema.PromptResponse(stop_reason=done.stop_reason, usage=done.usage(), meta={"quarterdeck": told})

    async def _set_mode(self, params: schema.SetSessionModeRequest) -> schema.SetSessionModeResponse:
        await self._conversation(params.session_id).settings.set_mode(params.mode_id)
        return schema.SetSessionModeResponse()

    async def _set_model(self, params: SetSessionModelRequest) -> dict[str, Any]:
        made = self._conversation(params.session_id)
        await made.settings.set_model(params.model_id)
        made.tell_options()
        return {}

    async def _set_config_option(
        self, params: schema.SetSessionConfigOptionRequest
    ) -> schema.SetSessionConfigOptionResponse:
        settings = self._conversation(params.session_id).settings
        await settings.set(params.config_id, params.value)
        return schema.SetSessionConfigOptionResponse(config_options=settings.options())


METHODS: dict[str, Callable[[EditorAgent, Any], Awaitable[Any]]] = {
    "initialize": EditorAgent._initialize,
    "authenticate": EditorAgent._authenticate,
    "logout": EditorAgent._log_out,
    "auth/status": EditorAgent._auth_status,
    "providers/list": EditorAgent._list_providers,
    "providers/set": EditorAgent._set_provider,
    "providers/disable": EditorAgent._disable_provider,
    "session/new": EditorAgent._new,
    "session/load": EditorAgent._load,
    "session/resume": EditorAgent._resume,
    "session/fork": EditorAgent._fork,
    "session/list": EditorAgent._list,
    "session/close": EditorAgent._close,
    "session/delete": EditorAgent._delete,
    "session/archive": EditorAgent._archive,
    "session/unarchive": EditorAgent._unarchive,
    "session/status": EditorAgent._status,
    "session/set_title": EditorAgent._set_title,
    "session/prompt": EditorAgent._prompt,
    "session/set_mode": EditorAgent._set_mode,
    "session/set_model": EditorAgent._set_model,
    "session/set_config_option": EditorAgent._set_config_option,
}

NOT_SERVED: dict[str, str] = {
    "session/cancel": "a notification",
    "$/cancel_request": "a notification, served by the peer",
}
"""Methods of the schema without a handler, and why."""


def _plan_tools() -> dict[str, str]:
    """2.1.325 leaves the task tools out when it has no terminal; in an editor they are the plan."""
    return {} if PLAN_TOOLS in os.environ else {PLAN_TOOLS: "1"}
