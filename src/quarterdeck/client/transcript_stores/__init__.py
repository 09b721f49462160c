"""Session stores: transcripts mirrored elsewhere, and sessions resumed from there. Names are imported when used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changing import (
        delete_session_via_store,
        fork_session_via_store,
        import_session_to_store,
        rename_session_via_store,
        tag_session_via_store,
    )
    from .errors import SessionStoreError
    from .memory import InMemorySessionStore
    from .protocol import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStore,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )
    from .reading import (
        get_session_info_from_store,
        get_session_messages_from_store,
        get_subagent_messages_from_store,
        list_sessions_from_store,
        list_subagents_from_store,
    )
    from .sqlite import SqliteSessionStore
    from .summary import fold_session_summary

_PLACES = {
    "delete_session_via_store": "changing",
    "fork_session_via_store": "changing",
    "import_session_to_store": "changing",
    "rename_session_via_store": "changing",
    "tag_session_via_store": "changing",
    "SessionStoreError": "errors",
    "InMemorySessionStore": "memory",
    "SessionKey": "protocol",
    "SessionListSubkeysKey": "protocol",
    "SessionStore": "protocol",
    "SessionStoreEntry": "protocol",
    "SessionStoreListEntry": "protocol",
    "SessionSummaryEntry": "protocol",
    "get_session_info_from_store": "reading",
    "get_session_messages_from_store": "reading",
    "get_subagent_messages_from_store": "reading",
    "list_sessions_from_store": "reading",
    "list_subagents_from_store": "reading",
    "SqliteSessionStore": "sqlite",
    "fold_session_summary": "summary",
}

__all__ = [
    "InMemorySessionStore",
    "SessionKey",
    "SessionListSubkeysKey",
    "SessionStore",
    "SessionStoreEntry",
    "SessionStoreError",
    "SessionStoreListEntry",
    "SessionSummaryEntry",
    "SqliteSessionStore",
    "delete_session_via_store",
    "fold_session_summary",
    "fork_session_via_store",
    "get_session_info_from_store",
    "get_session_messages_from_store",
    "get_subagent_messages_from_store",
    "import_session_to_store",
    "list_sessions_from_store",
    "list_subagents_from_store",
    "rename_session_via_store",
    "tag_session_via_store",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    return value
