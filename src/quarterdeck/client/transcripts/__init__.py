"""Sessions on disk: list, search, read, rename, tag, delete, fork, import, export.

The names, arguments and results are those of the official SDK; what it lacks (search, import, export, iterators) has
names of its own. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changes import delete_session, rename_session, tag_session
    from .errors import (
        NotATranscript,
        SessionExists,
        SessionNotFound,
        TranscriptError,
        TranscriptOutside,
        TranscriptUnwritable,
    )
    from .export import ExportFormat, export_session, import_session
    from .fork import fork_session
    from .listing import get_session_info, list_sessions
    from .messages import (
        get_session_messages,
        get_subagent_messages,
        iter_session_messages,
        iter_session_records,
        list_subagents,
    )
    from .places import project_key_for_directory
    from .search import search_sessions
    from .types import ForkSessionResult, SDKSessionInfo, SearchHit, SessionMessage

_PLACES = {
    "delete_session": "changes",
    "rename_session": "changes",
    "tag_session": "changes",
    "NotATranscript": "errors",
    "SessionExists": "errors",
    "SessionNotFound": "errors",
    "TranscriptError": "errors",
    "TranscriptOutside": "errors",
    "TranscriptUnwritable": "errors",
    "ExportFormat": "export",
    "export_session": "export",
    "import_session": "export",
    "fork_session": "fork",
    "get_session_info": "listing",
    "list_sessions": "listing",
    "get_session_messages": "messages",
    "get_subagent_messages": "messages",
    "iter_session_messages": "messages",
    "iter_session_records": "messages",
    "list_subagents": "messages",
    "project_key_for_directory": "places",
    "search_sessions": "search",
    "ForkSessionResult": "types",
    "SDKSessionInfo": "types",
    "SearchHit": "types",
    "SessionMessage": "types",
}

__all__ = [
    "ExportFormat",
    "ForkSessionResult",
    "NotATranscript",
    "SDKSessionInfo",
    "SearchHit",
    "SessionExists",
    "SessionMessage",
    "SessionNotFound",
    "TranscriptError",
    "TranscriptOutside",
    "TranscriptUnwritable",
    "delete_session",
    "export_session",
    "fork_session",
    "get_session_info",
    "get_session_messages",
    "get_subagent_messages",
    "import_session",
    "iter_session_messages",
    "iter_session_records",
    "list_sessions",
    "list_subagents",
    "project_key_for_directory",
    "rename_session",
    "search_sessions",
    "tag_session",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    return value
