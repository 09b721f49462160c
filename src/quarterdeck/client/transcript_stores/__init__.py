"""Session stores: transcripts mirrored elsewhere, and sessions resumed from there. Names are imported when used."""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .changing import (
        delete_session_via_store,
        fork_session_via_store,
        import_session_to_store,
        rename_session_via_store,
        tag_session_via_store,
    )
    from .memory import InMemorySessionStore
    from .protocol import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStore,
        SessionStoreEntry,
        SessionStoreError,
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

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".changing")
__all__ += ["delete_session_via_store", "fork_session_via_store", "import_session_to_store", "rename_session_via_store"]
__all__ += ["tag_session_via_store"]
_names.of(".memory")
__all__ += ["InMemorySessionStore"]
_names.of(".protocol")
__all__ += ["SessionKey", "SessionListSubkeysKey", "SessionStore", "SessionStoreEntry", "SessionStoreListEntry"]
__all__ += ["SessionStoreError", "SessionSummaryEntry"]
_names.of(".reading")
__all__ += ["get_session_info_from_store", "get_session_messages_from_store", "get_subagent_messages_from_store"]
__all__ += ["list_sessions_from_store", "list_subagents_from_store"]
_names.of(".sqlite")
__all__ += ["SqliteSessionStore"]
_names.of(".summary")
__all__ += ["fold_session_summary"]
