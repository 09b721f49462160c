"""The agent: every method of the protocol that an editor may call. ``AGENT_METHODS`` of the schema is the table."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.client import transcripts
from quarterdeck.client.errors import ControlError
from quarterdeck.host.errors import HostError
from quarterdeck.timeline import Timeline

from . import content, extensions, history, identity, jsonrpc, schema
from .conversation import Conversation, EditorLink, MakeOptions
from .drawing import Drawing
from .jsonrpc import RpcError
from .peer import Peer, decoded
from .prompts import EditorPrompt
from .providers import Providers

if TYPE_CHECKING:
    from quarterdeck.host import resources as returns

    from .draft import DraftDialect
    from .hosted import HostSessions

    FindHost = Callable[[], Awaitable[HostSessions | None]]
    """The host in which sessions live, if there is one now. Raises ``RpcError`` if one must be and does not answer."""

logger = logging.getLogger(__name__)

PAGE = 100
"""Sessions on one page of ``session/list``."""
PLAN_TOOLS = "CLAUDE_CODE_ENABLE_TODO_TOOLS"
SESSIONS_LIMIT = 2_000
_HOST_CODES = {
    **dict.fromkeys(("not_found",), jsonrpc.NOT_FOUND),
    **dict.fromkeys(("invalid", "option_not_allowed", "forbidden", "conflict"), jsonrpc.INVALID_PARAMS),
    "unauthenticated": jsonrpc.AUTH_REQUIRED,
}
_WITHOUT_PROCESS = frozenset({"stopped", "crashed", "parked"})
_SHOWN_IN_DRAFT: dict[str, Any] = {
    "session": {"notices": {}, "compaction": {}},
    "plan": {},
    "_meta": {"terminal_output": True},
}


class SetSessionModelRequest(schema.Part, kw_only=True):
    """``session/set_model``, which editors of earlier versions of the protocol call."""

    session_id: str
    model_id: str


class EditorAgent:
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
        self.peer = peer
        self._link = EditorLink(self.peer, drained=drained, editor_tools=editor_tools)
        self._link.account = self._account_changed
        self._told_auth = schema.AuthStatusResponse(state="unknown", accounts=[])
        self._providers = Providers()
        self._make = make
        self._bypass = bypass
        self._logout = logout
        self._find_host = find_host
        self._sessions: dict[str, Conversation] = {}
        self._initialized = False
        self._offers_draft = draft
        self._draft: DraftDialect | None = None

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

    async def _authenticate(self, params: schema.AuthenticateRequest) -> schema.AuthenticateResponse:
        """Nothing to do: Claude Code reads its credentials at each start."""
        if params.method_id != identity.LOGIN:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no login method {params.method_id}")
        return schema.AuthenticateResponse()

    async def _log_out(self, params: schema.LogoutRequest) -> schema.LogoutResponse:
        if self._logout is None:
            raise RpcError(jsonrpc.INTERNAL_ERROR, "this agent cannot log out")
        await self._logout()
        return schema.LogoutResponse()

    async def _auth_status(self, params: schema.AuthStatusRequest) -> schema.AuthStatusResponse:
        self._told_auth = self._known_auth()
        return self._told_auth

    def _account_changed(self) -> None:
        """Report to the editor what has changed since it was last told."""
        known = self._known_auth()
        if known != self._told_auth:
            self._told_auth = known
            told = schema.AuthStatusUpdateNotification(state=known.state, accounts=known.accounts)
            self.peer.notify("auth/status_update", told)

    def _known_auth(self) -> schema.AuthStatusResponse:
        """What a running session knows; without one it is unknown."""
        for one in self._sessions.values():
            account = one.timeline.state.session.account
            if account is not None:
                label = account.email or account.organization or account.subscription or account.api_key_source
                named = schema.AuthAccount(
                    label=label or "account", active=True, email=account.email, organization=account.organization
                )
                known = bool(account.email or account.subscription or account.api_key_source not in (None, "none"))
                state = "authenticated" if known else "unauthenticated"
                return schema.AuthStatusResponse(state=state, accounts=[named] if known else [])
        return schema.AuthStatusResponse(state="unknown", accounts=[])

    async def _list_providers(self, params: schema.ListProvidersRequest) -> schema.ListProvidersResponse:
        return schema.ListProvidersResponse(providers=self._providers.listed())

    async def _set_provider(self, params: schema.SetProviderRequest) -> schema.SetProviderResponse:
        self._providers.set(params)
        return schema.SetProviderResponse()

    async def _disable_provider(self, params: schema.DisableProviderRequest) -> schema.DisableProviderResponse:
        self._providers.disable(params.provider_id)
        return schema.DisableProviderResponse()

    # Sessions

    async def _host(self) -> HostSessions | None:
        return None if self._find_host is None else await self._find_host()

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
        made.bypass, made.mode, made.model = self._bypass, first.permission_mode, first.model
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
        self._sessions[made.id] = made
        made.warm_up()
        return made

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
        return schema.NewSessionResponse(session_id=made.id, modes=made.modes(), config_options=made.config_options())

    async def _load(self, params: schema.LoadSessionRequest) -> schema.LoadSessionResponse:
        made = await self._stored(params, shown=True)
        return schema.LoadSessionResponse(modes=made.modes(), config_options=made.config_options())

    async def _resume(self, params: schema.ResumeSessionRequest) -> schema.ResumeSessionResponse:
        made = await self._stored(params, shown=False)
        return schema.ResumeSessionResponse(modes=made.modes(), config_options=made.config_options())

    async def _stored(self, params: Any, *, shown: bool) -> Conversation:
        """A stored session; ``shown``: its messages are sent before the answer, as the protocol requires."""
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
        made.mode, made.model = found.permission_mode or made.mode, found.model or made.model
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

    async def _must_be_stored(self, session_id: str, cwd: str) -> None:
        if await asyncio.to_thread(transcripts.get_session_info, session_id, cwd) is None:
            raise RpcError(jsonrpc.NOT_FOUND, f"no session {session_id} in {cwd}", {"sessionId": session_id})

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
            raise RpcError(jsonrpc.INVALID_PARAMS, "nothing was said in this session yet: there is nothing to fork")
        transcript = params.session_id if found is None else found.transcript_id
        made = await self._begin(params, resumes=transcript, forks=True)
        if source is not None:
            made.mode, made.model = source.mode, source.model
        return schema.ForkSessionResponse(session_id=made.id, modes=made.modes(), config_options=made.config_options())

    async def _list(self, params: schema.ListSessionsRequest) -> schema.ListSessionsResponse:
        offset = _offset(params.cursor)
        wanted = params.archived or "exclude"
        host = await self._host()
        living = [] if host is None else await host.listed(params.cwd, "include")
        known = {one.transcript_id for one in living}
        found = (
            [] if host is not None and not host.here else await asyncio.to_thread(transcripts.list_sessions, params.cwd)
        )
        infos = [_info(one, params.cwd) for one in found if one.session_id not in known]
        infos += [_host_info(one) for one in living]
        infos.sort(key=lambda one: one.updated_at or "", reverse=True)
        shown = [one for one in infos if wanted == "include" or bool(one.archived) is (wanted == "only")]
        page = shown[offset : offset + PAGE]
        more = str(offset + PAGE) if len(shown) > offset + PAGE else None
        return schema.ListSessionsResponse(sessions=page, next_cursor=more)

    async def _close(self, params: schema.CloseSessionRequest) -> schema.CloseSessionResponse:
        made = self._conversation(params.session_id)
        del self._sessions[made.id]
        await made.close()
        return schema.CloseSessionResponse()

    async def _delete(self, params: schema.DeleteSessionRequest) -> schema.DeleteSessionResponse:
        open_ = self._sessions.pop(params.session_id, None)
        if open_ is not None:
            await open_.close()
        host, found = await self._living(params.session_id)
        if host is not None and found is not None:
            await host.delete(found)
            return schema.DeleteSessionResponse()
        with contextlib.suppress(transcripts.SessionNotFound, ValueError):  # already gone: correct by the protocol
            await asyncio.to_thread(transcripts.delete_session, params.session_id)
        return schema.DeleteSessionResponse()

    async def _archive(self, params: schema.ArchiveSessionRequest) -> schema.ArchiveSessionResponse:
        await self._archive_it(params.session_id, transcripts.archive_session, archived=True)
        return schema.ArchiveSessionResponse()

    async def _unarchive(self, params: schema.UnarchiveSessionRequest) -> schema.UnarchiveSessionResponse:
        await self._archive_it(params.session_id, transcripts.unarchive_session, archived=False)
        return schema.UnarchiveSessionResponse()

    async def _archive_it(self, session_id: str, change: Callable[[str], Any], *, archived: bool) -> None:
        host, found = await self._living(session_id)
        if host is not None and found is not None:
            await host.archive(found.id, archived=archived)
        else:
            await self._on_disk(session_id, change)

    async def _living(self, session_id: str) -> tuple[HostSessions | None, returns.Session | None]:
        """The host's session of this id, if there is one."""
        host = await self._host()
        return host, None if host is None else await host.find(session_id)

    async def _status(self, params: schema.SessionStatusRequest) -> schema.SessionStatusResponse:
        if params.session_id in self._sessions:
            return schema.SessionStatusResponse(status="open")
        _, found = await self._living(params.session_id)
        if found is not None:
            return schema.SessionStatusResponse(status="saved" if found.state in _WITHOUT_PROCESS else "open")
        await self._on_disk(params.session_id, _must_exist)
        return schema.SessionStatusResponse(status="saved")

    async def _set_title(self, params: schema.SetSessionTitleRequest) -> schema.SetSessionTitleResponse:
        title = params.title.strip()
        if not title:
            raise RpcError(jsonrpc.INVALID_PARAMS, "invalid parameters: the title is empty")
        host, found = await self._living(params.session_id)
        if host is not None and found is not None:
            await host.rename(found.id, title)
        else:
            await self._on_disk(params.session_id, lambda id_: transcripts.rename_session(id_, title))
        made = self._sessions.get(params.session_id)
        if made is not None:
            made.update(schema.SessionUpdateSessionInfoUpdate(title=title))
        return schema.SetSessionTitleResponse(title=title)

    async def _on_disk(self, session_id: str, change: Callable[[str], Any]) -> None:
        try:
            await asyncio.to_thread(change, session_id)
        except ValueError as error:  # not an id at all
            raise RpcError(jsonrpc.NOT_FOUND, str(error), {"sessionId": session_id}) from error

    # One session

    async def _prompt(self, params: schema.PromptRequest) -> schema.PromptResponse:
        made = self._conversation(params.session_id)
        steers = ((params.meta or {}).get("quarterdeck") or {}).get("steer") is True
        done = await made.say(EditorPrompt(str(uuid.uuid4()), content.blocks_of(params.prompt)), steers=steers)
        told: dict[str, Any] = {"promptId": done.id}
        if done.turn is not None and done.turn.structured_output is not None:
            told["structuredOutput"] = done.turn.structured_output
        return schema.PromptResponse(stop_reason=done.stop_reason, usage=done.usage(), meta={"quarterdeck": told})

    async def _set_mode(self, params: schema.SetSessionModeRequest) -> schema.SetSessionModeResponse:
        await self._conversation(params.session_id).set_mode(params.mode_id)
        return schema.SetSessionModeResponse()

    async def _set_model(self, params: SetSessionModelRequest) -> dict[str, Any]:
        made = self._conversation(params.session_id)
        await made.set_model(params.model_id)
        made.update(schema.SessionUpdateConfigOptionUpdate(config_options=made.config_options()))
        return {}

    async def _set_config_option(
        self, params: schema.SetSessionConfigOptionRequest
    ) -> schema.SetSessionConfigOptionResponse:
        made = self._conversation(params.session_id)
        setters = {"mode": made.set_mode, "model": made.set_model, "effort": made.set_effort}
        setter = setters.get(params.config_id)
        if setter is None or not isinstance(params.value, str):
            raise RpcError(jsonrpc.INVALID_PARAMS, f"no option {params.config_id} has this value")
        await setter(params.value)
        return schema.SetSessionConfigOptionResponse(config_options=made.config_options())


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


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise RpcError(jsonrpc.INVALID_PARAMS, "this cursor is not one of ours")
    return int(cursor)


def _info(one: Any, cwd: str | None) -> schema.SessionInfo:
    from datetime import UTC, datetime

    updated = datetime.fromtimestamp(one.last_modified / 1000, UTC).isoformat(timespec="milliseconds")
    return schema.SessionInfo(
        session_id=one.session_id,
        cwd=one.cwd or cwd or "/",
        title=one.summary or None,
        updated_at=updated.replace("+00:00", "Z"),
        archived=one.archived,
    )


def _host_info(one: returns.Session) -> schema.SessionInfo:
    updated = one.last_activity_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    told = {"quarterdeck": {"host": {"state": one.state, "pendingApprovals": one.pending_approvals}}}
    return schema.SessionInfo(
        session_id=one.id,
        cwd=one.cwd,
        title=one.name or None,
        updated_at=updated,
        archived=one.archived or None,
        meta=told,
    )


def _must_exist(session_id: str) -> None:
    if transcripts.get_session_info(session_id) is None:
        raise transcripts.SessionNotFound(session_id, None)
