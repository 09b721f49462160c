"""What a session store is: the official protocol, so that stores written for the official SDK work here."""

# Annotations are not kept as text here: typed dicts would not notice ``NotRequired`` in it.

from typing import Any, NotRequired, Protocol, Required, TypedDict

from quarterdeck._errors import QuarterdeckError


class SessionKey(TypedDict):
    """Which transcript: of a session, or with ``subpath`` (``subagents/agent-<id>``) of one of its sub-agents."""

    project_key: str
    """By default ``project_key_for_directory(cwd)``; the same on every machine that has the folder at that path."""
    session_id: str
    subpath: NotRequired[str]


class SessionStoreEntry(TypedDict, total=False):
    """One record of a transcript. It has more keys than these; a store keeps them all without interpreting them."""

    type: Required[str]
    uuid: str
    timestamp: str


class SessionStoreListEntry(TypedDict):
    session_id: str
    mtime: int
    """When it was last written to, in milliseconds since 1970."""


class SessionSummaryEntry(TypedDict):
    """What a list shows of a session, kept up to date by ``fold_session_summary``."""

    session_id: str
    mtime: int
    """By the same clock as ``list_sessions``: an older one means that the summary is out of date."""
    data: dict[str, Any]
    """Opaque to the store."""


class SessionListSubkeysKey(TypedDict):
    project_key: str
    session_id: str


class SessionStore(Protocol):
    """Stores mirrored transcripts to resume from. Only ``append`` and ``load`` are needed.

    A store need not be a subclass. Methods that are inherited from a protocol count as absent.
    """

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Add records, in this order. One whose ``uuid`` is there already may be left out: batches can be repeated."""
        ...

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """All records in the order they came; None for a key that was never written."""
        ...

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions of a project, in any order; not their sub-agents."""
        raise NotImplementedError

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """What ``fold_session_summary`` made of each session's records, without sub-agents' records."""
        raise NotImplementedError

    async def delete(self, key: SessionKey) -> None:
        """Remove a session with its sub-agents or, with ``subpath``, one sub-agent. An unknown key is not an error."""
        raise NotImplementedError

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The ``subpath`` of each sub-agent's transcript of a session."""
        raise NotImplementedError


class SessionStoreError(QuarterdeckError, RuntimeError):
    """A store failed or took too long. (The official SDK raises a plain ``RuntimeError``.)"""


def implements(store: object, method: str) -> bool:
    """Whether the store implements an optional method."""
    if not callable(getattr(store, method, None)):
        return False
    if method in getattr(store, "__dict__", {}):
        return True
    owner = next((cls for cls in type(store).__mro__ if method in vars(cls)), None)
    return owner is None or not getattr(owner, "_is_protocol", False)


def key_for(project_key: str, session_id: str, subpath: str | None = None) -> SessionKey:
    key: SessionKey = {"project_key": project_key, "session_id": session_id}
    if subpath:
        key["subpath"] = subpath
    return key
