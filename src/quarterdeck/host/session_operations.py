"""Operations on sessions: start, find, change, stop, resume, fork, delete."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import UNSET

from quarterdeck.client import Session
from quarterdeck.store import Commit
from quarterdeck.store.commits import AddAudit, Change, PutSession
from quarterdeck.store.queries import SessionQuery
from quarterdeck.store.records import AuditRecord, SessionRecord
from quarterdeck.store.text import is_keepable
from quarterdeck.timeline.items import Prompt, Said
from quarterdeck.wire.permissions import PermissionMode

from . import requests as takes
from . import resources as returns
from .actor import SessionActor
from .bodies import SessionBody, encode_body
from .budgets import check_budget
from .callers import PROGRAM, Caller
from .errors import HostError
from .events import BudgetChanged
from .folders import as_path, is_below
from .git import starting_point, with_git
from .host_tools import check_host_tools
from .idempotency import id_for, once, receipt_for
from .inheriting import check_folder_of_child, inherited_options
from .launching import SIMULATED, check_options, split_options
from .lifetimes import life_of
from .loading import CALLBACKS
from .policies import own_policy
from .presets import PresetOperations
from .remote_callbacks import check_callbacks
from .scopes import sees
from .times import usd
from .worktrees import new_worktree, take_back


class SessionOperations(PresetOperations):
    """Operations on sessions."""

    @once
    async def create_session(
        self, request: takes.CreateSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Session:
        """Start a session, or resume or fork one."""
        check_options(request.options, admin=caller.scope == "admin")
        _check_mode(request.permission_mode)
        check_budget(request.budget_usd, "budget_usd")
        if request.agent not in ("claude", "sim") and request.agent not in self._agents:
            if caller.scope != "admin" and caller.session_id is None:  # a child has the agent of its parent
                raise HostError("option_not_allowed", "A path as agent requires the scope admin.", field="agent")
            as_path(request.agent, "agent")
        if request.callbacks is not None:
            check_callbacks(request.callbacks, request.options)
        if request.host_tools is not None:
            check_host_tools(request.host_tools)
        request = await self._with_preset(request, caller)
        lifecycle = request.lifecycle or takes.Lifecycle()
        life_of(self._lifecycle, lifecycle)
        self._accounts.check(request.account)
        own_policy(request.policy)
        cwd = self.folders.check(request.cwd)
        session_id = id_for("create_session", request, caller, key)
        if key is not None and await self.store.session(session_id) is not None:
            actor = await self._actor(session_id)  # created before a crash
        else:
            actor = await self._make_session(session_id, cwd, request, lifecycle, caller, again=key is not None)
        prompt_id = id_for("create_session: prompt", request, caller, key)
        is_to_be_sent = request.prompt is not None and not actor.prompts.knows(prompt_id)
        if not actor.log.body.generation or (is_to_be_sent and actor.session is None):
            await self._start_new(actor)
        if request.prompt is not None and is_to_be_sent:
            await actor.prompts.say(request.prompt, sender=caller.name, prompt_id=prompt_id)
        return await self._view(actor)

    async def _make_session(
        self,
        session_id: str,
        cwd: str,
        request: takes.CreateSession,
        lifecycle: takes.Lifecycle,
        caller: Caller,
        *,
        again: bool,
    ) -> SessionActor:
        """Create the requested session, without a process. If that fails, its new worktree is removed."""
        if request.worktree is None:
            return await self._make_session_in(cwd, session_id, request, lifecycle, caller)
        await self._admit_session()
        may_use, name = self._may_use(caller), request.worktree
        made = await with_git(new_worktree, may_use, cwd, name, field="worktree", again=again)
        try:
            return await self._make_session_in(made.shown["path"], session_id, request, lifecycle, caller)
        except Exception:
            if made.is_new and await self.store.session(session_id) is None:
                await with_git(take_back, made.top, Path(made.shown["path"]), name)
            raise

    async def _make_session_in(
        self, cwd: str, session_id: str, request: takes.CreateSession, lifecycle: takes.Lifecycle, caller: Caller
    ) -> SessionActor:
        public, private = split_options(request.options)
        if request.callbacks is not None:
            private[CALLBACKS] = msgspec.to_builtins(request.callbacks)
        folders_above: list[str] = []
        if caller.session_id is not None:
            public, private, folders_above = await self._inherited(caller.session_id, cwd)
        body = SessionBody(
            agent=SIMULATED if self._agents.get(request.agent) == SIMULATED else request.agent,
            model=request.model,
            permission_mode=request.permission_mode,
            options=public,
            private_options=list(private),
            policy=msgspec.to_builtins(own_policy(request.policy)),
            budget_usd=None if request.budget_usd is None else str(request.budget_usd),
            resume=request.resume,
            fork=request.fork,
            account=request.account,
            cli_pin=request.cli_version,
            lifecycle=lifecycle,
            worktree=None if request.worktree is None else cwd,
            host_tools=request.host_tools,
            parent_id=caller.session_id,
            is_child=caller.session_id is not None,
            outlives_parent=caller.children_outlive,
            folders_above=folders_above,
        )
        await asyncio.to_thread(self._private.keep, session_id, private)
        actor = await self._new_session(session_id, cwd, body, caller, request.name, request.tags)
        if request.budget_usd is not None:
            await self._set_budget(actor, request.budget_usd)
        return actor

    async def _inherited(self, parent_id: str, cwd: str) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """What a child in this folder gets from its parent: options, private ones, and the folders above it."""
        parent = (await self._actor(parent_id)).log
        if not is_below(cwd, [parent.record.cwd]):  # also if a folder was replaced by a link meanwhile
            raise HostError("folder_not_allowed", f"{cwd} is outside {parent.record.cwd}.", field="cwd")
        private = await asyncio.to_thread(self._private.of, parent_id, parent.body.private_options)
        public, private = split_options(inherited_options({**parent.body.options, **private}, parent.record.cwd))
        above = dict.fromkeys((*parent.body.folders_above, parent.record.cwd))
        if cwd != parent.record.cwd:
            for folder in above:
                await asyncio.to_thread(check_folder_of_child, folder, {**public, **private})
        return public, private, [folder for folder in above if folder != cwd]

    def _may_use(self, caller: Caller) -> Callable[[Path], bool]:
        """A check for the folders that this caller may use."""
        return lambda folder: self.folders.allows(folder) and sees(caller, str(folder))

    async def _new_session(
        self,
        session_id: str,
        cwd: str,
        body: SessionBody,
        caller: Caller,
        name: str = "",
        tags: list[str] | None = None,
    ) -> SessionActor:
        """Write a new session to the log, without a process."""
        await self._admit_session()
        now = self._clock()
        body.state_since = now
        body.base_commit = await with_git(starting_point, cwd)
        record = SessionRecord(
            id=session_id,
            state="starting",
            cwd=cwd,
            created_at=now,
            active_at=now,
            name=name,
            tags=tuple(tags or ()),
            body=encode_body(body),
        )
        changes: list[Change] = [PutSession(record), self._audit("create_session", caller, session_id)]
        await self.store.commit(Commit(session=session_id, changes=changes, owner=self.name))
        self.bell.ring()
        return await self._load(session_id)

    async def _start_new(self, actor: SessionActor) -> None:
        try:
            await actor.start()
        except HostError:
            if not actor.log.body.generation:
                await actor.log.append([])
            raise

    async def _admit_session(self) -> None:
        limit = self.limits.sessions
        if limit is None:
            return
        page = await self.store.sessions(SessionQuery(limit=limit + 1))
        if len(page.sessions) >= limit:
            raise HostError(
                "busy",
                f"There are {limit} sessions, the most that this host allows.",
                hint="Archive or delete one first.",
                limit="sessions",
            )

    def _audit(self, operation: str, caller: Caller, session_id: str | None, **details: Any) -> AddAudit:
        return AddAudit(
            AuditRecord(
                at=self._clock(),
                who=caller.name,
                operation=operation,
                via=caller.via,
                session=session_id,
                body=msgspec.json.encode(details) if details else b"",
            )
        )

    async def list_sessions(self, request: takes.ListSessions, caller: Caller = PROGRAM) -> returns.SessionList:
        """Find sessions."""
        page = await self.store.sessions(
            SessionQuery(
                states=request.state,
                tags=request.tag,
                text=request.q,
                cwd=request.cwd,
                archived=request.archived,
                limit=request.limit,
                cursor=request.cursor,
            )
        )
        views = [await self._record_view(record) for record in page.sessions]
        return returns.SessionList(sessions=views, next_cursor=page.next_cursor)

    async def get_session(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Session:
        """One session."""
        return await self._view(await self._actor(request.session_id))

    @once
    async def update_session(
        self, request: takes.UpdateSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Session:
        """Rename, tag or archive a session; change its model, mode or budget, also in a running process."""
        actor = await self._actor(request.session_id)
        if request.permission_mode is not UNSET:
            _check_mode(request.permission_mode)
            self._spending.families.check_mode(actor.log.body, request.permission_mode)
        if isinstance(request.max_thinking_tokens, int) and request.max_thinking_tokens < 0:
            raise HostError("invalid", "max_thinking_tokens must be 0 or more.", field="max_thinking_tokens")
        if request.budget_usd is not UNSET:
            check_budget(request.budget_usd, "budget_usd")
        _check_labels(request)
        if request.archived is True and actor.session is not None:
            raise HostError("conflict", "A session with a process cannot be archived.", hint="Stop it first.")
        await self._change_process(actor, request)
        log, fields = actor.log, _given(request, "name", "archived")
        if request.tags is not UNSET:
            fields["tags"] = tuple(request.tags)
        if request.lifecycle is not UNSET:
            life_of(self._lifecycle, actor.log.body.lifecycle, request.lifecycle)
            said = _given(request.lifecycle, *request.lifecycle.__struct_fields__)
            actor.log.body.lifecycle = msgspec.structs.replace(actor.log.body.lifecycle, **said)
        await log.update(**fields)
        if request.budget_usd is not UNSET:
            await self._set_budget(actor, request.budget_usd)
        if request.permission_mode is not UNSET:
            await self._mode_was_set(actor)
        return await self._view(actor)

    async def _change_process(self, actor: SessionActor, request: takes.UpdateSession) -> None:
        body = actor.log.body
        model, mode, thinking = request.model, request.permission_mode, request.max_thinking_tokens
        if model is not UNSET:
            chosen_model = model
            await self._choose(actor, "model", model, lambda session: session.set_model(chosen_model))
        if mode is not UNSET:
            chosen_mode: PermissionMode = msgspec.convert(mode, PermissionMode)
            await self._choose(actor, "permission_mode", mode, lambda session: session.set_permission_mode(chosen_mode))
        if thinking is not UNSET:
            tokens = thinking
            if actor.session is not None:
                await actor.call(lambda session: session.set_max_thinking_tokens(tokens))
            body.options = {**body.options, "max_thinking_tokens": tokens}

    async def _choose(
        self, actor: SessionActor, name: str, value: str | None, tell: Callable[[Session], Awaitable[Any]]
    ) -> None:
        """Record the choice for the next process, then send it to a running one, whose answer counts."""
        body, before = actor.log.body, actor.log.body.chosen
        body.chosen = {**before, name: value}
        if actor.session is None:
            return
        try:
            await actor.call(tell)
        except HostError:
            body.chosen = before
            raise

    async def _set_budget(self, actor: SessionActor, budget: Decimal | None) -> None:
        body = actor.log.body
        body.budget_usd, body.budget_state = None if budget is None else str(budget), ""
        self._spending.families.note(actor.id, body)
        await actor.log.tell(BudgetChanged(self._clock(), "set", budget, usd(body.cost_usd)))

    @once
    async def delete_session(
        self, request: takes.OfSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Stop a session and delete its log. Its transcript, which belongs to the CLI, stays."""
        actor = await self._actor(request.session_id)
        await actor.stop()
        await actor.log.settled()
        done = returns.Accepted()
        await actor.log.delete(receipt=receipt_for(self, "delete_session", request, caller, key, done))
        self._actors.pop(actor.id, None)
        await actor.leave()
        await self._deleted(actor.id)
        with contextlib.suppress(OSError):
            await asyncio.to_thread(shutil.rmtree, self._uploads(actor.id))
        return done

    def _uploads(self, session_id: str) -> Path:
        """The upload folder: next to the host's own folder, which no session may read."""
        return self.folder.with_name(f"{self.folder.name}-uploads") / session_id

    @once
    async def stop(
        self, request: takes.OfSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """End the process; the session can be resumed."""
        await (await self._actor(request.session_id)).stop()
        return returns.Accepted()

    @once
    async def resume(
        self, request: takes.OfSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Session:
        """Start a process for a session that has none."""
        actor = await self._actor(request.session_id)
        if actor.log.record.archived:
            await actor.log.update(archived=False)
        await actor.start()
        return await self._view(actor)

    @once
    async def fork(self, request: takes.Fork, caller: Caller = PROGRAM, key: str | None = None) -> returns.Session:
        """Continue a session in a new one, from its end or from a message."""
        parent = await self._actor(request.session_id)
        source = parent.log.body
        if source.transcript_id is None:
            raise HostError("conflict", "There is nothing to fork yet.", hint="Send the session a prompt first.")
        cwd = self.folders.check(parent.log.record.cwd)
        session_id = id_for("fork", request, caller, key)
        if key is not None and await self.store.session(session_id) is not None:
            actor = await self._actor(session_id)
            if not actor.log.body.generation:
                await self._start_new(actor)
            return await self._view(actor)
        private = self._private.of(parent.id, source.private_options)
        body = SessionBody(
            agent=source.agent,
            model=source.chosen.get("model", source.model),
            permission_mode=source.chosen.get("permission_mode", source.permission_mode),
            options=dict(source.options),
            private_options=list(private),
            policy=source.policy,
            budget_usd=source.budget_usd,
            account=source.account,
            cli_pin=source.cli_pin,
            lifecycle=source.lifecycle,
            parent_id=parent.id,
            resume=source.transcript_id,
            fork=True,
            resume_at=None if request.at is None else _message_uuid(parent, request.at),
            folders_above=list(source.folders_above),
        )
        await asyncio.to_thread(self._private.keep, session_id, private)
        name = request.name or f"{parent.log.record.name or 'session'} (fork)"
        actor = await self._new_session(session_id, cwd, body, caller, name, list(parent.log.record.tags))
        await self._start_new(actor)
        return await self._view(actor)


def _given(request: msgspec.Struct, *names: str) -> dict[str, Any]:
    """The fields that were set."""
    return {name: value for name in names if (value := getattr(request, name)) is not UNSET}


def _check_mode(mode: str | None) -> None:
    if mode is None:
        return
    if mode not in get_args(PermissionMode):
        raise HostError("invalid", f"There is no permission mode {mode}.", field="permission_mode")


def _check_labels(request: takes.UpdateSession) -> None:
    """Validate names and tags before anything changes: after a failed write, the log accepts no more."""
    for field, value in (("name", request.name), ("tags", request.tags)):
        for text in [value] if isinstance(value, str) else value or ():
            if not is_keepable(text):
                raise HostError("invalid", f"{text[:50]!r} contains a character that can't be stored.", field=field)


def _message_uuid(actor: SessionActor, at: str) -> str:
    """The CLI's ID of a message, given directly or as the ID of one of its items."""
    item = actor.log.fold.timeline.state.items.get(at)
    if isinstance(item, Said) and item.uuid is not None:
        return item.uuid
    known = {one.uuid for one in actor.log.fold.timeline.state.items.values() if isinstance(one, Said)}
    if at in known or isinstance(item, Prompt):
        return at
    raise HostError("not_found", f"The session has no message {at}.", field="at")
