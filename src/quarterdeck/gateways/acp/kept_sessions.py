"""The sessions that an editor may list, rename, archive and delete: those of the host, those on disk, and open ones."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.client import transcripts

from . import jsonrpc, schema
from .conversation import Conversation
from .jsonrpc import RpcError

if TYPE_CHECKING:
    from quarterdeck.host import resources as returns

    from .hosted import HostSessions

    FindHost = Callable[[], Awaitable[HostSessions | None]]
    """The host in which sessions live, if there is one now. Raises ``RpcError`` if one must be and does not answer."""

PAGE = 100
"""Sessions on one page of ``session/list``."""
_WITHOUT_PROCESS = frozenset({"stopped", "crashed", "parked"})


class KeptSessions:
    """Methods that need no conversation."""

    def __init__(self, find_host: FindHost | None) -> None:
        self._find_host = find_host
        self._sessions: dict[str, Conversation] = {}
        """Those that are open here."""

    async def _host(self) -> HostSessions | None:
        return None if self._find_host is None else await self._find_host()

    async def _must_be_stored(self, session_id: str, cwd: str) -> None:
        if await asyncio.to_thread(transcripts.get_session_info, session_id, cwd) is None:
            raise RpcError(jsonrpc.NOT_FOUND, f"no session {session_id} in {cwd}", {"sessionId": session_id})

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


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise RpcError(jsonrpc.INVALID_PARAMS, "invalid cursor")
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
