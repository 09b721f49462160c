"""Sessions that live in a running host: they go on when the editor is closed, and others see and answer them, too.

To a conversation, a session there is a ``Session`` as any other, whose transport leads to the host. What is different
is here: sessions are found, listed and put away by asking the host.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, Protocol

from quarterdeck.client import transcripts
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.host import requests as takes
from quarterdeck.host import resources as returns
from quarterdeck.host.errors import HostError
from quarterdeck.host.events import RawLine
from quarterdeck.transport import ByteTransport
from quarterdeck.wire import Direction, Message, decode

DETACHED_S = 3.0
"""How long a hook or a tool waits for an editor that is gone. It may be about to come back, but a turn goes on."""
PAGE = 500
_DIRECTIONS: dict[str, Direction] = {"received": "out", "sent": "in"}
_EXTRAS = ("env", "forward_subagent_text", "agent_progress_summaries", "per_task_stop_affordance", "client_app")
"""Options that this agent sets itself. If a token may not set them, the session is created without."""


def who_decided(approval: returns.Approval) -> str | None:
    """What somebody else has decided, in one line; None if nobody has: it was taken back, or is lost."""
    by = approval.decided_by
    if by is None:
        return None
    allowed = (approval.decision or {}).get("decision") == "allow"
    verb = (_ALLOWED if allowed else _DENIED).get(approval.kind, "Allowed" if allowed else "Denied")
    name = {"deadline": "the deadline", "rule": f"rule {by.name}"}.get(by.kind, by.name or "somebody")
    face = f" ({approval.via})" if approval.via and by.kind not in ("deadline", "rule") else ""
    about = f": {approval.summary}" if approval.summary else ""
    return f"{verb} by {name}{face}{about}"


_ALLOWED = {"questions": "Answered", "plan_review": "Plan approved", "elicitation": "Answered"}
_DENIED = {"questions": "Dismissed", "plan_review": "Plan sent back", "elicitation": "Declined"}


class HostTransport(ByteTransport, Protocol):
    """The way to a session of a host: ``quarterdeck.remote.transport.RemoteTransport``."""

    session_id: str | None
    cursor: str | None
    caught_up: asyncio.Event


class HostSessions:
    """The sessions of one host."""

    def __init__(
        self, host: Any, transport: Callable[..., HostTransport], *, agent: str | None, here: bool, required: bool
    ) -> None:
        """
        Args:
            host: A ``RemoteHost`` that is open.
            transport: Makes the way to a session there.
            agent: What new sessions run; None: the host's own Claude Code.
            here: It is on this machine: its transcripts can be read.
            required: There is no going on without it: the user has named it.
        """
        self._host = host
        self._transport = transport
        self._agent = agent
        self.here, self.required = here, required

    def transport(
        self,
        options: ClaudeAgentOptions,
        *,
        attach: str | None,
        after: str | None,
        on_session: Callable[[str], None],
        on_decided: Callable[[returns.Approval, str | None], None],
    ) -> HostTransport:
        return self._transport(
            options,
            self._host,
            attach=attach,
            after=after,
            detached_s=DETACHED_S,
            on_session=on_session,
            on_decided=on_decided,
        )

    def adapt(self, options: ClaudeAgentOptions, *, plain: bool) -> None:
        """Drops what the host decides itself; with ``plain``, also what only an admin may set."""
        options.cli_path = self._agent
        options.session_id = None
        if plain:
            usual = ClaudeAgentOptions()
            for name in _EXTRAS:
                setattr(options, name, getattr(usual, name))

    async def close(self) -> None:
        await self._host.close()

    # Finding

    async def find(self, session_id: str) -> returns.Session | None:
        """By the host's id or the transcript's; None if the host does not have the session."""
        try:
            found: returns.Session = await self._host.get_session(takes.OfSession(session_id=session_id))
        except HostError as error:
            if error.code in ("not_found", "invalid"):
                return None
            raise
        return found

    async def listed(
        self, cwd: str | None, archived: Literal["exclude", "include", "only"] = "exclude"
    ) -> list[returns.Session]:
        found: list[returns.Session] = []
        for wanted in {"exclude": (False,), "only": (True,), "include": (False, True)}[archived]:
            request = takes.ListSessions(cwd=cwd or "", archived=wanted, limit=PAGE)
            while True:
                page: returns.SessionList = await self._host.list_sessions(request)
                found += page.sessions
                if page.next_cursor is None:
                    break
                request = takes.ListSessions(cwd=cwd or "", archived=wanted, limit=PAGE, cursor=page.next_cursor)
        return found

    async def log(self, session_id: str) -> AsyncIterator[tuple[Direction, Message, float]]:
        """Everything so far."""
        after: str | None = None
        while True:
            request = takes.ReadEvents(session_id=session_id, after=after, limit=PAGE, view="raw")
            part: returns.Frames = await self._host.read_events(request)
            for frame in part.frames:
                for event in frame.events:
                    if isinstance(event, RawLine):
                        yield _DIRECTIONS[event.direction], decode(event.line.encode()), event.at
            if not part.frames or part.frames[-1].seq >= part.last_seq:
                return
            after = f"{part.epoch}-{part.frames[-1].seq}"

    # Changing

    async def rename(self, session_id: str, title: str) -> None:
        await self._host.update_session(takes.UpdateSession(session_id=session_id, name=title))

    async def archive(self, session_id: str, *, archived: bool) -> None:
        """One that runs is stopped first."""
        if archived:
            await self._host.stop(takes.OfSession(session_id=session_id))
        await self._host.update_session(takes.UpdateSession(session_id=session_id, archived=archived))

    async def delete(self, found: returns.Session) -> None:
        """Its log, and its transcript where that can be reached."""
        await self._host.delete_session(takes.OfSession(session_id=found.id))
        if self.here and found.transcript_id is not None:
            with contextlib.suppress(transcripts.SessionNotFound, ValueError):
                await asyncio.to_thread(transcripts.delete_session, found.transcript_id)

    async def forget(self, session_id: str) -> None:
        """A session that never got a prompt."""
        with contextlib.suppress(HostError):
            await self._host.delete_session(takes.OfSession(session_id=session_id))
