"""The functions on stored sessions, for sessions in a store."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, cast

from quarterdeck.client.either_loop import map_at_once
from quarterdeck.client.transcripts.chain import agent_conversation, shown_in
from quarterdeck.client.transcripts.links import links_of
from quarterdeck.client.transcripts.messages import agent_id_of, page, parents_of, session_message
from quarterdeck.client.transcripts.places import canonical, is_session_id, project_key_for_directory, project_name
from quarterdeck.client.transcripts.summary import epoch_ms, session_info
from quarterdeck.client.transcripts.types import SDKSessionInfo, SessionMessage
from quarterdeck.client.transcripts.windows import WindowFacts, windows_of
from quarterdeck.wire._json import dumps

from .protocol import SessionStore, SessionSummaryEntry, implements, key_for
from .summary import FoldedFacts

LOADS_AT_ONCE = 16
"""Stores have pools of connections and rate limits."""
AGENT_METADATA = "agent_metadata"
"""The type of the record that a store has for what is ``agent-<id>.meta.json`` on disk."""


async def list_sessions_from_store(
    session_store: SessionStore, directory: str | None = None, limit: int | None = None, offset: int = 0
) -> list[SDKSessionInfo]:
    """The sessions of a folder in a store, the newest first.

    A store with ``list_session_summaries`` is asked once or twice; without it every session is loaded. A ``ValueError``
    if it has neither that nor ``list_sessions``.
    """
    project = canonical("." if directory is None else directory)
    listing = _Listing(session_store, project)
    if implements(session_store, "list_session_summaries"):
        try:
            summaries = await session_store.list_session_summaries(project_name(project))
        except NotImplementedError:
            pass
        else:
            return await listing.from_summaries(summaries, limit, offset)
    if not implements(session_store, "list_sessions"):
        raise ValueError("session_store has neither list_session_summaries() nor list_sessions(): it cannot be listed")
    found = [one for one in await listing.look_into(await listing.known()) if one.info is not None]
    return [one.info for one in _page(found, limit, offset) if one.info is not None]


class _Slot(NamedTuple):
    session_id: str
    mtime: int
    info: SDKSessionInfo | None


def _page(slots: list[_Slot], limit: int | None, offset: int) -> list[_Slot]:
    ordered = sorted(slots, key=lambda slot: slot.mtime, reverse=True)[max(offset, 0) :]
    return ordered[:limit] if limit is not None and limit > 0 else ordered


class _Listing:
    """One listing of one project."""

    def __init__(self, store: SessionStore, project: str) -> None:
        self._store = store
        self._project = project
        self._key = project_name(project)

    async def known(self) -> list[_Slot]:
        listed = await self._store.list_sessions(self._key)
        return [_Slot(one["session_id"], one["mtime"], None) for one in listed]

    async def from_summaries(
        self, summaries: list[SessionSummaryEntry], limit: int | None, offset: int
    ) -> list[SDKSessionInfo]:
        """Summaries that are up to date are shown; sessions without one are loaded, those of the page only."""
        has_list = implements(self._store, "list_sessions")
        missing = {slot.session_id: slot for slot in await self.known()} if has_list else {}
        slots: list[_Slot] = []
        for summary in summaries:
            known = missing.get(summary["session_id"])
            if has_list and (known is None or summary["mtime"] < known.mtime):
                continue  # deleted since, or out of date
            missing.pop(summary["session_id"], None)
            info = session_info(
                summary["session_id"],
                FoldedFacts(summary["data"]),
                mtime=summary["mtime"],
                size=None,
                project=self._project,
            )
            if info is not None:
                slots.append(_Slot(summary["session_id"], summary["mtime"], info))
        shown = _page([*slots, *missing.values()], limit, offset)
        loaded = await self.look_into([slot for slot in shown if slot.info is None])
        by_id = {slot.session_id: slot.info for slot in loaded}
        infos = (slot.info or by_id.get(slot.session_id) for slot in shown)
        return [info for info in infos if info is not None]

    async def look_into(self, slots: list[_Slot]) -> list[_Slot]:
        """Load sessions, some at once. One that cannot be loaded is listed by its id alone."""

        async def one(slot: _Slot) -> _Slot:
            try:
                entries = await self._store.load(key_for(self._key, slot.session_id))
            except Exception:  # noqa: BLE001  # a broken session must not hide the others
                return slot._replace(info=SDKSessionInfo(slot.session_id, "", slot.mtime))
            info = None if not entries else _info(slot.session_id, entries, slot.mtime, self._project)
            return slot._replace(info=info)

        return await map_at_once(one, slots, limit=LOADS_AT_ONCE)


def _info(session_id: str, entries: list[Any], mtime: int, project: str) -> SDKSessionInfo | None:
    """As from a file that has these records."""
    data = b"".join(dumps(_type_first(entry)) + b"\n" for entry in entries)
    return session_info(session_id, WindowFacts(*windows_of(data)), mtime=mtime, size=len(data), project=project)


def _type_first(entry: Any) -> Any:
    """Stores may change the order of keys; a tag is known by its line's beginning."""
    return {"type": entry["type"], **entry} if isinstance(entry, dict) and "type" in entry else entry


async def get_session_info_from_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> SDKSessionInfo | None:
    """The summary of one session, as in a list; None if it does not exist or has nothing to show."""
    entries = await _load(session_store, session_id, directory)
    if not entries:
        return None
    last = entries[-1]
    mtime = epoch_ms(last.get("timestamp")) if isinstance(last, dict) else None
    at = int(time.time() * 1000) if mtime is None else mtime
    return _info(session_id, entries, at, canonical("." if directory is None else directory))


async def get_session_messages_from_store(
    session_store: SessionStore,
    session_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    *,
    include_system_messages: bool = False,
) -> list[SessionMessage]:
    """The current conversation, oldest message first; empty if there is no such session.

    ``include_system_messages`` adds the CLI's notices.
    """
    entries = await _load(session_store, session_id, directory)
    shown = shown_in(list(links_of(entries)), include_system=include_system_messages)
    return [session_message(link.source) for link in page(shown, limit, offset)]


async def _load(store: SessionStore, session_id: str, directory: str | None) -> list[Any]:
    if not is_session_id(session_id):
        return []
    return await store.load(key_for(project_key_for_directory(directory), session_id)) or []


async def list_subagents_from_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> list[str]:
    """The ids of a session's sub-agents. A ``ValueError`` if the store has no ``list_subkeys``."""
    if not is_session_id(session_id):
        return []
    if not implements(session_store, "list_subkeys"):
        raise ValueError(
            "session_store does not implement list_subkeys() -- cannot list subagents. "
            "Provide a store with a list_subkeys() method."
        )
    return list(await _agents(session_store, project_key_for_directory(directory), session_id))


async def _agents(store: SessionStore, project_key: str, session_id: str) -> dict[str, str]:
    """Agent id → where its transcript is in the store."""
    found: dict[str, str] = {}
    for subpath in await store.list_subkeys({"project_key": project_key, "session_id": session_id}):
        agent_id = agent_id_of(subpath) if subpath.startswith("subagents/") else None
        if agent_id is not None:
            found.setdefault(agent_id, subpath)
    return found


async def get_subagent_messages_from_store(
    session_store: SessionStore,
    session_id: str,
    agent_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """The conversation of a sub-agent. Empty if there is no such sub-agent."""
    if not is_session_id(session_id) or not agent_id:
        return []
    project_key = project_key_for_directory(directory)
    subpath: str | None = f"subagents/agent-{agent_id}"
    if implements(session_store, "list_subkeys"):
        subpath = (await _agents(session_store, project_key, session_id)).get(agent_id)
    if subpath is None:
        return []
    entries = await session_store.load(key_for(project_key, session_id, subpath)) or []
    meta, records = split_metadata(entries)
    said = agent_conversation(list(links_of(records)))
    shown = [link for link in said if link.type in ("user", "assistant")]
    return [session_message(link.source, parents_of(meta)) for link in page(shown, limit, offset)]


def split_metadata(entries: list[Any]) -> tuple[dict[str, Any] | None, list[Any]]:
    """(the last word on the sub-agent itself, the records of its transcript)."""
    about = [entry for entry in entries if isinstance(entry, dict) and entry.get("type") == AGENT_METADATA]
    records = [entry for entry in entries if not (isinstance(entry, dict) and entry.get("type") == AGENT_METADATA)]
    return cast("dict[str, Any]", about[-1]) if about else None, records
