"""A store in memory, for tests and for programs that move sessions within one process."""

from __future__ import annotations

import time

from .protocol import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)
from .summary import fold_session_summary

_Key = tuple[str, str, str]


def _key(key: SessionKey) -> _Key:
    return key["project_key"], key["session_id"], key.get("subpath") or ""


class InMemorySessionStore(SessionStore):
    """Keeps everything until the process ends, or until ``delete`` or ``clear``."""

    def __init__(self) -> None:
        self._entries: dict[_Key, list[SessionStoreEntry]] = {}
        self._mtimes: dict[_Key, int] = {}
        self._summaries: dict[_Key, SessionSummaryEntry] = {}
        self._last_mtime = 0

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        if not entries:
            return
        at = _key(key)
        self._entries.setdefault(at, []).extend(entries)
        self._last_mtime = max(int(time.time() * 1000), self._last_mtime + 1)
        self._mtimes[at] = self._last_mtime
        if not at[2]:
            summary = fold_session_summary(self._summaries.get(at), key, entries)
            self._summaries[at] = {**summary, "mtime": self._last_mtime}

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        entries = self._entries.get(_key(key))
        return None if entries is None else list(entries)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        return [
            {"session_id": session_id, "mtime": mtime}
            for (project, session_id, subpath), mtime in self._mtimes.items()
            if project == project_key and not subpath
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        return [summary for (project, _, _), summary in self._summaries.items() if project == project_key]

    async def delete(self, key: SessionKey) -> None:
        project, session_id, subpath = _key(key)
        for at in list(self._entries):
            if at[:2] == (project, session_id) and (not subpath or at[2] == subpath):
                del self._entries[at], self._mtimes[at]
                self._summaries.pop(at, None)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        wanted = (key["project_key"], key["session_id"])
        return [at[2] for at in self._entries if at[:2] == wanted and at[2]]

    # For tests

    def get_entries(self, key: SessionKey) -> list[SessionStoreEntry]:
        """The records of a key; an empty list if there are none."""
        return list(self._entries.get(_key(key), ()))

    @property
    def size(self) -> int:
        """How many sessions there are, without their sub-agents."""
        return sum(not at[2] for at in self._entries)

    def clear(self) -> None:
        self._entries.clear()
        self._mtimes.clear()
        self._summaries.clear()
        self._last_mtime = 0
