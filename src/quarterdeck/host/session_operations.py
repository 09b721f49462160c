"""Operations on sessions: start, say, steer, stop, look, watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.store import Commit
from quarterdeck.store.commits import AddAudit, PutSession
from quarterdeck.store.queries import SessionQuery
from quarterdeck.store.records import AuditEntry, SessionRecord

from . import requests as takes
from . import resources as returns
from .bodies import SessionBody, encode_body
from .errors import HostError
from .folders import existing_folder
from .folding import Preview
from .host_base import PROGRAM, Caller, HostBase
from .launching import check_options
from .policies import own_policy


class SessionOperations(HostBase):
    """What can be asked about sessions."""

    async def create_session(self, request: takes.CreateSession, caller: Caller = PROGRAM) -> returns.Session:
        """Start a session, or resume or fork one."""
        check_options(request.options, admin=caller.scope == "admin")
        if request.agent not in ("claude", "sim") and request.agent not in self._agents and caller.scope != "admin":
            raise HostError("option_not_allowed", "A path as agent needs the scope admin.", field="agent")
        cwd = existing_folder(request.cwd)
        session_id, now = new_id(), self._clock()
        body = SessionBody(
            agent=request.agent,
            model=request.model,
            permission_mode=request.permission_mode,
            options=request.options,
            policy=msgspec.to_builtins(own_policy(request.policy)),
            budget_usd=None if request.budget_usd is None else str(request.budget_usd),
            resume=request.resume,
            fork=request.fork,
            state_since=now,
        )
        record = SessionRecord(
            id=session_id,
            state="starting",
            cwd=cwd,
            created_at=now,
            active_at=now,
            name=request.name,
            tags=tuple(request.tags),
            body=encode_body(body),
        )
        audit = AddAudit(
            AuditEntry(at=now, who=caller.name, operation="create_session", via=caller.via, session=session_id)
        )
        await self.store.commit(Commit(session=session_id, changes=[PutSession(record), audit], owner=self.name))
        actor = await self._load(session_id)
        try:
            await actor.start()
        except HostError:
            if not actor.log.body.generation:
                await actor.log.append([])
            raise
        if request.prompt is not None:
            await actor.prompt(request.prompt, sender=caller.name)
        return await self._view(actor)

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

    async def send_prompt(self, request: takes.SendPrompt, caller: Caller = PROGRAM) -> returns.PromptAccepted:
        """Say something, now or when there is time."""
        actor = await self._actor(request.session_id)
        priority = None if request.priority == "next" else request.priority
        prompt_id, seq = await actor.prompt(request.content, sender=caller.name, priority=priority)
        return returns.PromptAccepted(prompt_id=prompt_id, seq=seq)

    async def interrupt(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Accepted:
        """Stop the turn."""
        actor = await self._actor(request.session_id)
        await actor.call(lambda session: session.interrupt())
        return returns.Accepted()

    async def stop(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Accepted:
        """End the process; the session can be resumed."""
        await (await self._actor(request.session_id)).stop()
        return returns.Accepted()

    async def resume(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.Session:
        """Give a session that has none a process."""
        actor = await self._actor(request.session_id)
        if actor.session is None:
            await actor.start()
        return await self._view(actor)

    async def get_timeline(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.TimelineView:
        """Everything so far, to draw from nothing."""
        log = (await self._actor(request.session_id)).log
        await log.settled()
        head = await self.store.head(log.id)
        state = msgspec.json.decode(log.fold.timeline.snapshot())
        return returns.TimelineView(seq=log.fanout.last_seq, epoch="" if head is None else head.epoch, state=state)

    async def watch_session(
        self, request: takes.WatchSession, caller: Caller = PROGRAM
    ) -> AsyncGenerator[returns.Frame | Preview, None]:
        """The log after a cursor, then live."""
        log = (await self._actor(request.session_id)).log
        after = await self._after(log, request.after)
        async for one in log.fanout.watch(after, self._frames(log.id), previews=request.previews):
            yield one

    async def read_events(self, request: takes.ReadEvents, caller: Caller = PROGRAM) -> returns.Frames:
        """Part of the log."""
        log = (await self._actor(request.session_id)).log
        after = await self._after(log, request.after)
        frames = await self._frames(log.id)(after, request.limit)
        head = await self.store.head(log.id)
        epoch, last_seq = ("", 0) if head is None else (head.epoch, head.last_seq)
        return returns.Frames(frames=frames, last_seq=last_seq, epoch=epoch)
